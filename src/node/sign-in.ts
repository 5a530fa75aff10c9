import type { IncomingMessage, ServerResponse } from 'node:http';
import { TimeoutError } from '../errors/call-errors.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { OAuthClient } from '../oauth/index.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { booleanOption, functionOption, nonNegative, optionChecker, signalOption } from '../util/options.ts';
import { type LoopbackServer, listenOnLoopback, readLoopbackUri } from './loopback-server.ts';
import * as pages from './sign-in-pages.ts';

const SIGN_IN_TIMEOUT_MS = 300_000;

/** Options of {@link signInWithBrowser}. */
export interface SignInOptions {
  /**
   * Called with the address to open. If `onUrl` throws or rejects, the sign-in fails.
   * @default prints the address to standard error
   */
  readonly onUrl?: ((url: string) => unknown) | undefined;
  /** Opens the address in the browser of this machine, with the optional package `open`. @default true */
  readonly open?: boolean | undefined;
  /**
   * Milliseconds within which the user must sign in. The authorization expires after ten minutes.
   * @default 300000 ms (5 minutes)
   */
  readonly timeout?: number | undefined;
  /** Signal that aborts the sign-in. The promise rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const checkOptions = optionChecker<SignInOptions>('signInWithBrowser', {
  onUrl: functionOption,
  open: booleanOption,
  timeout: nonNegative,
  signal: signalOption,
});

/**
 * Signs the user in with the browser of this machine. Opens the consent page with the optional package `open`; without
 * it, the user opens the address that `onUrl` receives. Listens on the client's `redirectUri` for the browser's
 * redirect. If the URI has no port, listens on a free port. For `localhost`, listens on 127.0.0.1 and, if available, on
 * ::1.
 *
 * @throws {OAuthError} if the user or the authorization server refuses, for example with `access_denied`.
 * @throws {TimeoutError} `sign-in-timeout` if the user does not sign in within `timeout`.
 * @throws {ConfigurationError} for a `redirectUri` that is not on this machine, or whose port is in use.
 *
 * @example
 * const store = fileTokenStore('./token.json');
 * const oauth = createOAuthClient({ baseUrl, redirectUri: 'http://127.0.0.1/callback', store });
 * await signInWithBrowser(oauth);
 * console.log((await oauth.get()).length);
 */
export async function signInWithBrowser(
  oauth: Pick<OAuthClient, 'redirectUri' | 'authorize' | 'callback'>,
  options: SignInOptions = {},
): Promise<void> {
  const { onUrl = printUrl, open = true, timeout = SIGN_IN_TIMEOUT_MS, signal } = checkOptions(options);
  const redirectUri = readLoopbackUri(oauth.redirectUri);
  signal?.throwIfAborted();
  const scope = new AbortScope({ parents: [signal], ms: timeout, reason: () => timeoutError(timeout) });
  const { signIn, handle } = createCallbackHandler(oauth, redirectUri, scope);
  let server: LoopbackServer | undefined;
  try {
    server = await listenOnLoopback(redirectUri, (request, response) => void handle(request, response));
    const authorization = { redirectUri: server.address, signal: scope.signal };
    const { url } = await abortable(oauth.authorize(authorization), scope.signal);
    Promise.resolve(onUrl(url)).catch((error) => signIn.reject(error));
    if (open) void openBrowser(url);
    await abortable(signIn.promise, scope.signal);
  } finally {
    scope.dispose();
    await server?.close();
  }
}

/** The result of a callback: a page for the browser, and `settle`, which is called after the page was sent. */
interface CallbackResult {
  readonly page: pages.Page;
  settle(): void;
}

/** Handles the browser's requests until a request completes the sign-in. */
function createCallbackHandler(oauth: Pick<OAuthClient, 'callback'>, redirectUri: URL, scope: AbortScope) {
  const signIn = Promise.withResolvers<void>();
  // Avoid an unhandled rejection: the promise may reject before the caller awaits it.
  signIn.promise.catch(() => {});
  const pending = new Map<string, Promise<CallbackResult>>();

  async function callback(url: URL): Promise<CallbackResult> {
    try {
      await oauth.callback(url, { signal: scope.signal });
      // The tokens are stored, so a later timeout or abort must not fail the sign-in.
      scope.dispose();
      return { page: pages.SIGNED_IN, settle: signIn.resolve };
    } catch (error) {
      // Keep waiting after a callback with a wrong `state`, which any program on this machine can send.
      const isForged = OAuthError.isInstance(error) && error.error === 'state_mismatch';
      if (isForged) return { page: pages.UNKNOWN_SIGN_IN, settle() {} };
      return { page: pages.failedPage(error), settle: () => signIn.reject(error) };
    }
  }

  /** Handles GET requests for the path of the redirect URI. Refuses all other requests. */
  async function handle({ method, url: target = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = target.startsWith('/') ? new URL(`${redirectUri.origin}${target}`) : undefined;
    if (url?.pathname !== redirectUri.pathname) return pages.sendPage(response, pages.NOT_FOUND);
    if (method !== 'GET') return pages.sendPage(response, pages.NOT_ALLOWED);
    const { href } = url;
    // While a request is pending, a second request for the same address shares its result.
    const result = pending.get(href) ?? callback(url).finally(() => pending.delete(href));
    pending.set(href, result);
    const { page, settle } = await result;
    await pages.sendPage(response, page);
    settle();
  }

  return { signIn, handle };
}

const printUrl = (url: string): void => console.error(`Open this address to sign in: ${url}`);

/** Opens the browser, if the machine has a browser and `open` is installed. */
async function openBrowser(url: string): Promise<void> {
  try {
    // Import inside `try`, because only there do bundlers accept an optional package that is not installed.
    const { default: launch } = await import('open');
    const launcher = await launch(url);
    launcher.on('error', () => {});
  } catch {
    // Ignore the failure: the user can open the address that `onUrl` received.
  }
}

function timeoutError(timeout: number): TimeoutError {
  const message = `The user did not sign in within ${timeout} ms (\`timeout\`).`;
  const advice =
    'Call `signInWithBrowser` again. If the page in the browser said that the client is unknown, call `forget()` first.';
  return new TimeoutError(message, { code: 'sign-in-timeout', operation: 'signInWithBrowser', attempts: 1, advice });
}
