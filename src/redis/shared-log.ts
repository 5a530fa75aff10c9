import type { PermitLog } from '../client/index.ts';
import type { Priority } from '../index.ts';
import { withTimeout } from '../util/abort.ts';
import type { RunScript, Script } from './commands.ts';

/**
 * Maximum milliseconds by which a process reserves permits in advance. If the process ends, only these permits are
 * wasted.
 */
const MAX_LOOKAHEAD_MS = 1_000;

/**
 * Maximum time to wait for a reply, in milliseconds. After that, the command counts as failed, because Redis clients
 * queue commands while disconnected.
 */
const REPLY_TIMEOUT_MS = 1_000;

/** Milliseconds after a failure during which this process sends no commands to Redis. */
const RETRY_AFTER_MS = 2_000;

/**
 * Reserves permits in a sliding-window log: a sorted set of the times at which processes may use permits, by the clock
 * of the Redis server. Each permit is at least a window later than the permit `limit` places before it, and never
 * during a pause. Returns, in milliseconds, the rest of the pause, the time until more permits can be reserved, and the
 * time until each reserved permit. Also returns the number of permits so far. If this number is smaller than the number
 * that the caller has seen before, Redis has lost permits, for example after a restart. Then the script pauses the
 * bucket for a window.
 *
 * Because of the latency of the reply, the caller knows the time of the server only approximately. So the log adds the
 * caller's expected latency to the time of each permit, and the caller may use the permit that much later.
 *
 * Background permits use half of the limit, evenly spaced, so that polls leave the other half for the user's calls. A
 * process that must wait for a background permit receives a number in a queue, and passes this number when it asks
 * again. The first process in the queue is due one spacing after the latest background permit, the second two spacings
 * after it. So the processes take turns, and do not wait for a process that has ended. If foreground requests have used
 * up the limit so that the queue has stopped, they leave one permit for each process in the queue.
 *
 * The sorted set also contains the end of a pause, the time of the latest background permit and all numbers. Their
 * scores are negative, so that the script does not remove them with old permits.
 */
const RESERVE: Script = {
  source: `
local log = KEYS[1]
local limit, window, count, pause = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local seen, latency, is_background, number = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1', tonumber(ARGV[8])
local function stored(name) return -(tonumber(redis.call('ZSCORE', log, name)) or 0) end
local function store(name, value) redis.call('ZADD', log, -value, name) end
local granted = stored('granted')
if granted < seen then pause = math.max(pause, window) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local latest = now + ${MAX_LOOKAHEAD_MS}
redis.call('ZREMRANGEBYSCORE', log, '(0', now - window)
-- A clock that was set back would leave the bucket blocked by times in the far future.
local last = latest + ${REPLY_TIMEOUT_MS}
redis.call('ZREMRANGEBYSCORE', log, last + 1, '+inf')
local paused = math.max(now + pause, stored('paused'))
if pause > 0 then store('paused', paused) end
local first = paused
local half = math.max(1, math.floor(limit / 2))
local spacing = math.ceil(window / half)
local before = stored('background') <= last and stored('background') or 0
if is_background then
  if number == 0 then number = stored('issued') + 1 end
  store('issued', math.max(stored('issued'), number))
  first = math.max(paused, before + spacing * math.max(1, number - stored('served')))
elseif now > before + 2 * spacing then
  limit = limit - math.min(stored('issued') - stored('served'), limit - half)
end
local retry, permits = 0, {}
for n = 1, count do
  local oldest = tonumber(redis.call('ZRANGE', log, -limit, -limit, 'WITHSCORES')[2]) or 0
  local at = math.max(first, oldest + window)
  if at > latest then
    retry = at - latest
    break
  end
  redis.call('ZADD', log, at + latency, time[1] .. '.' .. time[2] .. '.' .. n)
  if is_background then
    store('background', at + latency)
    store('served', math.max(stored('served'), number))
    number = 0
  end
  permits[n] = at - now
end
granted = math.max(granted, seen) + #permits
store('granted', granted)
redis.call('PEXPIRE', log, math.max(paused, latest) - now + ${REPLY_TIMEOUT_MS} + window)
return {paused - now, retry, permits, granted, number}
`,
};

/** A reserved permit. Times are on the monotonic clock. */
interface Permit {
  /** Earliest time of use. Assumes that the server reserved the permit just before its reply. */
  readonly from: number;
  /** Latest time of use. Assumes that the server reserved the permit when this process sent the command. */
  readonly until: number;
}

interface Reservations {
  permits: readonly Permit[];
  retryAt: number;
}

const noReservations = (): Record<Priority, Reservations> => ({
  foreground: { permits: [], retryAt: Number.NEGATIVE_INFINITY },
  background: { permits: [], retryAt: Number.NEGATIVE_INFINITY },
});

export interface SharedLogOptions {
  readonly run: RunScript;
  readonly key: string;
  readonly limit: number;
  /** Length of the window in milliseconds: the interval and the margin. */
  readonly window: number;
  /**
   * Maximum milliseconds by which this process may use a permit late. A later request could be too close to the next
   * requests.
   */
  readonly maxDelayMs: number;
  /** The permits of this process while Redis fails. Not set if callers must wait for Redis. */
  readonly local: PermitLog | undefined;
  /** Pauses the requests of this process. Called when another process has paused the bucket. */
  pause(ms: number): void;
  warn(message: string): void;
}

/** The shared log of permits, with a circuit breaker around Redis. */
export class SharedLog implements PermitLog {
  readonly #options: SharedLogOptions;
  #reserved = noReservations();
  /** The number of this process in the queue for background permits; 0 if it is not in the queue. */
  #number = 0;
  #isFailing = false;
  /** Time of the next attempt after a failure of Redis. */
  #retryAt = Number.NEGATIVE_INFINITY;
  /** Number of granted permits in the last reply, and the time of this reply. */
  #granted = { count: 0, seenAt: Number.NEGATIVE_INFINITY };
  #latency = 0;

  constructor(options: SharedLogOptions) {
    this.#options = options;
  }

  wait(ahead: number, priority: Priority): number {
    const { local, limit, window } = this.#options;
    const retryAt = Math.max(this.#reserved[priority].retryAt, this.#retryAt);
    const next = Math.max(0, (this.#usable(priority)[0]?.from ?? retryAt) - performance.now());
    // It may take longer, because other processes may also acquire permits.
    const wait = next + Math.floor(ahead / limit) * window;
    return this.#isFailing && local ? Math.min(wait, local.wait(ahead, priority)) : wait;
  }

  /**
   * Acquires due permits. If no reserved permits are left, first reserves more. While Redis fails, acquires a permit of
   * this process's share, if there is a share. Never rejects.
   */
  async take(waiting: number, priority: Priority): Promise<number> {
    if (this.#isFailing && performance.now() < this.#retryAt) return this.#options.local?.take(1, priority) ?? 0;
    if (this.#usable(priority).length === 0) await this.#reserve(waiting, priority);
    const now = performance.now();
    const permits = this.#usable(priority);
    const used = Math.min(permits.filter(({ from }) => from <= now).length, waiting);
    this.#reserved[priority].permits = permits.slice(used);
    return used;
  }

  isEmpty(): boolean {
    const isLeft = this.#usable('foreground').length + this.#usable('background').length > 0;
    return !isLeft && (this.#options.local?.isEmpty() ?? true);
  }

  pause(ms: number): void {
    // Send no command while Redis fails: the client could queue it, and the pause would start too late.
    if (!this.#isFailing) this.#run(0, ms, 'foreground').catch((error) => this.#fail(error));
  }

  /** Returns the reserved permits in order, without expired permits. */
  #usable(priority: Priority): readonly Permit[] {
    const now = performance.now();
    const reserved = this.#reserved[priority];
    reserved.permits = reserved.permits.filter(({ from, until }) => Math.max(from, now) <= until);
    return reserved.permits;
  }

  async #reserve(waiting: number, priority: Priority): Promise<void> {
    const { key, maxDelayMs, pause, warn } = this.#options;
    const sentAt = performance.now();
    const expected = this.#latency;
    try {
      // Reserve nothing with the first command after a failure: if the client sends the command late, the permits are
      // lost.
      const count = priority === 'foreground' ? waiting : 1;
      const reply = await this.#run(this.#isFailing ? 0 : count, 0, priority);
      // These are the values that `RESERVE` returns.
      const [paused, retry, waits, granted, number] = reply as readonly [
        unknown,
        unknown,
        readonly unknown[],
        unknown,
        unknown,
      ];
      const now = performance.now();
      this.#granted = { count: Number(granted), seenAt: now };
      this.#latency = Math.ceil(now - sentAt);
      const permits = waits.map(Number).map((wait) => ({
        from: now + wait,
        until: sentAt + wait + expected + maxDelayMs,
      }));
      this.#reserved[priority] = { permits, retryAt: now + Number(retry) };
      if (priority === 'background') this.#number = Number(number);
      this.#retryAt = Number.NEGATIVE_INFINITY;
      if (this.#isFailing) warn(`Redis responds again, so processes share the rate bucket "${key}".`);
      this.#isFailing = false;
      if (Number(paused) > 0) pause(Number(paused));
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const { key, local, warn } = this.#options;
    const reason = error instanceof Error ? error.message : typeof error;
    const meanwhile = local ? 'this process uses its share of the limit' : 'requests wait';
    if (!this.#isFailing)
      warn(`Redis failed, so the rate bucket "${key}" is not shared and ${meanwhile} until Redis responds: ${reason}`);
    this.#isFailing = true;
    this.#reserved = noReservations();
    this.#retryAt = performance.now() + RETRY_AFTER_MS;
  }

  #run(count: number, pause: number, priority: Priority): Promise<unknown> {
    const { run, key, limit, window } = this.#options;
    const timeoutError = (): Error => new Error(`No reply within ${REPLY_TIMEOUT_MS} ms`);
    // If a log was unused for a window, it has expired, which is not a loss of permits.
    const granted = performance.now() - this.#granted.seenAt < window ? this.#granted.count : 0;
    const isBackground = priority === 'background';
    const number = isBackground ? this.#number : 0;
    const args = [limit, window, count, Math.ceil(pause), granted, this.#latency, isBackground ? 1 : 0, number];
    return withTimeout(run(RESERVE, key, args), REPLY_TIMEOUT_MS, timeoutError);
  }
}
