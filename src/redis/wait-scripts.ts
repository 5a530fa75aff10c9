import { PROBE_INTERVAL_MS } from '../client/index.ts';
import type { Script } from './commands.ts';

/** How long a process leads without renewing its lease. Milliseconds. */
const LEASE_MS = 2_000;
/** How long a job is polled that no process has reported as awaited again. Milliseconds. */
const AWAITED_MS = 30_000;
/** How long the final state of a job is available to processes that were late. Milliseconds. */
const ENDED_MS = 60_000;
/** How long a refusal to show a job counts for those who begin to wait for it: it may exist soon. Milliseconds. */
const REFUSED_MS = 3_000;
/** Polls of this time count when another process begins to lead. Milliseconds. */
const POLLS_MS = 61_000;
/** Keys expire if nothing is awaited for so long, except that of the states: after `ENDED_MS`. Milliseconds. */
const EXPIRY_MS = 30 * 86_400_000;
/** Maximum entries that one command removes, so that no command blocks the server for long. */
const MAX_ENTRIES = 1_000;

/** Parts of the state, one key each: a hash `meta`, and sets and hashes by job. */
export const PARTS = [
  // Hash: position of the last change, leader and end of its lease, hold of the build budget.
  'meta',
  // Sorted set of the awaited jobs by the time at which they expire.
  'awaited',
  // Sorted set of the jobs to poll by the position at which they were added.
  'added',
  // Sorted set of the jobs with a state by the position of its last change.
  'changed',
  // Hash of the states: `updated_at` or the time of a refusal, the phase, and the value.
  'states',
  // Sorted set of the times at which leaders have sent polls.
  'polls',
] as const;

/** The beginning of every script: names the keys, gets the time of the server, defines what several scripts do. */
const PRELUDE = `
local ${PARTS.join(', ')} = unpack(KEYS)
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function move_on() return redis.call('HINCRBY', meta, 'position', 1) end
local function await(job)
  local at, phase = string.match(redis.call('HGET', states, job) or '', '^(%d+) (%a+) ')
  if phase == 'refused' and tonumber(at) < now - ${REFUSED_MS} then
    for _, key in ipairs({awaited, changed}) do redis.call('ZREM', key, job) end
    redis.call('HDEL', states, job)
  end
  if redis.call('ZADD', awaited, now + ${AWAITED_MS}, job) == 1 then redis.call('ZADD', added, move_on(), job) end
end
`;

const script = (body: string): Script => ({ source: `${PRELUDE}${body}` });

/**
 * The report of a process. Publishes first: if that fails, the lease is not renewed, and the process does not lead on.
 */
export const REPORT = script(`
local process, can_lead = ARGV[1], ARGV[2] == '1'
local changes_after, jobs_after, polled = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local refresh_from = 8 + tonumber(ARGV[6])
local states_from = refresh_from + tonumber(ARGV[7])
for n = 8, refresh_from - 1 do await(ARGV[n]) end
for n = states_from, #ARGV, 4 do
  local job, updated_at, phase, value = ARGV[n], tonumber(ARGV[n + 1]), ARGV[n + 2], ARGV[n + 3]
  local known_at, last_phase = string.match(redis.call('HGET', states, job) or '0 running ', '^(%d+) (%a+) ')
  local is_newer = updated_at == 0 or updated_at >= tonumber(known_at)
  if phase == 'refused' then updated_at = now end
  if redis.call('ZSCORE', awaited, job) and (phase ~= 'running' or (is_newer and last_phase == 'running')) then
    redis.call('HSET', states, job, string.format('%.0f', updated_at) .. ' ' .. phase .. ' ' .. value)
    redis.call('ZADD', changed, move_on(), job)
    if phase ~= 'running' then
      redis.call('ZREM', added, job)
      redis.call('ZADD', awaited, now + ${ENDED_MS}, job)
    end
  end
end
for n = refresh_from, states_from - 1 do
  if redis.call('ZSCORE', awaited, ARGV[n]) then redis.call('ZADD', added, move_on(), ARGV[n]) end
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
  for _, job in ipairs(redis.call('ZRANGEBYSCORE', awaited, '-inf', now, 'LIMIT', 0, ${MAX_ENTRIES})) do
    redis.call('ZREM', awaited, job)
    redis.call('ZREM', added, job)
    redis.call('ZREM', changed, job)
    redis.call('HDEL', states, job)
    unfollow[#unfollow + 1] = job
  end
  follow = redis.call('ZRANGEBYSCORE', added, '(' .. jobs_after, '+inf')
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ${EXPIRY_MS}) end
elseif leader == process then
  redis.call('HDEL', meta, 'leader', 'ends')
  is_led = false
end
-- Once no process waits, no leader removes the resources.
redis.call('PEXPIRE', states, ${ENDED_MS})
local changes = {}
if changes_after >= 0 then changes = redis.call('ZRANGEBYSCORE', changed, '(' .. changes_after, '+inf') end
local position = tonumber(redis.call('HGET', meta, 'position') or 0)
local role = leads and 'leader' or is_led and 'follower' or 'none'
return {position, role, changes, follow, unfollow, ages}
`);

export const STATES = script(`
local values = {}
for n = 1, #ARGV, ${MAX_ENTRIES} do
  for _, value in ipairs(redis.call('HMGET', states, unpack(ARGV, n, math.min(#ARGV, n + ${MAX_ENTRIES} - 1)))) do
    values[#values + 1] = value and string.match(value, '^%d+ %a+ (.*)$') or ''
  end
end
return values
`);

/** Returns when a create may be sent. During a hold, lets one that may be a probe through at intervals. */
export const ASK = script(`
local ends, probe = unpack(redis.call('HMGET', meta, 'hold', 'probe'))
local left = ends and math.max(0, ends - now) or 0
if left == 0 then return {0, 0} end
if ARGV[1] == '0' or tonumber(probe) > now then return {math.max(1, math.min(ends, probe) - now), left} end
redis.call('HSET', meta, 'probe', now + ${PROBE_INTERVAL_MS})
return {0, left}
`);

export const HOLD = script(`
local ms = tonumber(ARGV[1])
redis.call('HSET', meta, 'hold', now + ms, 'probe', now + math.min(ms, ${PROBE_INTERVAL_MS}))
redis.call('PEXPIRE', meta, ${EXPIRY_MS})
`);

export const RELEASE = script(`redis.call('HDEL', meta, 'hold', 'probe')`);
