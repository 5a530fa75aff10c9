import { AudienceError } from '../errors/audience-error.ts';
import type { RedisClient, RunScript, Script } from './commands.ts';
import { pause, within } from './patient.ts';

/** A lock of all that use its key. */
export interface Lock {
  readonly client: RedisClient;
  /** Gets over what is wrong with Redis for now. */
  readonly patient: RunScript;
  /** Tries once. */
  readonly run: RunScript;
  readonly key: string;
  /** A holder that has not been heard of for so long is dead. Milliseconds. */
  readonly lease: number;
}

/** Who has not got the lock after so long is told which one it is. Milliseconds. */
const PATIENCE = 120_000;

/** A held lock is tried again after between these, at random. Milliseconds. */
const POLL = { first: 30, longest: 200, growth: 1.3 } as const;

/** A result does not wait longer than this for its lock to be given back. Milliseconds. */
const RELEASE = 2_000;

/** For its holder it keeps the lock. One that has lapsed, as the process or Redis was away, is taken while nobody else has it. */
const TAKE: Script = {
  source: `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`,
};

const GIVE_BACK: Script = {
  source: `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`,
};

/** Why Redis could not be asked, and since when that is known. */
interface Failure {
  readonly error: unknown;
  readonly at: number;
}

type Turn = Promise<Failure | undefined>;

/** The last in the queue for each key: within a process one at a time tries for the lock. */
const queues = new WeakMap<RedisClient, Map<string, Turn>>();

function queuesOf(client: RedisClient): Map<string, Turn> {
  const known = queues.get(client);
  if (known) return known;
  const made = new Map<string, Turn>();
  queues.set(client, made);
  return made;
}

/** Runs `work` while no other process, and nobody else in this one, holds the lock. */
export function withRedisLock<R>(lock: Lock, work: () => Promise<R>): Promise<R> {
  const { client, key } = lock;
  const queue = queuesOf(client);
  const asked = performance.now();
  return new Promise((resolve, reject) => {
    let gone = false;
    const timer = setTimeout(() => {
      gone = true;
      reject(tooLong(key));
    }, PATIENCE);
    const before: Turn = queue.get(key) ?? Promise.resolve(undefined);
    const tail: Turn = before
      .then(async (failure) => {
        clearTimeout(timer);
        if (gone) return failure;
        // Whoever stood in line meanwhile has waited for Redis, too.
        if (!failure || failure.at <= asked) return locked(lock, asked + PATIENCE, work, { resolve, reject });
        reject(failure.error);
        return failure;
      })
      .finally(() => {
        if (queue.get(key) === tail) queue.delete(key);
      });
    queue.set(key, tail);
  });
}

interface Outcome<R> {
  resolve(result: R): void;
  reject(error: unknown): void;
}

/** Never rejects. */
async function locked<R>(
  lock: Lock,
  until: number,
  work: () => Promise<R>,
  outcome: Outcome<R>,
): Promise<Failure | undefined> {
  const holder = crypto.randomUUID();
  const giveBack = (): Promise<unknown> => lock.run(GIVE_BACK, lock.key, [holder]).catch(() => {});
  try {
    if (!(await take(lock, holder, until))) {
      outcome.reject(tooLong(lock.key));
      return undefined;
    }
  } catch (error) {
    // What was given up may be done all the same, when there is a connection again.
    void giveBack();
    outcome.reject(error);
    return { error, at: performance.now() };
  }
  const stop = keep(lock, holder);
  // A lock that stays lapses soon.
  const end = (): Promise<unknown> => within(stop().then(giveBack), RELEASE, () => tooLong(lock.key)).catch(() => {});
  try {
    const result = await work();
    await end();
    outcome.resolve(result);
  } catch (error) {
    await end();
    outcome.reject(error);
  }
  return undefined;
}

/** Whether it was to be had in time. */
async function take({ patient, key, lease }: Lock, holder: string, until: number): Promise<boolean> {
  for (let wait: number = POLL.first; ; wait = Math.min(wait * POLL.growth, POLL.longest)) {
    if (Number(await patient(TAKE, key, [holder, lease])) === 1) return true;
    if (performance.now() >= until) return false;
    await pause(wait);
  }
}

/** Keeps a lock until it is told to stop; what is under way then is awaited, or it could come after the release. */
function keep({ run, key, lease }: Lock, holder: string): () => Promise<void> {
  let renewal: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A lock that is lost shows nowhere else: users of stores read before they write.
    renewal ??= run(TAKE, key, [holder, lease])
      .catch(() => {})
      .then(() => {
        renewal = undefined;
      });
  }, lease / 3);
  return async () => {
    clearInterval(timer);
    await renewal;
  };
}

function tooLong(key: string): AudienceError {
  const message = `The lock ${JSON.stringify(key)} in Redis has been held by others for ${PATIENCE / 1_000} seconds: some process is at work for too long, or the key is used for something else, too.`;
  return new AudienceError(message, { code: 'token-unavailable' });
}
