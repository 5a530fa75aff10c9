import { ConfigurationError } from '../errors/audience-error.ts';

/** Maximum delay of `setTimeout`, in milliseconds. A longer timer would fire immediately. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Runs `callback` after `ms` milliseconds, or never for `Infinity`. Returns a function that cancels the timer. The
 * timer runs in steps of at most `longestStep` milliseconds, so that a sleep of the machine counts as at most one step.
 */
export function startTimer(ms: number, callback: () => void, longestStep = LONGEST_TIMER): () => void {
  let handle: ReturnType<typeof setTimeout> | undefined;
  let left = Math.max(0, ms);
  const arm = (): void => {
    const step = Math.min(left, longestStep);
    left -= step;
    handle = setTimeout(left > 0 ? arm : callback, step);
  };
  if (ms !== Number.POSITIVE_INFINITY) arm();
  return () => clearTimeout(handle);
}

const watchers = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Runs `callback` once when a signal aborts. Returns a function that removes the callback. All callbacks of a signal
 * share one listener, because thousands of listeners would be slow.
 *
 * @throws {ConfigurationError} for a value that is not a signal.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const existing = watchers.get(signal);
  const callbacks = existing ?? new Set();
  callbacks.add(callback);
  if (!existing) {
    if (!('addEventListener' in Object(signal))) throw new ConfigurationError('`signal` must be an AbortSignal.');
    watchers.set(signal, callbacks);
    signal.addEventListener('abort', notify);
  }
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    watchers.delete(signal);
    signal.removeEventListener('abort', notify);
  };
}

function notify(this: AbortSignal): void {
  const callbacks = watchers.get(this);
  watchers.delete(this);
  this.removeEventListener('abort', notify);
  for (const callback of callbacks ?? []) callback();
}

/** Settles as `promise` does, or rejects with the signal's reason if the signal aborts first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const unsubscribe = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(unsubscribe);
  });
}

/**
 * Resolves after `ms` milliseconds, or when the `wake` function that `onStart` receives is called. Rejects with the
 * signal's reason when the signal aborts. Always clears its timer.
 */
export async function sleep(
  ms: number,
  signal: AbortSignal | undefined,
  onStart?: (wake: () => void) => void,
): Promise<void> {
  let stop = (): void => {};
  try {
    await abortable(
      new Promise<void>((resolve) => {
        if (signal?.aborted) return;
        stop = startTimer(ms, resolve);
        onStart?.(resolve);
      }),
      signal,
    );
  } finally {
    stop();
  }
}

/**
 * An owner of scopes, such as a client, that can end all its scopes. It has no signal, because some runtimes bind a
 * signal to a request.
 */
export interface ScopeOwner {
  readonly open: Set<AbortScope>;
  /** Abort reason of new scopes after the owner has ended. */
  readonly ended: unknown;
  /** Called when the last open scope is disposed. */
  readonly onIdle: (() => void) | undefined;
}

/**
 * Resolves when `work` settles, but at the latest after `ms` milliseconds: in a Worker, the work of another request
 * never settles if that request has ended.
 */
export function settled(work: Promise<unknown>, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return sleep(ms, signal, (wake) => {
    work.then(wake, wake);
  });
}

export interface AbortScopeOptions {
  readonly owner?: ScopeOwner;
  readonly parents?: readonly (AbortSignal | undefined)[];
  /** Milliseconds after which the scope aborts. @default never */
  readonly ms?: number | undefined;
  readonly reason?: () => unknown;
  readonly longestStep?: number | undefined;
}

/** An abort signal that aborts with its parents or after `ms` milliseconds, until the scope is disposed. */
export class AbortScope {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  readonly #cleanups: (() => void)[] = [];
  readonly #owner: ScopeOwner | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  constructor({ owner, parents = [], ms = Number.POSITIVE_INFINITY, reason, longestStep }: AbortScopeOptions) {
    this.#owner = owner;
    if (owner?.ended !== undefined) this.abort(owner.ended);
    for (const parent of parents) if (parent?.aborted) this.abort(parent.reason);
    if (ms <= 0) this.abort(reason?.());
    if (!this.signal.aborted) {
      for (const parent of parents) {
        if (parent) this.#cleanups.push(onAbort(parent, () => this.abort(parent.reason)));
      }
      if (ms < Number.POSITIVE_INFINITY) {
        this.#cleanups.push(startTimer(ms, () => this.abort(reason?.()), longestStep));
      }
    }
    owner?.open.add(this);
  }

  /** Aborts the signal, by default with an `AbortError` as the reason. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
    this.#reject?.(this.signal.reason);
  }

  /**
   * Settles as `work` does, or rejects with the signal's reason if the scope aborts first. Call this only once per
   * scope.
   */
  race<T>(work: PromiseLike<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#reject = reject;
    if (this.signal.aborted) reject(this.signal.reason);
    work.then(resolve, reject);
    return promise;
  }

  dispose(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    const owner = this.#owner;
    if (owner?.open.delete(this) && owner.open.size === 0) owner.onIdle?.();
  }
}

/** Settles as `work` does, or rejects after `ms` milliseconds with the result of `reason`. Always clears its timer. */
export async function withTimeout<T>(work: Promise<T>, ms: number, reason: () => unknown): Promise<T> {
  const scope = new AbortScope({ ms, reason });
  try {
    return await scope.race(work);
  } finally {
    scope.dispose();
  }
}
