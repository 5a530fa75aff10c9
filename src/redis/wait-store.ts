import type { SharedHold } from '../client/index.ts';
import { withTimeout } from '../util/abort.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import type { JobName, SharedState } from './shared-state.ts';
import { ASK, HOLD, PARTS, RELEASE, REPORT, STATES } from './wait-scripts.ts';

/** The report of a process, about three times a second. */
interface SharedWaitsReport {
  /** Id of the process. */
  readonly process: string;
  /** True if the process can poll for all: it then becomes the leader, or remains it, unless another one leads. */
  readonly canLead: boolean;
  /** Jobs that the process begins to await, or awaits still. Each is to be renewed within 30 s. */
  readonly awaited: readonly JobName[];
  /** Jobs that the leader shall poll as soon as possible. */
  readonly refresh: readonly JobName[];
  /** States to publish of jobs that any process awaits; others are ignored. */
  readonly states: readonly SharedState[];
  /** Number of polls that the process has sent as the leader since its last report. */
  readonly polls: number;
  /** Position after which changes are returned; -1 for none. */
  readonly changesAfter: number;
  /** Position after which a leader receives the jobs to poll. */
  readonly jobsAfter: number;
}

/** The reply to a report. Positions grow; a smaller one shows that data were lost. */
export interface SharedWaitsNews {
  readonly position: number;
  /** `leader` if the process polls for all, `follower` if another one does, `none` without a leader. */
  readonly role: 'leader' | 'follower' | 'none';
  /** Jobs whose state has changed. */
  readonly changed: readonly JobName[];
  /** For the leader: jobs to poll, and those among the jobs it polls that no process awaits any longer. */
  readonly follow: readonly JobName[];
  readonly unfollow: readonly JobName[];
  /** For a new leader: how many milliseconds ago each recent poll of its predecessors was sent. */
  readonly pollAges: readonly number[];
}

/** Commands on the data that the processes of an account share. */
export interface WaitStore {
  report(report: SharedWaitsReport): Promise<SharedWaitsNews>;
  /** Returns the values of the last states of jobs. */
  states(jobs: readonly JobName[]): Promise<readonly (string | undefined)[]>;
  readonly budget: SharedHold;
}

/** Maximum wait for a reply, in milliseconds: clients queue commands while disconnected. */
const REPLY_TIMEOUT_MS = 1_000;

/** Version of the keys: processes with another version of this package whose data differ do not meet here. */
const KEYS_VERSION = 'v2';

/** Creates a store in Redis, for the processes of one service. Every command is one script. */
export function createWaitStore(redis: RedisClient, prefix: string, baseUrl: string): WaitStore {
  const runScript = scriptRunner(redis);
  // The host names the service, so that two of them never meet under one prefix. Braces would end the hash tag.
  const service = baseUrl.replace(/^https?:\/\//, '').replace(/[{}]/g, encodeURIComponent);
  const keys = PARTS.map((part) => `{${prefix}:waits:${KEYS_VERSION}:${service}}:${part}`);
  const late = (): Error => new Error(`Redis did not reply within ${REPLY_TIMEOUT_MS} ms`);
  const run = (command: Script, ...args: readonly (string | number)[]): Promise<unknown> =>
    withTimeout(runScript(command, keys, args), REPLY_TIMEOUT_MS, late);
  return {
    async report({ process, canLead, awaited, refresh, states, polls, changesAfter, jobsAfter }) {
      const head = [process, canLead ? 1 : 0, changesAfter, jobsAfter, polls];
      const fields = states.flatMap(({ job, updatedAt, phase, value }) => [job, updatedAt, phase, value]);
      const sizes = [awaited.length, refresh.length];
      const reply = await run(REPORT, ...head, ...sizes, ...awaited, ...refresh, ...fields);
      // The script returns these values.
      const [position, role, changed, follow, unfollow, pollAges] = reply as readonly [
        unknown,
        SharedWaitsNews['role'],
        readonly string[],
        readonly string[],
        readonly string[],
        readonly unknown[],
      ];
      const numbers = { position: Number(position), pollAges: pollAges.map(Number) };
      return { ...numbers, role, changed, follow, unfollow };
    },
    async states(jobs) {
      const values = (await run(STATES, ...jobs)) as readonly string[];
      return values.map((value) => value || undefined);
    },
    budget: {
      async ask(mayProbe) {
        const [wait, left] = (await run(ASK, mayProbe ? 1 : 0)) as readonly unknown[];
        return { wait: Number(wait), left: Number(left) };
      },
      async hold(ms) {
        await run(HOLD, Math.ceil(ms));
      },
      async release() {
        await run(RELEASE);
      },
    },
  };
}
