/** The longest delay `setTimeout` can hold; a longer one would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Runs `work` after `ms`; `Infinity` never comes. Returns what stops it. */
export function startTimer(ms: number, work: () => void): () => void {
  let handle: ReturnType<typeof setTimeout> | undefined;
  const arm = (left: number): void => {
    const step = Math.min(left, LONGEST_TIMER);
    handle = setTimeout(() => (left > step ? arm(left - step) : work()), Math.max(0, step));
  };
  if (ms !== Number.POSITIVE_INFINITY) arm(ms);
  return () => clearTimeout(handle);
}

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
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

/** A signal that follows `parent` and aborts by itself, with `reason()`, after `ms`. */
export function signalScope(parent: AbortSignal | undefined, ms: number, reason: () => unknown): SignalScope {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) follow();
  else if (ms <= 0) controller.abort(reason());
  else parent?.addEventListener('abort', follow, { once: true });
  const stop = startTimer(controller.signal.aborted ? Number.POSITIVE_INFINITY : ms, () => controller.abort(reason()));
  return {
    signal: controller.signal,
    abort: (why) => controller.abort(why),
    dispose() {
      stop();
      parent?.removeEventListener('abort', follow);
    },
  };
}
