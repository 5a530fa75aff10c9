/** The longest delay `setTimeout` can hold; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Runs `work` after `ms`; `Infinity` never comes. Returns what stops it. It goes in steps: time that the
 * process sleeps through counts as one of them at most.
 */
export function startTimer(ms: number, work: () => void, longestStep = LONGEST_TIMER): () => void {
  let handle: ReturnType<typeof setTimeout> | undefined;
  const arm = (left: number): void => {
    const step = Math.min(left, longestStep);
    handle = setTimeout(() => (left > step ? arm(left - step) : work()), Math.max(0, step));
  };
  if (ms !== Number.POSITIVE_INFINITY) arm(ms);
  return () => clearTimeout(handle);
}

const watchers = new WeakMap<AbortSignal, Set<() => void>>();

/** Signals of scopes, which tell their watchers themselves: listeners cost a call more than all else here. */
const scoped = new WeakSet<AbortSignal>();

/**
 * Calls `work` once when the signal aborts; returns what calls it off. However many watch, the signal
 * has one listener: a thousand of them would slow each other down.
 */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  const known = watchers.get(signal);
  const watching = known ?? new Set();
  watching.add(work);
  if (!known) {
    watchers.set(signal, watching);
    if (!scoped.has(signal)) signal.addEventListener('abort', onEvent);
  }
  return () => {
    if (!watching.delete(work) || watching.size > 0 || scoped.has(signal)) return;
    watchers.delete(signal);
    signal.removeEventListener('abort', onEvent);
  };
}

function onEvent(this: AbortSignal): void {
  this.removeEventListener('abort', onEvent);
  tell(this);
}

function tell(signal: AbortSignal): void {
  const watching = watchers.get(signal);
  watchers.delete(signal);
  for (const work of watching ?? []) work();
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const off = onAbort(signal, () => reject(signal.reason));
    promise.then(
      (value) => {
        off();
        resolve(value);
      },
      (error) => {
        off();
        reject(error);
      },
    );
  });
}

/** Resolves after `ms`, or rejects with the signal's reason; leaves no timer behind. */
export async function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): void => {};
  try {
    await abortable(
      new Promise<void>((resolve) => {
        if (!signal?.aborted) stop = startTimer(ms, resolve);
      }),
      signal,
    );
  } finally {
    stop();
  }
}

/** An abort signal with a limited life: `dispose` removes its listeners and timers. */
export interface SignalScope {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  dispose(): void;
}

/** A signal that follows `parent` and aborts by itself, with `reason()`, after `ms` in steps of the given length. */
export function signalScope(
  parent: AbortSignal | undefined,
  ms: number,
  reason: () => unknown,
  longestStep?: number,
): SignalScope {
  const controller = new AbortController();
  const { signal } = controller;
  scoped.add(signal);
  const abort = (why: unknown): void => {
    controller.abort(why);
    tell(signal);
  };
  let off: (() => void) | undefined;
  if (parent?.aborted) abort(parent.reason);
  else if (ms <= 0) abort(reason());
  else if (parent) off = onAbort(parent, () => abort(parent.reason));
  const stop = startTimer(signal.aborted ? Number.POSITIVE_INFINITY : ms, () => abort(reason()), longestStep);
  return {
    signal,
    abort,
    dispose() {
      stop();
      off?.();
    },
  };
}
