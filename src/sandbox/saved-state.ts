import { stringify, unflatten } from 'devalue';
import { MAX_TIME, type Scheduled } from './clock.ts';
import { FilePart, isObject } from './http/request-body.ts';
import type { SavedJobs } from './jobs.ts';
import type { SandboxOptions } from './sandbox-options.ts';
import type { Service, Task } from './service.ts';
import { SlidingWindow } from './sliding-window.ts';
import { createResources, createState, type SandboxState, type State } from './state.ts';
import type { DeliveryAttempt } from './webhook-deliveries.ts';

/** Version of the format. The sandbox refuses newer versions. */
const VERSION = 1 satisfies SandboxState['version'];

export interface Snapshot {
  readonly now: number;
  readonly state: Omit<State, 'storageUrl'>;
  readonly tasks: readonly Scheduled<Task>[];
  readonly nextOrder: number;
  readonly jobs: SavedJobs;
  readonly attempts: readonly DeliveryAttempt[];
  /** States of the random number generators. */
  readonly random: { readonly service: bigint; readonly webhooks: bigint; readonly faults: bigint };
}

/** Serializers for the classes whose objects are part of the state. */
const REDUCERS = {
  SlidingWindow: (value: unknown) => value instanceof SlidingWindow && value.saved,
  FilePart: (value: unknown) => value instanceof FilePart && value.stats,
};
const REVIVERS = {
  SlidingWindow: (saved: SlidingWindow['saved']) => SlidingWindow.restore(saved),
  FilePart: (stats: FilePart['stats']) => new FilePart(stats),
};

/** Returns the state of a service. `now` and `log` replace the current time and the request log. */
export function saveState(
  service: Service,
  seed: number,
  now = service.clock.now(),
  log = service.state.log,
): SandboxState {
  const { state, clock, jobs, webhooks, random, faults } = service;
  const { storageUrl, ...rest } = state;
  const snapshot: Snapshot = {
    now,
    state: { ...rest, log },
    // The sandbox repeats attempts that were in flight when the state was saved.
    tasks: [...webhooks.inFlight.map((task) => ({ time: now, order: task.event.order, task })), ...clock.tasks],
    nextOrder: clock.order,
    jobs: jobs.saved,
    attempts: webhooks.attempts,
    random: { service: random.state, webhooks: webhooks.random.state, faults: faults.random.state },
  };
  const data: unknown = JSON.parse(stringify(snapshot, REDUCERS));
  return { version: VERSION, seed, now: new Date(now).toISOString(), data };
}

/**
 * Reads a saved state.
 *
 * @throws if the value is not a saved state, is damaged, or has a newer version or another seed
 */
export function readState(saved: unknown, seed: number | undefined): Snapshot {
  if (!isObject(saved) || typeof saved.version !== 'number') {
    throw new Error('`state` must be the result of `sandbox.save()`.');
  }
  if (saved.version > VERSION) {
    throw new Error(`\`state\` is of version ${saved.version}, which only a newer audience-activation can read.`);
  }
  if (seed !== undefined && seed !== saved.seed) {
    throw new Error(`\`state\` was saved with the seed ${saved.seed}, not ${seed}: leave \`seed\` out.`);
  }
  return unflattenSnapshot(saved.data);
}

function unflattenSnapshot(data: unknown): Snapshot {
  try {
    if (!Array.isArray(data)) throw new Error('its data are missing');
    const snapshot: Snapshot = unflatten(data, REVIVERS);
    const { state, tasks, attempts, jobs, nextOrder, random } = snapshot;
    checkLike(createState(), state, ['storageUrl']);
    checkLike({ tasks: [], attempts: [], nextOrder: 0 }, { tasks, attempts, nextOrder });
    for (const task of tasks) checkLike({ time: 0, order: 0, task: {} }, task);
    checkLike({ running: new Map(), next: new Map(), reasons: new Map() }, jobs);
    checkLike({ service: 0n, webhooks: 0n, faults: 0n }, random);
    if (!(snapshot.now >= 0 && snapshot.now <= MAX_TIME)) throw new Error(`its clock is at ${snapshot.now}`);
    for (const account of state.accounts.values()) {
      checkLike({ email: '', idempotencyKeys: new Map() }, account);
      // The package version that saved the state may have had fewer namespaces.
      Object.assign(account, { ...createResources(), ...account });
      const { idempotencyKeys } = account;
      // Drop create requests in flight: without a stored response, nothing was created.
      for (const [key, { response }] of idempotencyKeys) if (!response) idempotencyKeys.delete(key);
    }
    return snapshot;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`\`state\` is damaged: ${reason}. Nothing was changed.`, { cause: error });
  }
}

/** Throws unless an object has the fields of a pattern, except `ignored`, with values of the same classes. */
function checkLike(pattern: object, value: unknown, ignored: readonly string[] = []): void {
  for (const [name, expected] of Object.entries(pattern)) {
    const field: unknown = Object(value)[name];
    const isAlike = field?.constructor === expected.constructor;
    if (!isAlike && !ignored.includes(name)) throw new Error(`its \`${name}\` is missing or of another type`);
  }
}

/**
 * Returns the options of a sandbox that continues with a snapshot. A real clock continues at the current time, unless
 * the saved time is later.
 */
export function optionsFor(options: SandboxOptions, seed: number, { now }: Snapshot): SandboxOptions {
  const { clock = 'real', start = clock === 'real' ? Math.max(Date.now(), now) : now } = options;
  return { ...options, seed, start };
}

/** Replaces the current state with a saved state. */
export function restoreState({ state, clock, jobs, webhooks, random, faults }: Service, snapshot: Snapshot): void {
  const { log, ...rest } = snapshot.state;
  Object.assign(state, rest);
  state.log.splice(0, state.log.length, ...log);
  random.state = snapshot.random.service;
  webhooks.random.state = snapshot.random.webhooks;
  faults.random.state = snapshot.random.faults;
  jobs.restore(snapshot.jobs);
  webhooks.restore(snapshot.attempts);
  clock.restore(snapshot.tasks, snapshot.nextOrder, snapshot.now);
}
