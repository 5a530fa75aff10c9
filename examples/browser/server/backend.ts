import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { AuthenticationError, type Credentials, type TokenSource, ValidationError } from 'audience-activation';
import { type Account, Accounts } from './accounts.ts';
import { type Session, Sessions } from './sessions.ts';

type Listener = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * The backend of the page, for `node:http`: it signs people in, and passes their calls on to the service.
 * The service's tokens live for a year, so the browser gets short ones of this backend, which are
 * swapped here.
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
      answer(response, 200, { email: sessions.find(headers.cookie)?.account.email ?? null }),
    'POST /session': (request, response) => signIn(request, response, { sessions, accounts }),
    async 'DELETE /session'({ headers }, response) {
      const session = sessions.find(headers.cookie);
      if (session) sessions.close(session);
      response.setHeader('set-cookie', Sessions.cookie(undefined));
      answer(response, 200, { email: null });
    },
    async 'GET /token'({ headers }, response) {
      const session = sessions.find(headers.cookie);
      if (session) answer(response, 200, sessions.issueToken(session));
      else answer(response, 401, { message: 'Nobody is signed in.' });
    },
  };
  return (request, response, next) => {
    // Whatever host a request line names, the call goes to the service.
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const target = `${serviceUrl}${pathname}${search}`;
    const passOn: Route = async (...call) => {
      const session = sessions.bearer(request.headers.authorization);
      if (session && (await pass(target, session.account, ...call))) return;
      if (session) endSession(session);
      answer(response, 401, { message: 'Unauthenticated.' });
    };
    const route = pathname.startsWith('/api/v2/') ? passOn : routes[`${request.method} ${pathname}`];
    if (!route) return next();
    route(request, response).catch((error: unknown) => {
      // Who has left wants no answer.
      if (response.destroyed) return;
      console.error(error);
      if (response.headersSent) response.destroy();
      else answer(response, 502, { status: 'error', code: 502, message: 'The service could not be reached.' });
    });
  };
}

/** In the shape of the service's envelope where the client reads it. */
function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}

async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  { sessions, accounts }: { readonly sessions: Sessions; readonly accounts: Accounts },
): Promise<void> {
  const credentials = await readCredentials(request);
  if (!credentials) return answer(response, 400, { message: 'Email and password are needed.' });
  try {
    const session = sessions.open(await accounts.signIn(credentials));
    response.setHeader('set-cookie', Sessions.cookie(session));
    answer(response, 200, { email: credentials.email });
  } catch (error) {
    if (areWrong(error)) return answer(response, 401, { message: 'Email or password is wrong.' });
    if (!ValidationError.isInstance(error)) throw error;
    answer(response, 409, { message: 'This account holds too many tokens.' });
  }
}

/** Whether the service refuses the credentials of an account. */
const areWrong = (error: unknown): boolean =>
  AuthenticationError.isInstance(error) || (ValidationError.isInstance(error) && error.errors.email !== undefined);

/** JSON only: a form of another site could send anything else. */
async function readCredentials(request: IncomingMessage): Promise<Credentials | undefined> {
  if (request.headers['content-type'] !== 'application/json') return undefined;
  const text = await readBody(request);
  const body: { email?: unknown; password?: unknown } | null = JSON.parse(text?.toString() || 'null');
  const { email, password } = body ?? {};
  return typeof email === 'string' && typeof password === 'string' ? { email, password } : undefined;
}

const MEBIBYTE = 1 << 20;

/** The whole body; nothing for one of unknown length or too long. Files do not come here: they go to storage. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return Number(request.headers['content-length'] ?? Infinity) > MEBIBYTE ? undefined : buffer(request);
}

/** Headers that are passed on to the service, and back. */
const THERE = ['accept', 'content-type', 'idempotency-key'] as const;
const BACK = ['content-type', 'retry-after', 'x-request-id'] as const;

/** Passes a call on under the account's own token; `false` where the service refuses the account. */
async function pass(
  target: string,
  { token }: Account,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const reads = request.method === 'GET';
  const body = reads ? undefined : await readBody(request);
  if (!reads && !body) {
    answer(response, 413, { status: 'error', code: 413, message: 'Too long.' });
    return true;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const send = (bearer: string): Promise<Response> =>
    fetch(target, {
      method: request.method ?? 'GET',
      headers: [...pick(THERE, (name) => request.headers[name]), ['authorization', `Bearer ${bearer}`]],
      ...(body && { body: Uint8Array.from(body) }),
      redirect: 'error',
      signal: gone.signal,
    });
  const answered = await authorized(token, send, gone.signal);
  if (!answered) return false;
  const bytes = await answered.bytes();
  response.writeHead(answered.status, Object.fromEntries(pick(BACK, (name) => answered.headers.get(name))));
  response.end(bytes);
  return true;
}

/** Sends a call, after a 401 once more with a new token; `undefined` where the service refuses that, too. */
async function authorized(
  source: TokenSource,
  send: (token: string) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    const rejected = await source.get({ signal });
    const first = await send(rejected);
    const answered = first.status === 401 ? await send(await source.get({ rejected, signal })) : first;
    return answered.status === 401 ? undefined : answered;
  } catch (error) {
    if (areWrong(error)) return undefined;
    throw error;
  }
}

/** Those headers that are there. */
function pick<Name extends string>(
  names: readonly Name[],
  read: (name: Name) => string | string[] | null | undefined,
): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = read(name);
    return value === undefined || value === null ? [] : [[name, String(value)]];
  });
}
