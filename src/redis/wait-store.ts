import { ConnectionError } from '../errors/call-errors.ts';
import type { JobName } from '../polling/index.ts';
import type { SharedHold } from '../rate-limit/index.ts';
import { withTimeout } from '../util/abort.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { retryingRunner } from './retrying-runner.ts';
import {
  CLAIM,
  DROP,
  HOLD,
  KEEP,
  KEPT,
  PARTS,
  PASS,
  PUBLISH,
  RELEASE,
  RENEW,
  REPORT,
  RESIGN,
  SETTLE,
  SETTLE_CREATE,
  STATES,
} from './wait-scripts.ts';

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
  /** Number of kept waits whose outcome can be handled. */
  readonly due: number;
}

/** The state of a job, published by the process that learned it. */
export interface SharedState {
  readonly job: JobName;
  /** `updated_at` of the resource in milliseconds, 0 if unknown. An older state does not replace a newer one. */
  readonly updatedAt: number;
  /** True if the job has ended, or cannot be read. */
  readonly isFinal: boolean;
  /** JSON. */
  readonly value: string;
}

/** A wait that is kept as data. */
export interface KeptRecord {
  readonly id: string;
  readonly job: JobName;
  /** Name of the handler of its outcome. */
  readonly handler: string;
  /** Data for the handler: JSON. */
  readonly data: string;
}

/** A kept wait whose outcome a process may handle until its claim ends. */
export interface ClaimedWait extends KeptRecord {
  /** Value of the last state; `undefined` if the timeout has passed before the job ended. */
  readonly state: string | undefined;
  /** Number of claims, this one included. Identifies the claim: another process may claim the outcome after it has ended. */
  readonly attempt: number;
}

/** Commands on the data that the processes of an account share. */
export interface WaitStore {
  report(report: SharedWaitsReport): Promise<SharedWaitsNews>;
  /** Ends the lead of a process, so that another one can take it immediately. */
  resign(process: string): Promise<void>;
  /** Returns the values of the last states of jobs. */
  states(jobs: readonly JobName[]): Promise<readonly (string | undefined)[]>;
  /** Publishes states of jobs that any process awaits; ignores others. */
  publish(states: readonly SharedState[]): Promise<void>;
  /** @param timeout Milliseconds after which the outcome is a timeout. */
  keep(wait: KeptRecord, timeout: number): Promise<void>;
  /** Claims outcomes that one of the handlers can handle, for 30 seconds. */
  claim(handlers: readonly string[], count: number): Promise<readonly ClaimedWait[]>;
  /** Prolongs a claim; returns whether it has not ended. */
  renew(id: string, attempt: number): Promise<boolean>;
  /**
   * Ends a claim: the outcome is handled or, with `retryAfter`, can be claimed again after so many milliseconds. Returns
   * whether the claim had not been taken over.
   */
  settle(id: string, attempt: number, retryAfter?: number): Promise<boolean>;
  kept(): Promise<readonly KeptRecord[]>;
  /** Deletes a kept wait; returns whether it was there. */
  drop(id: string): Promise<boolean>;
  readonly budget: SharedHold;
}

/** Maximum wait for a reply, in milliseconds: clients queue commands while disconnected. */
const REPLY_TIMEOUT_MS = 1_000;
/** How long commands for kept waits are retried, in milliseconds. */
const RETRY_TIMEOUT_MS = 4_000;

/** Creates a store in Redis. Every command is one script. */
export function createWaitStore(redis: RedisClient, prefix: string): WaitStore {
  const runScript = scriptRunner(redis);
  const keys = PARTS.map((part) => `{${prefix}:waits}:${part}`);
  const late = (): Error => new Error(`Redis did not reply within ${REPLY_TIMEOUT_MS} ms`);
  const run = (command: Script, ...args: readonly (string | number)[]): Promise<unknown> =>
    withTimeout(runScript(command, keys, args), REPLY_TIMEOUT_MS, late);
  const retrying = retryingRunner(redis, RETRY_TIMEOUT_MS, (reason, cause) => {
    const message = `The kept waits in Redis are not available: ${reason}`;
    return new ConnectionError(message, { operation: 'redisWaits', attempts: 1, cause });
  });
  const runWithRetries = (command: Script, ...args: readonly (string | number)[]): Promise<unknown> =>
    retrying(command, keys, args);
  return {
    async report({ process, canLead, awaited, refresh, polls, changesAfter, jobsAfter }) {
      const head = [process, canLead ? 1 : 0, changesAfter, jobsAfter, polls, awaited.length];
      const reply = await run(REPORT, ...head, ...awaited, refresh.length, ...refresh);
      // The script returns these values.
      const [position, role, changed, follow, unfollow, pollAges, due] = reply as readonly [
        unknown,
        SharedWaitsNews['role'],
        readonly string[],
        readonly string[],
        readonly string[],
        readonly unknown[],
        unknown,
      ];
      const numbers = { position: Number(position), pollAges: pollAges.map(Number), due: Number(due) };
      return { ...numbers, role, changed, follow, unfollow };
    },
    async resign(process) {
      await run(RESIGN, process);
    },
    async states(jobs) {
      const values = (await run(STATES, ...jobs)) as readonly string[];
      return values.map((value) => value || undefined);
    },
    async publish(states) {
      await run(
        PUBLISH,
        ...states.flatMap(({ job, updatedAt, isFinal, value }) => [job, updatedAt, isFinal ? 1 : 0, value]),
      );
    },
    async keep(wait, timeout) {
      const ms = Number.isFinite(timeout) ? Math.ceil(timeout) : '';
      const { id, job, handler, data } = wait;
      await runWithRetries(KEEP, id, job, [job, handler, id, data].join('\n'), ms);
    },
    async claim(handlers, count) {
      const claims = (await run(CLAIM, count, ...handlers)) as readonly (readonly [string, string, unknown])[];
      return claims.map(([record, state, attempt]): ClaimedWait => {
        return { ...recordOf(record), state: state || undefined, attempt: Number(attempt) };
      });
    },
    renew: async (id, attempt) => Number(await run(RENEW, id, attempt)) === 1,
    async settle(id, attempt, retryAfter) {
      const ms = retryAfter === undefined ? '' : Math.ceil(retryAfter);
      return Number(await runWithRetries(SETTLE, id, attempt, ms)) === 1;
    },
    async kept() {
      return ((await runWithRetries(KEPT)) as readonly string[]).map(recordOf);
    },
    drop: async (id) => Number(await runWithRetries(DROP, id)) === 1,
    budget: {
      async pass(attempt) {
        const [wait, left] = (await run(PASS, attempt)) as readonly unknown[];
        return { wait: Number(wait), left: Number(left) };
      },
      async settle(attempt) {
        await run(SETTLE_CREATE, attempt);
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

/** Reads a kept wait from its lines: the job, the handler, the id and the data, whose JSON has no line breaks. */
function recordOf(record: string): KeptRecord {
  const [job = '', handler = '', id = '', data = 'null'] = record.split('\n');
  return { id, job, handler, data };
}
