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

/** Runs `next` in a context of the user's, such as that of an `AsyncLocalStorage`. */
type Around<Event, Addition> = (event: Event, next: (addition?: Addition) => Promise<void>) => unknown;

/** Work for {@link runAround}. */
interface AroundWork<Event, Addition, R> {
  readonly event: Event;
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
  const sets = caller.hooks.filter((hooks) => hooks[name]);
  const run = sets.reduceRight<(additions: readonly Addition[]) => Promise<R>>(
    (inner, hooks) => (additions) =>
      runWithin<Addition, R>(
        caller,
        name,
        (next) => hooks[name]?.(event, next),
        (addition) => inner(addition ? [...additions, addition] : additions),
        ended,
      ),
    work,
  );
  return sets.length === 0 ? run([]) : abortable(run([]), signal);
}

function runWithin<Addition, R>(
  caller: Pick<HookCaller<unknown>, 'logger'>,
  name: string,
  around: (next: (addition?: Addition) => Promise<void>) => unknown,
  work: (addition?: Addition) => Promise<R>,
  ended?: Promise<unknown>,
): Promise<R> {
  const { promise, resolve } = Promise.withResolvers<R>();
  let running: Promise<unknown> | undefined;
  const next = async (addition?: Addition): Promise<void> => {
    if (!running) {
      const result = work(addition);
      resolve(result);
      running = result.then(() => ended);
    }
    await running;
  };
  runHook(caller, name, async () => {
    try {
      await around(next);
    } catch (error) {
      // The hook usually passes the error of the work on.
      if ((await running?.catch((failure: unknown) => failure)) !== error) throw error;
    } finally {
      // The work begins even if the hook did not call `next`.
      next().catch(() => {});
    }
  });
  return promise;
}
