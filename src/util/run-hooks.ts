import { abortable } from './abort.ts';
import { safely } from './callbacks.ts';

/** Sets of hooks, and the logger for what they throw. */
export interface HookCaller<H> {
  readonly hooks: readonly H[];
  readonly logger: { error(message: string): void };
}

/** Runs a user's hook; its failure is logged and has no other effect. */
export function runHook({ logger }: Pick<HookCaller<unknown>, 'logger'>, name: string, hook: () => unknown): void {
  safely(hook, (message) => logger.error(`\`${name}\` threw: ${message}`));
}

/** Calls one hook of every set that has it. The event is created only if there is one. */
export function emit<Name extends string, Event>(
  caller: HookCaller<{ readonly [name in Name]?: ((event: Event) => void) | undefined }>,
  name: Name,
  event: () => Event,
): void {
  for (const hooks of caller.hooks) if (hooks[name]) runHook(caller, name, () => hooks[name]?.(event()));
}

/** Returns whether a value can be a set of hooks, some of whose names are given. */
export function isHookSet(value: unknown, names: readonly string[]): boolean {
  const isFunction = (name: string): boolean => ['function', 'undefined'].includes(typeof Object(value)[name]);
  return typeof value === 'object' && value !== null && !Array.isArray(value) && names.every(isFunction);
}

/** Runs `next` in a context of the user's, such as that of an `AsyncLocalStorage`. */
type Around<Event, Addition> = (event: Event, next: (addition?: Addition) => Promise<void>) => unknown;

/** Work for {@link runAround}. */
interface AroundWork<Event, Addition, R> {
  readonly event: () => Event;
  /** Ends the wait for hooks that do not call `next`. The work must follow it, too. */
  readonly signal?: AbortSignal | undefined;
  readonly work: (additions: readonly Addition[]) => Promise<R>;
  /** Settles at the end of what `work` begins. @default the result of `work` */
  readonly ended?: Promise<unknown>;
}

/**
 * Runs work within the hook `name` of every set that has it; the first set is the outermost. The result is that of the
 * work, whatever the hooks do; it is not delayed by what they do after the end of the work.
 */
export function runAround<Name extends string, Event, Addition extends object, R>(
  caller: HookCaller<{ readonly [name in Name]?: Around<Event, Addition> | undefined }>,
  name: Name,
  { event, signal, work, ended }: AroundWork<Event, Addition, R>,
): Promise<R> {
  const run = caller.hooks.reduceRight<(additions: readonly Addition[]) => Promise<R>>((inner, hooks) => {
    if (!hooks[name]) return inner;
    return (additions) =>
      runWithin<Addition, R>({
        signal,
        ended,
        run: (around) => runHook(caller, name, around),
        around: (next) => hooks[name]?.(event(), next),
        work: (addition) => inner(addition ? [...additions, addition] : additions),
      });
  }, work);
  return run([]);
}

/** Work within one hook, `around`, that `run` runs. */
interface WorkWithin<Addition, R> {
  readonly signal: AbortSignal | undefined;
  readonly ended: Promise<unknown> | undefined;
  readonly run: (hook: () => Promise<void>) => void;
  readonly around: (next: (addition?: Addition) => Promise<void>) => unknown;
  readonly work: (addition?: Addition) => Promise<R>;
}

async function runWithin<Addition, R>({ signal, ended, run, around, work }: WorkWithin<Addition, R>): Promise<R> {
  const { promise: beginning, resolve: begin } = Promise.withResolvers<{ readonly result: Promise<R> }>();
  let begun: { readonly result: Promise<R> } | undefined;
  let running: Promise<void> | undefined;
  const next = (addition?: Addition): Promise<void> => {
    if (!running) {
      const result = signal?.aborted ? Promise.reject<R>(signal.reason) : work(addition);
      begun = { result };
      begin(begun);
      running = result.then(() => ended).then(() => {});
      // The hook may ignore the promise.
      running.catch(() => {});
    }
    return running;
  };
  run(async () => {
    try {
      await around(next);
    } catch (error) {
      // The hook usually passes the error of the work on.
      if ((await running?.catch((failure: unknown) => failure)) !== error) throw error;
    } finally {
      // The work begins even if the hook did not call `next`.
      void next();
    }
  });
  // Most hooks call `next` immediately.
  const { result } = begun ?? (await abortable(beginning, signal));
  return result;
}
