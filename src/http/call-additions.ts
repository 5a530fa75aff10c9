import { type HookCaller, runHook } from '../util/run-hooks.ts';
import type { Fetch } from './send.ts';

/** Additions of `around` to the requests of a call. */
export interface CallAdditions {
  /** Headers, such as `traceparent`. Uploads and downloads ignore them, because storage signs its headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Returns the function that sends a request, given the one that would; called for each request. Of several, that of
   * the innermost `around` is called first. Uploads in browsers ignore it, because they use `XMLHttpRequest`.
   */
  readonly wrapFetch?: ((fetch: Fetch) => Fetch) | undefined;
}

/** Returns the client's `fetch` as the additions wrap it; a function that throws does not wrap it. */
export const wrapFetch = (
  settings: Pick<HookCaller<unknown>, 'logger'> & { readonly fetch: Fetch },
  additions: readonly CallAdditions[],
): Fetch =>
  additions.reduce((inner, addition) => {
    let wrapped: unknown;
    runHook(settings, 'wrapFetch', () => {
      wrapped = addition.wrapFetch?.(inner);
    });
    return typeof wrapped === 'function' ? (wrapped as Fetch) : inner;
  }, settings.fetch);
