import { createSandbox, type Sandbox } from '../../../../src/sandbox/index.ts';
import type { OperationName } from '../../../../src/spec/operations.ts';
import { isObject, parseJson } from '../../../../src/util/json.ts';
import { Emulation, LISTED, type ServiceDefinition } from './emulation.ts';
import { type Answer, type Call, json, page, type Surroundings } from './exchange.ts';
import { accountState, NO_LIMITS, ORIGIN, OWNER } from './filled-account.ts';
import { findRoute, routesOf } from './routes.ts';
import { Timeline } from './timeline.ts';

/** A request that a variant service received. */
export interface LoggedRequest {
  /** Where it was sent: to the API, to the storage of files, or elsewhere. */
  readonly to: 'api' | 'storage' | 'elsewhere';
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
  /** Milliseconds of the virtual clock. */
  readonly time: number;
  readonly hadToken: boolean;
  readonly operation: OperationName | undefined;
  /** Status of the response; 0 for none. */
  status: number;
}

/** A resource of the account, as far as nobody may change it. */
interface Kept {
  readonly kind: string;
  readonly id: number;
  readonly name: unknown;
  readonly created: unknown;
}

/** A variant service that runs in process. */
export interface RunningVariant {
  readonly baseUrl: string;
  readonly token: string;
  readonly mcpToken: string;
  readonly fetch: typeof fetch;
  /** Virtual time: sleeping moves it forward. */
  readonly clock: Timeline['clock'];
  readonly requests: readonly LoggedRequest[];
  /** The service behind its differences. */
  readonly sandbox: Sandbox;
  /** Returns all resources of the account. */
  resources(): Promise<Kept[]>;
  close(): Promise<void>;
}

const REQUEST_ID = 'x-request-id';

const notFound = ({ path }: Call): Answer =>
  json(404, { status: 'error', code: 404, message: `The route ${path.slice(1)} could not be found.`, data: [] });
const corsAnswer = (): Answer => ({ status: 204, headers: { 'access-control-allow-methods': 'GET,POST' }, body: '' });

/** Starts a service. */
export async function startVariant(definition: ServiceDefinition = {}): Promise<RunningVariant> {
  const {
    contract = {},
    missing,
    unknown = notFound,
    options = corsAnswer,
    isFilled = true,
    basePath = '',
  } = definition;
  const sandbox = createSandbox({
    clock: 'manual',
    origin: ORIGIN,
    state: await accountState(isFilled),
    limits: NO_LIMITS,
    jobs: { devices: 5_000 },
    deliver: async () => new Response(null, { status: 200 }),
  });
  const account = sandbox.accounts.get(OWNER.email);
  const own = account.token('login');
  const valid = account.token('api');
  const routes = routesOf({ operations: { ...contract.operations, ...definition.unsettable } }, missing);
  const timeline = new Timeline(sandbox);
  const traits = (definition.traits ?? []).map((create) => create());
  const requests: LoggedRequest[] = [];
  const host = new URL(ORIGIN).host;

  const emulated = new Emulation(sandbox, definition, traits);
  const perform = async (call: Call): Promise<Answer> => {
    if (call.method === 'OPTIONS') return options(call, routes);
    if (/^\/(?:oauth|\.well-known)\//.test(call.path)) return emulated.send(call, call.path);
    if (call.operation === undefined) return unknown(call, routes);
    return emulated.respond(traits.reduce((read, trait) => trait.read?.(read) ?? read, call));
  };
  const surroundings: Surroundings = { timeline, perform };

  async function serve(call: Call): Promise<Answer> {
    for (const trait of traits) {
      const answer = await trait.answer?.(call, surroundings);
      if (answer) return answer;
    }
    return traits.reduce((answer, trait) => trait.write?.(answer, call) ?? answer, await perform(call));
  }

  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const body = request.method === 'PUT' ? undefined : parseJson(await request.clone().text());
    const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : undefined;
    const route = path === undefined ? undefined : findRoute(routes, request.method, path);
    const entry: LoggedRequest = {
      to: url.host === host ? 'api' : url.host === `storage.${host}` ? 'storage' : 'elsewhere',
      method: request.method,
      path: path ?? url.pathname,
      query: url.search,
      body,
      time: sandbox.now(),
      hadToken: request.headers.has('authorization'),
      operation: route?.operation,
      status: 0,
    };
    requests.push(entry);
    if (entry.to === 'elsewhere') throw new TypeError('fetch failed');
    const response =
      entry.to === 'storage'
        ? await storage(request)
        : toResponse(
            path === undefined
              ? page(404, 'Not Found')
              : await serve({
                  method: request.method,
                  path,
                  query: url.searchParams,
                  headers: request.headers,
                  body,
                  operation: route?.operation,
                  params: route?.params ?? {},
                  signal: request.signal,
                }),
          );
    entry.status = response.status;
    return response;
  }

  async function storage(request: Request): Promise<Response> {
    for (const trait of traits) {
      const response = trait.storage?.(request);
      if (response) return response;
    }
    return sandbox.fetch(request);
  }

  function toResponse({ status, headers, body }: Answer): Response {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const { [REQUEST_ID]: id = `own_${requests.length}`, ...rest } = headers;
    return new Response([204, 304].includes(status) ? null : text, {
      status,
      headers: { date: new Date(sandbox.now()).toUTCString(), [contract.requestIdHeader ?? REQUEST_ID]: id, ...rest },
    });
  }

  async function send(request: Request): Promise<Response> {
    const { signal } = request;
    signal.throwIfAborted();
    const response = await timeline.handle(() => raceWithAbort(handle(request), signal));
    const location = response.headers.get('location');
    if (location === null || response.status < 300 || response.status > 399 || request.redirect === 'manual')
      return response;
    if (request.redirect === 'error') throw new TypeError('fetch failed');
    return send(new Request(new URL(location, request.url), { headers: request.headers, signal }));
  }

  return {
    baseUrl: `${ORIGIN}${basePath}`,
    token: definition.token ?? valid,
    mcpToken: account.token('mcp'),
    fetch: async (input, init) => send(new Request(input, init)),
    clock: timeline.clock,
    requests,
    sandbox,
    async resources() {
      const lists = await Promise.all(
        LISTED.map(async (kind) => {
          const rows = await emulated.rows(`${kind}.list`, {}, new Headers({ authorization: `Bearer ${own}` }));
          const kept = (Array.isArray(rows) ? rows : []).filter(isObject);
          return kept.map(({ id, name, description, created_at: created }) => ({
            kind,
            id: Number(id),
            name: name ?? description,
            created,
          }));
        }),
      );
      return lists.flat();
    },
    close: () => sandbox.close(),
  };
}

/** Rejects as soon as the signal aborts, as `fetch` does. */
async function raceWithAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
