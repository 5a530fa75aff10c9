import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { AuthenticationError, type Credentials, type TokenSource, ValidationError } from 'audience-activation';
import { type Account, Accounts } from './accounts.ts';
import { type Session, Sessions } from './sessions.ts';

type Listener = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Creates the backend of the page, for `node:http`. It signs users in and forwards their calls to the service. The
 * service's tokens are valid for a year, so the browser gets short-lived tokens of the backend, which the backend
 * replaces by the account's token in the calls that it forwards.
 */
export function createBackend(serviceUrl: string): Listener {
  const sessions = new Sessions();
  const accounts = new Accounts(serviceUrl);
  /** Ends a session whose account the service refuses, for instance after a change of its password. */
  const endSession = (session: Session): void => {
    accounts.forget(session.account);
    sessions.close(session);
  };
  const routes: Readonly<Record<string, Route>> = {
    'GET /session': async ({ headers }, response) =>
      respond(response, 200, { email: sessions.find(headers.cookie)?.account.email ?? null }),
    'POST /session': (request, response) => signIn(request, response, { sessions, accounts }),
    async 'DELETE /session'({ headers }, response) {
      const session = sessions.find(headers.cookie);
      if (session) sessions.close(session);
      response.setHeader('set-cookie', Sessions.cookie(undefined));
      respond(response, 200, { email: null });
    },
    async 'GET /token'({ headers }, response) {
      const session = sessions.find(headers.cookie);
      if (session) respond(response, 200, sessions.issueToken(session));
      else respond(response, 401, { message: 'Nobody is signed in.' });
    },
  };
  return (request, response, next) => {
    // Use only path and query: a request line may contain another host, but every call must be sent to the service.
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const target = `${serviceUrl}${pathname}${search}`;
    const forwardCall: Route = async (...call) => {
      const session = sessions.bearer(request.headers.authorization);
      if (session && (await forward(target, session.account, ...call))) return;
      if (session) endSession(session);
      respond(response, 401, { message: 'Unauthenticated.' });
    };
    const route = pathname.startsWith('/api/v2/') ? forwardCall : routes[`${request.method} ${pathname}`];
    if (!route) return next();
    route(request, response).catch((error: unknown) => {
      // The caller has disconnected.
      if (response.destroyed) return;
      console.error(error);
      if (response.headersSent) response.destroy();
      else respond(response, 502, { status: 'error', code: 502, message: 'The service could not be reached.' });
    });
  };
}

/** Sends a JSON response. Bodies for the page's `AudienceClient` must have the format of the service's envelope. */
function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  { sessions, accounts }: { readonly sessions: Sessions; readonly accounts: Accounts },
): Promise<void> {
  const credentials = await readCredentials(request);
  if (!credentials) return respond(response, 400, { message: 'Email and password are needed.' });
  try {
    const session = sessions.open(await accounts.signIn(credentials));
    response.setHeader('set-cookie', Sessions.cookie(session));
    respond(response, 200, { email: credentials.email });
  } catch (error) {
    if (areRefused(error)) return respond(response, 401, { message: 'Email or password is wrong.' });
    if (!ValidationError.isInstance(error)) throw error;
    respond(response, 409, { message: 'This account has too many tokens.' });
  }
}

/** Returns `true` if the service has refused the credentials of an account. */
const areRefused = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (ValidationError.isInstance(error) && error.errors.email !== undefined);

/** Reads credentials from a JSON body; other content types are refused, because forms of other sites can send them. */
async function readCredentials(request: IncomingMessage): Promise<Credentials | undefined> {
  if (request.headers['content-type'] !== 'application/json') return undefined;
  const text = await readBody(request);
  const body: { email?: unknown; password?: unknown } | null = JSON.parse(text?.toString() || 'null');
  const { email, password } = body ?? {};
  return typeof email === 'string' && typeof password === 'string' ? { email, password } : undefined;
}

const MEBIBYTE = 1 << 20;

/** Reads the body; returns `undefined` if it is too long or its length is unknown. Files go directly to storage. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return Number(request.headers['content-length'] ?? Infinity) > MEBIBYTE ? undefined : buffer(request);
}

/** Headers that are forwarded to the service, and those that are returned. */
const REQUEST_HEADERS = ['accept', 'content-type', 'idempotency-key'] as const;
const RESPONSE_HEADERS = ['content-type', 'retry-after', 'x-request-id'] as const;

/** Forwards a call with the token of the account; returns `false` if the service refuses the account's tokens. */
async function forward(
  target: string,
  { token }: Account,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const isRead = request.method === 'GET';
  const body = isRead ? undefined : await readBody(request);
  if (!isRead && !body) {
    respond(response, 413, { status: 'error', code: 413, message: 'Too long.' });
    return true;
  }
  const disconnect = new AbortController();
  response.once('close', () => disconnect.abort());
  const send = (bearer: string): Promise<Response> =>
    fetch(target, {
      method: request.method ?? 'GET',
      headers: [...pick(REQUEST_HEADERS, (name) => request.headers[name]), ['authorization', `Bearer ${bearer}`]],
      ...(body && { body: Uint8Array.from(body) }),
      redirect: 'error',
      signal: disconnect.signal,
    });
  const received = await sendAuthorized(token, send, disconnect.signal);
  if (!received) return false;
  const bytes = await received.bytes();
  response.writeHead(received.status, Object.fromEntries(pick(RESPONSE_HEADERS, (name) => received.headers.get(name))));
  response.end(bytes);
  return true;
}

/** Sends a call, and again with a new token after a 401; returns `undefined` if the service refuses that one, too. */
async function sendAuthorized(
  source: TokenSource,
  send: (token: string) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    const rejected = await source.get({ signal });
    const first = await send(rejected);
    const final = first.status === 401 ? await send(await source.get({ rejected, signal })) : first;
    return final.status === 401 ? undefined : final;
  } catch (error) {
    if (areRefused(error)) return undefined;
    throw error;
  }
}

/** Returns the headers that are present. */
function pick<Name extends string>(
  names: readonly Name[],
  read: (name: Name) => string | string[] | null | undefined,
): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = read(name);
    return value === undefined || value === null ? [] : [[name, String(value)]];
  });
}
