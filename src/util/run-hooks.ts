import { safely } from './callbacks.ts';
import { isObject } from './json.ts';

/** Sets of hooks, and the logger for their errors. */
export interface HookCaller<H> {
  readonly hooks: readonly H[];
  readonly logger: { error(message: string): void };
}

/** Runs a user's hook. If the hook fails, only logs the error. Resolves when the hook has ended. */
export function runHook(
  { logger }: Pick<HookCaller<unknown>, 'logger'>,
  name: string,
  hook: () => unknown,
): Promise<void> {
  return safely(hook, (message) => logger.error(`\`${name}\` threw: ${message}`));
}

/** Calls a hook in every set that contains this hook. Creates the event only if a set contains the hook. */
export function emit<Name extends string, Event>(
  caller: HookCaller<{ readonly [name in Name]?: ((event: Event) => void) | undefined }>,
  name: Name,
  event: () => Event,
): void {
  for (const hooks of caller.hooks) if (hooks[name]) runHook(caller, name, () => hooks[name]?.(event()));
}

/** Returns whether each property of `value` in `names` is a function or undefined. */
export function isHookSet(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => ['function', 'undefined'].includes(typeof value[name]));
}

/** Runs `next` in an async context of the user (`AsyncLocalStorage`). */
type Around<Event, Addition> = (event: Event, next: (addition?: Addition) => Promise<void>) => unknown;

/** Work for {@link runAround}. */
interface AroundWork<Event, Addition, R> {
  readonly event: () => Event;
  readonly work: () => Promise<R>;
  /** Starts the work with the argument that a hook passes to `next`. @default calls the work */
  readonly start?: ((work: () => Promise<R>, addition: Addition | undefined) => Promise<R>) | undefined;
  /** Settles when everything that `work` has started has ended. @default the result of `work` */
  readonly ended?: Promise<unknown> | undefined;
  /** Waits until the work starts, for example until a signal aborts. @default waits as long as the hooks take */
  readonly untilBegun?: ((begun: Promise<void>) => Promise<void>) | undefined;
}

/**
 * Runs work within the `name` hook of every set that contains this hook. The hook of the first set is the outermost.
 * Returns the result of the work, regardless of what the hooks return. Hooks cannot delay the result after the end of
 * the work. If a hook does not call `next`, the work starts when the hook has ended.
 */
export function runAround<Name extends string, Event, Addition, R>(
  caller: HookCaller<{ readonly [name in Name]?: Around<Event, Addition> | undefined }>,
  name: Name,
  { event, work, ended, start = (inner) => inner(), untilBegun = (begun) => begun }: AroundWork<Event, Addition, R>,
): Promise<R> {
  const within = async (hook: Around<Event, Addition>, inner: () => Promise<R>): Promise<R> => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    let result: Promise<R> | undefined;
    const next = (addition?: Addition): Promise<void> => {
      if (!result) {
        result = start(inner, addition);
        begin();
      }
      const end = result.then(() => ended).then(() => {});
      // Mark the rejection as handled, because the hook may ignore the promise.
      end.catch(() => {});
      return end;
    };
    runHook(caller, name, async () => {
      try {
        await hook(event(), next);
      } catch (error) {
        // A hook usually rethrows the error of the work: do not log this error.
        const failure: unknown = await result?.then(() => ended).catch((reason: unknown) => reason);
        if (failure !== error) throw error;
      } finally {
        void next();
      }
    });
    if (!result) await untilBegun(begun);
    return result as unknown as Promise<R>; // `next` sets `result`, which TypeScript cannot infer
  };
  const run = caller.hooks.reduceRight<() => Promise<R>>((inner, { [name]: hook }) => {
    return hook ? () => within(hook, inner) : inner;
  }, work);
  return run();
}
