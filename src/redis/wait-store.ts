import { ConnectionError } from '../errors/call-errors.ts';
import type { JobName } from '../polling/index.ts';
import type { SharedHold } from '../rate-limit/index.ts';
import { withTimeout } from '../util/abort.ts';
import { type RedisClient, type Script, scriptRunner } from './commands.ts';
import { retryingRunner } from './retrying-runner.ts';

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
  /** `leader` if the process polls for all, `follower` if another one does, `none` if there is no leader. */
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

/** A kept wait whose outcome a process may handle until its lease ends. */
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

/** How long a process leads without renewing its lease. Milliseconds. */
const LEASE_MS = 2_000;
/** How long a job is polled that no process has reported as awaited again. Milliseconds. */
const AWAITED_MS = 30_000;
/** How long the final state of a job is available to processes that were late. Milliseconds. */
const ENDED_MS = 60_000;
/** How long an outcome is reserved for the process that handles it, unless that renews its lease. Milliseconds. */
const CLAIM_MS = 30_000;
/** Polls of this time count when another process begins to lead. Milliseconds. */
const POLLS_MS = 61_000;
/** During a hold of the build budget, one create is let through this often: the budget may have been raised. Milliseconds. */
const PROBE_MS = 1_200_000;
/** Maximum number of job-starting creates that wait for a permit or are in flight. */
const MAX_CREATES = 2;
/** How long a create counts among them if its process does not report its end. Milliseconds. */
const CREATE_MS = 65_000;
/** Time after which a create asks again whether another one has ended. Milliseconds. */
const CREATE_POLL_MS = 50;
/** Keys expire if nothing is awaited or kept for so long. Milliseconds. */
const EXPIRY_MS = 30 * 86_400_000;
/** Maximum entries that one command removes or claims, so that no command blocks the server for long. */
const MAX_ENTRIES = 1_000;
/** Maximum wait for a reply, in milliseconds: clients queue commands while disconnected. */
const REPLY_TIMEOUT_MS = 1_000;

/** How long commands for kept waits are retried, in milliseconds. */
const RETRY_TIMEOUT_MS = 4_000;

/** Parts of the state, one key each: a hash `meta`, and sets and hashes by job or by id of a kept wait. */
const PARTS = [
  // Hash: position of the last change, leader and end of its lease, hold of the build budget.
  'meta',
  // Sorted set of the awaited jobs by the time at which they expire.
  'awaited',
  // Sorted set of the jobs to poll by the position at which they were added.
  'added',
  // Sorted set of the jobs with a state by the position of its last change.
  'changed',
  // Hash of the states: `updated_at`, whether it is final, and the value.
  'states',
  // Sorted set of the times at which leaders have sent polls.
  'polls',
  // Hash of the kept waits; sorted set of `<job>\n<id>`, ordered as text, of those whose job is running.
  'kept',
  'running',
  // Sorted sets of kept waits by the time of their timeout, and by the time at which their outcome can be claimed.
  'deadlines',
  'due',
  // Hashes of the outcomes of kept waits, and of the number of claims.
  'outcomes',
  'attempts',
  // Sorted set of the creates that were let through, by the time after which they count as ended.
  'creates',
] as const;

/** The beginning of every script: names the keys, gets the time of the server, defines what several scripts do. */
const PRELUDE = `
local ${PARTS.join(', ')} = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function move_on() return redis.call('HINCRBY', meta, 'position', 1) end
local function await(job)
  if redis.call('ZADD', awaited, now + ${AWAITED_MS}, job) == 1 then redis.call('ZADD', added, move_on(), job) end
end
local function kept_of(job)
  return redis.call('ZRANGEBYLEX', running, '[' .. job .. '\\n', '(' .. job .. '\\n\\255')
end
local function handler_of(id)
  return string.match(redis.call('HGET', kept, id) or '', '^.-\\n(.-)\\n')
end
local function finish(entry, outcome)
  local id = string.match(entry, '^.-\\n(.*)$')
  redis.call('ZREM', running, entry)
  redis.call('ZREM', deadlines, id)
  redis.call('ZADD', due, now, handler_of(id) .. '\\n' .. id)
  redis.call('HSET', outcomes, id, outcome)
end
`;

const script = (body: string): Script => ({ source: `${PRELUDE}${body}` });

const REPORT = script(`
local process, can_lead = ARGV[1], ARGV[2] == '1'
local changes_after, jobs_after, polled, count = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])
for n = 7, 6 + count do await(ARGV[n]) end
for n = 7 + count, 6 + count + tonumber(ARGV[7 + count]) do
  local job = ARGV[n + 1]
  if redis.call('ZSCORE', awaited, job) then redis.call('ZADD', added, move_on(), job) end
end
local leader, ends = unpack(redis.call('HMGET', meta, 'leader', 'ends'))
local is_led = leader and tonumber(ends) > now
local leads, ages, follow, unfollow = can_lead and (not is_led or leader == process), {}, {}, {}
if leads then
  redis.call('HSET', meta, 'leader', process, 'ends', now + ${LEASE_MS})
  for n = 1, polled do redis.call('ZADD', polls, now, time[1] .. '.' .. time[2] .. '.' .. n) end
  redis.call('ZREMRANGEBYSCORE', polls, '-inf', now - ${POLLS_MS})
  if not is_led then
    jobs_after = 0
    local entries = redis.call('ZRANGE', polls, 0, -1, 'WITHSCORES')
    for n = 2, #entries, 2 do ages[n / 2] = now - entries[n] end
  end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', deadlines, '-inf', now, 'LIMIT', 0, ${MAX_ENTRIES})) do
    local job = string.match(redis.call('HGET', kept, id) or '', '^(.-)\\n')
    if job then finish(job .. '\\n' .. id, '') else redis.call('ZREM', deadlines, id) end
  end
  for _, job in ipairs(redis.call('ZRANGEBYSCORE', awaited, '-inf', now, 'LIMIT', 0, ${MAX_ENTRIES})) do
    if #kept_of(job) > 0 then
      await(job)
    else
      redis.call('ZREM', awaited, job)
      redis.call('ZREM', added, job)
      redis.call('ZREM', changed, job)
      redis.call('HDEL', states, job)
      unfollow[#unfollow + 1] = job
    end
  end
  follow = redis.call('ZRANGEBYSCORE', added, '(' .. jobs_after, '+inf')
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${EXPIRY_MS}) end
elseif leader == process then
  redis.call('HDEL', meta, 'leader', 'ends')
  is_led = false
end
local changes = {}
if changes_after >= 0 then changes = redis.call('ZRANGEBYSCORE', changed, '(' .. changes_after, '+inf') end
local position = tonumber(redis.call('HGET', meta, 'position') or 0)
local role = leads and 'leader' or is_led and 'follower' or 'none'
return {position, role, changes, follow, unfollow, ages, redis.call('ZCOUNT', due, '-inf', now)}
`);

const RESIGN = script(`
if redis.call('HGET', meta, 'leader') == ARGV[1] then redis.call('HDEL', meta, 'leader', 'ends') end
`);

const STATES = script(`
local values = {}
for n = 1, #ARGV, ${MAX_ENTRIES} do
  for _, value in ipairs(redis.call('HMGET', states, unpack(ARGV, n, math.min(#ARGV, n + ${MAX_ENTRIES} - 1)))) do
    values[#values + 1] = value and string.match(value, '^%d+ %d (.*)$') or ''
  end
end
return values
`);

/** Publishes states, each by its job, `updated_at`, whether it is final, and value. */
const PUBLISH = script(`
for n = 1, #ARGV, 4 do
  local job, updated_at, is_final, value = ARGV[n], tonumber(ARGV[n + 1]), ARGV[n + 2], ARGV[n + 3]
  local known_at, was_final = string.match(redis.call('HGET', states, job) or '0 0 ', '^(%d+) (%d) ')
  local is_newer = updated_at == 0 or updated_at >= tonumber(known_at)
  if redis.call('ZSCORE', awaited, job) and (is_final == '1' or (is_newer and was_final == '0')) then
    redis.call('HSET', states, job, string.format('%.0f', updated_at) .. ' ' .. is_final .. ' ' .. value)
    redis.call('ZADD', changed, move_on(), job)
    if is_final == '1' then
      redis.call('ZREM', added, job)
      redis.call('ZADD', awaited, now + ${ENDED_MS}, job)
      for _, entry in ipairs(kept_of(job)) do finish(entry, value) end
    end
  end
end
`);

const KEEP = script(`
local id, job, record, timeout = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
if redis.call('HSETNX', kept, id, record) == 0 then return end
redis.call('ZADD', running, 0, job .. '\\n' .. id)
if timeout then redis.call('ZADD', deadlines, now + timeout, id) end
await(job)
local is_final, value = string.match(redis.call('HGET', states, job) or '', '^%d+ (%d) (.*)$')
if is_final == '1' then finish(job .. '\\n' .. id, value) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${EXPIRY_MS}) end
`);

/** Claims outcomes: no other process gets them until the claim ends. */
const CLAIM = script(`
local count, names, claims = tonumber(ARGV[1]), {}, {}
for n = 2, #ARGV do names[ARGV[n]] = true end
for start = 0, redis.call('ZCARD', due), ${MAX_ENTRIES} do
  for _, entry in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', start, ${MAX_ENTRIES})) do
    local handler, id = string.match(entry, '^(.-)\\n(.*)$')
    if #claims < count and names[handler] then
      local attempt = redis.call('HINCRBY', attempts, id, 1)
      claims[#claims + 1] = {redis.call('HGET', kept, id), redis.call('HGET', outcomes, id), attempt, entry}
    end
  end
  if #claims == count then break end
end
for _, claim in ipairs(claims) do redis.call('ZADD', due, now + ${CLAIM_MS}, claim[4]) end
return claims
`);

const RENEW = script(`
local id, attempt = ARGV[1], ARGV[2]
if redis.call('HGET', attempts, id) ~= attempt then return 0 end
redis.call('ZADD', due, now + ${CLAIM_MS}, handler_of(id) .. '\\n' .. id)
return 1
`);

/** Ends a claim. Returns 1 also if the outcome is handled already, because the command may be repeated. */
const SETTLE = script(`
local id, attempt, retry_after = ARGV[1], ARGV[2], ARGV[3]
local handler = handler_of(id)
if not handler then return 1 end
if redis.call('HGET', attempts, id) ~= attempt then return 0 end
if retry_after ~= '' then
  redis.call('ZADD', due, now + retry_after, handler .. '\\n' .. id)
else
  redis.call('ZREM', due, handler .. '\\n' .. id)
  for _, key in ipairs({kept, outcomes, attempts}) do redis.call('HDEL', key, id) end
end
return 1
`);

const KEPT = script(`return redis.call('HVALS', kept)`);

const DROP = script(`
local id = ARGV[1]
local record = redis.call('HGET', kept, id)
if not record then return 0 end
redis.call('ZREM', running, string.match(record, '^(.-)\\n') .. '\\n' .. id)
redis.call('ZREM', due, handler_of(id) .. '\\n' .. id)
redis.call('ZREM', deadlines, id)
for _, key in ipairs({kept, outcomes, attempts}) do redis.call('HDEL', key, id) end
return 1
`);

/**
 * Lets a few creates through at the same time: so many at most are refused when the budget is used up. During a hold,
 * lets one through when it has lasted for the time of a probe.
 */
const PASS = script(`
local ends, probe = unpack(redis.call('HMGET', meta, 'hold', 'probe'))
local left = ends and math.max(0, ends - now) or 0
if left > 0 and tonumber(probe) > now then return {math.min(ends, probe) - now, left} end
redis.call('ZREMRANGEBYSCORE', creates, '-inf', now)
if not redis.call('ZSCORE', creates, ARGV[1]) and redis.call('ZCARD', creates) >= ${MAX_CREATES} then
  return {${CREATE_POLL_MS}, 0}
end
redis.call('ZADD', creates, now + ${CREATE_MS}, ARGV[1])
if left > 0 then redis.call('HSET', meta, 'probe', now + ${PROBE_MS}) end
for _, key in ipairs({creates, meta}) do redis.call('PEXPIRE', key, ${EXPIRY_MS}) end
return {0, left}
`);

const SETTLE_CREATE = script(`redis.call('ZREM', creates, ARGV[1])`);

const HOLD = script(`
local ms = tonumber(ARGV[1])
redis.call('HSET', meta, 'hold', now + ms, 'probe', now + math.min(ms, ${PROBE_MS}))
redis.call('PEXPIRE', meta, ${EXPIRY_MS})
`);

const RELEASE = script(`redis.call('HDEL', meta, 'hold', 'probe')`);

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
