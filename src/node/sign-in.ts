import type { IncomingMessage, ServerResponse } from 'node:http';
import { checkNames } from '../client/option-names.ts';
import { TimeoutError } from '../errors/call-errors.ts';
import { OAuthError } from '../errors/oauth-errors.ts';
import type { OAuthClient } from '../oauth/oauth-types.ts';
import { AbortScope, abortable } from '../util/abort.ts';
import { checkNumbers } from '../util/input-checks.ts';
import { type LoopbackServer, listenOnLoopback, readLoopbackUri } from './loopback-server.ts';
import { type Answer, failed, NOT_ALLOWED, NOT_FOUND, SIGNED_IN, send, UNKNOWN } from './sign-in-pages.ts';

/** How long the user may take. Milliseconds. */
const SIGN_IN_TIMEOUT = 300_000;

/** Options of {@link signInWithBrowser}. */
export interface SignInOptions {
  /** Is told the address to open. What it throws ends the sign-in. @default a line on stderr */
  readonly onUrl?: ((url: string) => unknown) | undefined;
  /** Whether the browser of this machine is opened; without one, the address has been told. @default true */
  readonly open?: boolean | undefined;
  /** How long the user may take, in milliseconds; the service itself waits ten minutes at most. @default 300000 */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NAMES: Readonly<Record<keyof SignInOptions, true>> = { onUrl: true, open: true, timeout: true, signal: true };

/**
 * Signs the user in by the browser of this machine: opens the page of consent, and listens at the `redirectUri` of
 * the client for what comes back. A `redirectUri` without a port stands for a free one; `localhost` stands for
 * 127.0.0.1 and, where there is one, for ::1.
 *
 * @throws {OAuthError} when the user or the authorization server refuses, with `access_denied` for instance.
 * @throws {TimeoutError} `sign-in-timeout` when nobody has signed in within `timeout`.
 * @throws {ConfigurationError} for a `redirectUri` that is not of this machine, or whose port is in use.
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
  const { onUrl = print, open = true, timeout = SIGN_IN_TIMEOUT, signal } = options;
  checkNames(options, NAMES, 'signInWithBrowser');
  checkNumbers(options, ['timeout']);
  const redirectUri = readLoopbackUri(oauth.redirectUri);
  signal?.throwIfAborted();
  const life = new AbortScope({ parent: signal, ms: timeout, reason: () => tooLate(timeout) });
  const desk = new Desk(oauth, redirectUri, life);
  let server: LoopbackServer | undefined;
  try {
    server = await listenOnLoopback(redirectUri, (request, response) => void desk.respond(request, response));
    const step = { redirectUri: server.address, signal: life.signal };
    const { url } = await abortable(oauth.authorize(step), life.signal);
    Promise.resolve(onUrl(url)).catch((error) => desk.end(error));
    if (open) void openBrowser(url);
    await abortable(desk.ended, life.signal);
  } finally {
    life.dispose();
    await server?.close();
  }
}

/** What became of an address: the answer to the browser, and what it means for the sign-in. */
interface Taken {
  readonly answer: Answer;
  settle(): void;
}

/** Takes what the browser brings back, until that ends the sign-in. */
class Desk {
  readonly #oauth: Pick<OAuthClient, 'callback'>;
  readonly #redirectUri: URL;
  readonly #life: AbortScope;
  readonly #end = Promise.withResolvers<void>();
  readonly #underWay = new Map<string, Promise<Taken>>();

  constructor(oauth: Pick<OAuthClient, 'callback'>, redirectUri: URL, life: AbortScope) {
    this.#oauth = oauth;
    this.#redirectUri = redirectUri;
    this.#life = life;
    // It may fail before it is waited for.
    this.#end.promise.catch(() => {});
  }

  get ended(): Promise<void> {
    return this.#end.promise;
  }

  end(error: unknown): void {
    this.#end.reject(error);
  }

  /** Answers on the path of the redirect URI alone. */
  async respond({ method, url: target = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = target.startsWith('/') ? new URL(`${this.#redirectUri.origin}${target}`) : undefined;
    if (url?.pathname !== this.#redirectUri.pathname) return send(response, NOT_FOUND);
    if (method !== 'GET') return send(response, NOT_ALLOWED);
    const { answer, settle } = await this.#takeOnce(url);
    await send(response, answer);
    settle();
  }

  /** A browser that asks twice for the same address gets the same answer. */
  #takeOnce(url: URL): Promise<Taken> {
    const { href } = url;
    const taken = this.#underWay.get(href) ?? this.#take(url).finally(() => this.#underWay.delete(href));
    this.#underWay.set(href, taken);
    return taken;
  }

  async #take(url: URL): Promise<Taken> {
    try {
      await this.#oauth.callback(url, { signal: this.#life.signal });
      // The tokens are there: no timeout or abort takes them back.
      this.#life.dispose();
      return { answer: SIGNED_IN, settle: this.#end.resolve };
    } catch (error) {
      // Anybody on this machine can send such an address: the right one may still come.
      if (OAuthError.isInstance(error) && error.error === 'state_mismatch') return { answer: UNKNOWN, settle() {} };
      return { answer: failed(error), settle: () => this.end(error) };
    }
  }
}

function print(url: string): void {
  console.error(`Open this address to sign in: ${url}`);
}

/** Opens the browser, as far as there is one. */
async function openBrowser(url: string): Promise<void> {
  try {
    // Many sign-ins are never made: it is loaded with the first one.
    const { default: launch } = await import('open');
    const launcher = await launch(url);
    launcher.on('error', () => {});
  } catch {
    // The address has been told.
  }
}

function tooLate(timeout: number): TimeoutError {
  const message = `Nobody has signed in within ${timeout} ms (\`timeout\`): call \`signInWithBrowser\` again.`;
  return new TimeoutError(message, { code: 'sign-in-timeout', operation: 'signInWithBrowser', attempts: 1 });
}
