import type { RunScript, Script } from './commands.ts';

/** What one question to the shared log is about. */
export interface Wish {
  readonly key: string;
  readonly limit: number;
  /** Length of the window that is kept, margin included. Milliseconds. */
  readonly span: number;
  /** How many slots are wanted; none asks how things stand. */
  readonly count: number;
  /** Background requests take free slots only, and reserve none. */
  readonly background: boolean;
  /** Names the reservations: `id:1`, `id:2` and so on. */
  readonly id: string;
  /** The log that this process was granted slots by, as long as they count; else `''`. */
  readonly known: string;
  /** Milliseconds from now to the last of those slots; less than nothing when it has been used. */
  readonly owed: number;
}

/** The answer, all in milliseconds from now. */
export interface Reservation {
  /** The microsecond in which the log was begun, for the next question. */
  readonly begun: string;
  /** How long the bucket is paused still, after a 429. */
  readonly paused: number;
  /** How long the log holds the bucket back, as it may not know of all that was sent. */
  readonly held: number;
  /** When to ask again for what was not granted. */
  readonly again: number;
  /** The slots granted, the soonest first. */
  readonly waits: readonly number[];
}

/**
 * Slots are reserved at most this far ahead: so long after Redis is gone, slots that it has granted are still being used.
 * Milliseconds.
 */
export const HORIZON = 1_000;

/**
 * One sorted set a bucket: slots by the time they are for, in milliseconds of the server's clock. Three members have
 * negative scores, which keeps them out of every range of times: `begun`, the microsecond in which the log was begun,
 * which names it; `paused` and `held`, until when nothing is granted.
 *
 * A slot is granted at the end of the log alone: not before the one that is `limit` places before it is a span old, nor
 * before the last. So no window of a span holds more than `limit`, whoever gives slots back. What is ahead fits into
 * one window, so that a slot given back moves the end.
 */
const PRELUDE = `
local log = KEYS[1]
local limit, span, horizon = tonumber(ARGV[1]), tonumber(ARGV[2]), ${HORIZON}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', log).ok ~= 'zset' then redis.call('DEL', log) end
local function negative(member) return -(tonumber(redis.call('ZSCORE', log, member)) or 0) end
local function lengthen(member, untilTime)
  if untilTime > negative(member) then redis.call('ZADD', log, -untilTime, member) end
end
local function hold(untilTime) lengthen('held', untilTime) end
local function last() return tonumber(redis.call('ZRANGE', log, -1, -1, 'WITHSCORES')[2]) or 0 end
local function keep()
  local ends = math.max(now, last(), negative('paused'), negative('held'))
  redis.call('PEXPIRE', log, math.ceil(ends - now + 2 * span + 1000))
end
`;

const RESERVE: Script = {
  source: `${PRELUDE}
local count, background, id, known, owed = tonumber(ARGV[3]), ARGV[4] == '1', ARGV[5], ARGV[6], tonumber(ARGV[7])
redis.call('ZREMRANGEBYSCORE', log, '(0', now - span)
if last() > now + horizon then
  -- The clock was set back: nobody knows how old these are.
  redis.call('ZREMRANGEBYSCORE', log, '(0', '+inf')
  hold(now + span + horizon)
end
local begun = negative('begun')
if begun == 0 then
  -- Microseconds: a log may be lost in the millisecond in which it was begun.
  begun = time[1] * 1000000 + time[2]
  redis.call('ZADD', log, -begun, 'begun')
  -- A server that has just started may have forgotten what was granted; so may one that does not tell.
  local info = redis.pcall('INFO', 'server')
  local up = tonumber(type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)') or 0) * 1000
  if up < span + horizon then hold(now - up + span + horizon) end
end
-- Who knows another log has been granted slots that are not in this one.
if known ~= '' and known ~= string.format('%.0f', begun) then hold(now + owed + span) end
local paused, held = math.max(now, negative('paused')), math.max(now, negative('held'))
local free = math.max(paused, held)
local size = redis.call('ZCOUNT', log, '(0', '+inf')
local waits, again = {}, 0
for slot = 1, count do
  local at = math.max(free, last())
  if size >= limit then
    at = math.max(at, tonumber(redis.call('ZRANGE', log, -limit, -limit, 'WITHSCORES')[2]) + span)
  end
  local soonest = at - now
  if not background then soonest = soonest - horizon end
  if soonest > 0 then again = soonest break end
  redis.call('ZADD', log, at, id .. ':' .. slot)
  size = size + 1
  waits[slot] = at - now
end
keep()
return {string.format('%.0f', begun), paused - now, held - now, again, unpack(waits)}
`,
};

const GIVE_BACK: Script = {
  source: `
for _, id in ipairs(ARGV) do redis.call('ZREM', KEYS[1], id) end
return 0
`,
};

const PAUSE: Script = {
  source: `${PRELUDE}
lengthen('paused', now + tonumber(ARGV[3]))
keep()
return 0
`,
};

/** The shared log of a bucket. */
export interface SharedLog {
  reserve(wish: Wish): Promise<Reservation>;
  /** Gives back slots that will not be used. */
  giveBack(key: string, ids: readonly string[]): Promise<unknown>;
  pause(wish: Pick<Wish, 'key' | 'limit' | 'span'>, ms: number): Promise<unknown>;
}

const isTime = (ms: number): boolean => Number.isFinite(ms) && ms >= 0;

/** The shared logs behind a client of Redis. */
export function sharedLog(run: RunScript): SharedLog {
  return {
    async reserve({ key, limit, span, count, background, id, known, owed }) {
      const answer = await run(RESERVE, key, [limit, span, count, background ? 1 : 0, id, known, Math.ceil(owed)]);
      const [begun, ...times] = Array.isArray(answer) ? answer : [];
      const [paused, held, again, ...waits] = times.map(Number);
      if (paused === undefined || held === undefined || again === undefined || !times.map(Number).every(isTime))
        throw new Error('its answer is none of the script that was sent');
      return { begun: String(begun), paused, held, again, waits };
    },
    giveBack: (key, ids) => run(GIVE_BACK, key, ids),
    pause: ({ key, limit, span }, ms) => run(PAUSE, key, [limit, span, Math.ceil(ms)]),
  };
}
