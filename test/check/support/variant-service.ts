import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { type OperationName, operations } from '../../../src/spec/operations.ts';
import { isObject, type JsonObject, parseJson } from '../../../src/util/json.ts';
import { type Answer, type Call, json, mapStrings, page, type Surroundings, setAt, type Trait } from './exchange.ts';
import { accountState, NO_LIMITS, ORIGIN, OWNER } from './filled-account.ts';
import { type PagingRules, pageOf } from './paging.ts';
import { findRoute, type Route, routesOf, sandboxPath } from './routes.ts';
import { Timeline } from './timeline.ts';

/** A service that differs from the assumptions: data, and small functions for what data cannot say. */
export interface ServiceDefinition {
  /** The differences that a settings file can hold. */
  readonly contract?: ServiceContract;
  /** Operations at paths that a settings file cannot have, because they need a function. */
  readonly unsettable?: ServiceContract['operations'];
  /** Operations that the service does not have. */
  readonly missing?: readonly OperationName[];
  /** Further differences, each created for one run. */
  readonly traits?: readonly (() => Trait)[];
  readonly paging?: PagingRules;
  /** Answers requests that no route matches, OPTIONS excluded. @default a 404 in the envelope */
  readonly unknown?: (call: Call, routes: readonly Route[]) => Answer;
  /** Answers OPTIONS. @default 204 for every path, as CORS middleware does */
  readonly options?: (call: Call, routes: readonly Route[]) => Answer;
  /** `false` for an account without resources. @default true */
  readonly isFilled?: boolean;
  /** Path in the base URL. @default none */
  readonly basePath?: string;
  /** Token to use instead of a valid one. */
  readonly token?: string;
}

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

/** Kinds of resources that can be listed. */
export const LISTED = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'] as const;

/** Response headers of the emulated service that reach the caller. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'x-request-id', 'allow'];
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

/** The service behind the differences, and the contract in front of it. */
class Emulation {
  readonly #sandbox: Sandbox;
  readonly #definition: ServiceDefinition;
  readonly #traits: readonly Trait[];

  constructor(sandbox: Sandbox, definition: ServiceDefinition, traits: readonly Trait[]) {
    this.#sandbox = sandbox;
    this.#definition = definition;
    this.#traits = traits;
  }

  /** Sends a request to the emulated service. */
  async send(
    { method, headers, body, query }: Pick<Call, 'method' | 'headers' | 'body' | 'query'>,
    path: string,
  ): Promise<Answer> {
    const passed = ['accept', 'authorization', 'content-type', 'idempotency-key', 'mcp-protocol-version'];
    const sent = passed.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? '']] : []));
    const response = await this.#sandbox.fetch(`${ORIGIN}${path}?${query}`, {
      method,
      headers: Object.fromEntries(sent),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: Object.fromEntries(
        PASSED_HEADERS.flatMap((name) =>
          response.headers.has(name) ? [[name, response.headers.get(name) ?? '']] : [],
        ),
      ),
      body: parseJson(text) ?? text,
    };
  }

  /** Returns all rows of a list, whatever its pages; another answer than a success is returned as it is. */
  async rows(operation: OperationName, params: Call['params'], headers: Headers): Promise<readonly unknown[] | Answer> {
    const accept = new Headers(headers);
    if (!accept.has('accept')) accept.set('accept', 'application/json');
    const size = operation === 'reference.list' ? 250 : 100;
    const rows: unknown[] = [];
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ page: String(page), per_page: String(size) });
      const answer = await this.send(
        { method: 'GET', headers: accept, body: undefined, query },
        sandboxPath(operation, params),
      );
      const data = isObject(answer.body) ? answer.body.data : undefined;
      if (answer.status !== 200 || !Array.isArray(data)) return answer;
      rows.push(...data);
      if (data.length < size) return rows;
    }
  }

  /** Answers a request of an operation by the contract. */
  async respond(call: Call): Promise<Answer> {
    const { operation } = call;
    if (operation === undefined) throw new Error('There is no such operation.');
    if (operations[operation].reads === 'json-rpc') return this.send(call, sandboxPath(operation, call.params));
    const isPaged = operation === 'reference.list' || LISTED.some((kind) => operation === `${kind}.list`);
    const answer = isPaged ? await this.#list(call, operation) : await this.#single(call, operation);
    return this.#localize(answer);
  }

  async #list(call: Call, operation: OperationName): Promise<Answer> {
    const { contract = {}, paging } = this.#definition;
    const all = await this.rows(operation, call.params, call.headers);
    if (!('length' in all)) return all;
    const isReference = operation === 'reference.list';
    const result = pageOf(all, call.query, contract.paging, isReference ? { ...paging, size: 500 } : paging);
    if (!('rows' in result)) return result;
    const drop = contract.waits?.via === 'get';
    const rows = result.rows.filter(isObject).map((row) => {
      const { status, ...rest } = this.#change(row, call);
      return drop || status === undefined ? rest : { ...rest, status };
    });
    const envelope = this.#place({ status: 'success', code: 200, message: 'List retrieved.' }, operation, rows);
    const next = contract.paging?.next;
    return json(200, next === undefined ? envelope : setAt(envelope, next, result.next));
  }

  async #single(call: Call, operation: OperationName): Promise<Answer> {
    const { method } = operations[operation];
    const answer = await this.send({ ...call, method }, sandboxPath(operation, call.params));
    if (!isObject(answer.body) || answer.status !== 200) return answer;
    const { data, ...envelope } = answer.body;
    const isPlaced = this.#definition.contract?.operations?.[operation]?.data !== undefined;
    const changed = Array.isArray(data) ? data.filter(isObject).map((entry) => this.#change(entry, call)) : data;
    const one = isPlaced && Array.isArray(changed) && changed.length === 1 ? changed[0] : changed;
    return { ...answer, body: this.#place(envelope, operation, one) };
  }

  #change(resource: JsonObject, call: Call): JsonObject {
    return this.#traits.reduce((changed, trait) => trait.resource?.(changed, call) ?? changed, resource);
  }

  #place(envelope: JsonObject, operation: OperationName, data: unknown): JsonObject {
    return setAt(envelope, this.#definition.contract?.operations?.[operation]?.data ?? 'data', data);
  }

  /** Shows times in the zone of the service, and has messages name the account. */
  #localize(answer: Answer): Answer {
    const zone = this.#definition.contract?.serverTimeZone;
    if (!isObject(answer.body)) return answer;
    const { message, ...rest } = answer.body;
    const shifted = zone === undefined ? rest : mapStrings(rest, (text) => shift(text, offsetOf(zone)));
    return { ...answer, body: { ...Object(shifted), message: `${message} (Canary Holdings)` } };
  }
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Returns the milliseconds by which a zone is ahead of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^(?:Etc\/GMT)?([+-])(\d+)(?::(\d\d))?$/.exec(zone) ?? [];
  if (hours === undefined) throw new Error(`${zone} is not an offset.`);
  // The signs of Etc zones are those of POSIX: west is positive.
  const isAhead = zone.startsWith('Etc/') ? sign === '-' : sign === '+';
  return (isAhead ? 1 : -1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const shift = (text: string, offset: number): string =>
  TIMESTAMP.test(text)
    ? new Date(Date.parse(`${text.replace(' ', 'T')}Z`) + offset).toISOString().slice(0, 19).replace('T', ' ')
    : text;

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
