import type { Paging, ServiceContract } from '../../../../src/spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { sleep } from '../../../../src/util/abort.ts';
import { isObject, parseJson } from '../../../../src/util/json.ts';

/** Origin of every service. */
export const ORIGIN = 'https://canary-host.example';
/** Part of every text of the account: none may leave it. */
export const CANARY = /canary/i;
/** Token of the account. */
export const TOKEN = 'canary-token-8c1f';

export const LISTED = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'] as const;

/** A request, as a service understands it. */
export interface Call {
  readonly method: string;
  /** Path below the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: unknown;
  /** The operation that the service has at this method and path. */
  readonly operation: OperationName | undefined;
  readonly id: string;
}

/** A response: JSON, or the text of a page. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** One way in which a service differs. A new one is created for each service, because it may count requests. */
export interface Trait {
  /** Answers a request instead of the service. */
  answer?(call: Call, service: Service): Answer | undefined;
  /** Changes what the service reads of a request. */
  read?(call: Call): Call;
  /** Changes each resource and each row of a list. */
  resource?(resource: JsonObject, call: Call): JsonObject;
  /** Changes a response. */
  write?(answer: Answer, call: Call): Answer;
}

/** A service that differs from the assumptions: data, and small functions for what data cannot say. */
export interface ServiceDefinition {
  /** The differences that a contract can have. */
  readonly contract?: ServiceContract;
  readonly missing?: readonly OperationName[];
  readonly traits?: readonly (() => Trait)[];
  readonly paging?: PagingRules;
  /** Answers requests that no route matches. @default a 404 in the envelope */
  readonly unknown?: (call: Call) => Answer;
  /** `false` for an account without resources. @default true */
  readonly isFilled?: boolean;
  readonly basePath?: string;
  readonly token?: string;
}

/** How a service pages, beyond what a contract says. */
interface PagingRules {
  readonly refusesLarge?: boolean;
  /** Has pages of the usual size only, whatever is requested. */
  readonly isFixed?: boolean;
  /** Rows that a list has at most. */
  readonly total?: number;
  readonly firstPage?: number;
  nextLink?(cursor: string): unknown;
}

/** A request that a service received. */
export interface LoggedRequest extends Call {
  readonly time: number;
  readonly isElsewhere: boolean;
}

export const json = (status: number, body: unknown): Answer => ({ status, body });
export const failure = (status: number, message: string, fields: object = {}): Answer =>
  json(status, { status: 'error', code: status, message: `${message} (Canary Holdings)`, data: [], ...fields });
export const page = (status: number, title: string): Answer => ({
  status,
  body: `<html><h1>${title} CANARY</h1></html>`,
});
export const success = (data: unknown): Answer =>
  json(200, { status: 'success', code: 200, message: 'OK (Canary Holdings).', data });

/** Returns a response with other fields in its JSON body. */
export const withBody = (answer: Answer, change: (body: JsonObject) => unknown): Answer =>
  isObject(answer.body) ? { ...answer, body: change(answer.body) } : answer;

const START = Date.UTC(2026, 10, 9, 12, 12, 44);
const DAY = 86_400_000;
const text = (time: number): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ');

/** Runs in process, in virtual time. */
export class Service {
  readonly #definition: ServiceDefinition;
  readonly #traits: readonly Trait[];
  readonly #keys = new Map<string, { readonly body: string; readonly answer: Answer }>();
  readonly lists: Record<string, JsonObject[]>;
  readonly requests: LoggedRequest[] = [];
  /** Milliseconds by which its clock is ahead of the machine's. */
  readonly #ahead = START - Date.now();
  #delay = 0;
  #lastId = 1_000;

  constructor(definition: ServiceDefinition = {}) {
    this.#definition = definition;
    this.#traits = (definition.traits ?? []).map((create) => create());
    this.lists = definition.isFilled === false ? Object.fromEntries(LISTED.map((kind) => [kind, []])) : filledLists();
  }

  get baseUrl(): string {
    return `${ORIGIN}${this.#definition.basePath ?? ''}`;
  }

  get token(): string {
    return this.#definition.token ?? TOKEN;
  }

  get now(): number {
    return Date.now() + this.#ahead;
  }

  /** Holds the response to the current request back. */
  hold(ms: number): void {
    this.#delay = ms;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const { basePath = '', contract = {} } = this.#definition;
    const path = url.pathname.startsWith(basePath) ? url.pathname.slice(basePath.length) : url.pathname;
    const route = this.#routeOf(request.method, path);
    const call: Call = {
      method: request.method,
      path,
      query: url.searchParams,
      headers: request.headers,
      body: parseJson(await request.text()),
      operation: route?.operation,
      id: route?.id ?? '',
    };
    this.requests.push({ ...call, time: this.now, isElsewhere: url.origin !== ORIGIN });
    this.#delay = 0;
    const answer = this.#traits.reduce((one, trait) => trait.write?.(one, call) ?? one, this.#answer(call));
    if (this.#delay > 0) await sleep(this.#delay, request.signal);
    const isText = typeof answer.body === 'string';
    const body = isText ? String(answer.body) : JSON.stringify(answer.body);
    return new Response([204, 304].includes(answer.status) ? null : body, {
      status: answer.status,
      headers: {
        'content-type': isText ? 'text/html' : 'application/json',
        date: new Date(this.now).toUTCString(),
        [contract.requestIdHeader ?? 'x-request-id']: `req_${this.requests.length}`,
        ...answer.headers,
      },
    });
  };

  #routeOf(method: string, path: string): { readonly operation: OperationName; readonly id: string } | undefined {
    const { contract = {}, missing = [] } = this.#definition;
    const names = Object.keys(operations).filter(isOperationName);
    // Routes without an id come first.
    for (const hasId of [false, true]) {
      for (const operation of names.filter((name) => !missing.includes(name))) {
        const assumed = operations[operation];
        const { method: own = assumed.method, path: template = assumed.path } = contract.operations?.[operation] ?? {};
        const [start = '', end] = template.split(/\{\w+\}/);
        const isMatch =
          path.startsWith(start) && path.endsWith(end ?? '') && path.length >= start.length + (end ?? '').length;
        const id = path.slice(start.length, path.length - (end ?? '').length);
        if (own !== method || hasId !== (end !== undefined) || operation === 'reference.list') continue;
        if (hasId ? isMatch && id !== '' && !id.includes('/') : path === template) return { operation, id };
      }
    }
    return undefined;
  }

  #answer(call: Call): Answer {
    if (call.headers.get('authorization') !== `Bearer ${TOKEN}`) return failure(401, 'Unauthenticated.');
    for (const trait of this.#traits) {
      const answer = trait.answer?.(call, this);
      if (answer) return answer;
    }
    return this.perform(call);
  }

  /** Acts on a request, as the service would without the trait that asks. */
  perform(call: Call): Answer {
    const { unknown = () => failure(404, `The route ${call.path.slice(1)} could not be found.`) } = this.#definition;
    if (call.operation === undefined) return unknown(call);
    const read = this.#traits.reduce((one, trait) => trait.read?.(one) ?? one, call);
    const key = read.headers.get('idempotency-key');
    const earlier = key === null ? undefined : this.#keys.get(key);
    if (earlier && earlier.body === JSON.stringify(read.body)) return earlier.answer;
    if (earlier) return failure(409, 'The key was used with a different body.');
    const answer = this.#act(read);
    if (key !== null && answer.status === 200) this.#keys.set(key, { body: JSON.stringify(read.body), answer });
    return answer;
  }

  #act(call: Call): Answer {
    const { operation = 'usage.get', id, body, query } = call;
    const [namespace = '', verb = ''] = operation.split('.');
    const kind = namespace === 'lookalikes' ? 'audiences' : namespace;
    const rows = this.lists[kind] ?? [];
    const index = rows.findIndex((row) => String(row.id) === id);
    if (operation === 'usage.get') return this.#usage(query.get('yearmonth') ?? '2026-11');
    if (operation === 'webhooks.list')
      return this.#place(call, [
        { ...WEBHOOK, id: 5 },
        { ...WEBHOOK, id: 6 },
      ]);
    if (operation === 'uploads.reserve') return this.#place(call, RESERVATION);
    if (verb === 'list') return this.#page(call, rows);
    if (verb === 'create') return this.#create(call, kind, body);
    const row = rows[index];
    if (!row) return failure(404, 'Resource not found.');
    if (verb === 'delete') this.lists[kind] = rows.filter((other) => other !== row);
    return verb === 'delete' ? success([]) : this.#one(call, row);
  }

  #create(call: Call, kind: string, body: unknown): Answer {
    const { name } = Object(body);
    if (typeof name !== 'string') return failure(422, 'Invalid.', { errors: { name: ['The name is required.'] } });
    const row = { id: ++this.#lastId, ...Object(body), created_at: text(this.now) };
    this.lists[kind] = [row, ...(this.lists[kind] ?? [])];
    return this.#one(call, row);
  }

  /** Returns one resource: an array, unless the contract has its place. */
  #one(call: Call, row: JsonObject): Answer {
    const shown = this.#shown(row, call);
    return this.#place(call, this.#placeOf(call) === undefined ? [shown] : shown);
  }

  #shown(row: JsonObject, call: Call): JsonObject {
    const zone = this.#definition.contract?.serverTimeZone;
    const shift = (value: unknown): unknown =>
      zone !== undefined && typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:/.test(value)
        ? text(Date.parse(`${value.replace(' ', 'T')}Z`) + offsetOf(zone))
        : value;
    const shifted = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, shift(value)]));
    return this.#traits.reduce((one, trait) => trait.resource?.(one, call) ?? one, shifted);
  }

  #placeOf = ({ operation }: Call): string | undefined =>
    operation && this.#definition.contract?.operations?.[operation]?.data;

  #place(call: Call, data: unknown, next?: unknown): Answer {
    const place = this.#placeOf(call) ?? 'data';
    const cursor = this.#definition.contract?.paging?.next;
    return withBody(success(undefined), (body) => {
      const placed = setAt(body, place, data);
      return cursor === undefined || next === undefined ? placed : setAt(placed, cursor, next);
    });
  }

  #page(call: Call, all: readonly JsonObject[]): Answer {
    const { contract = {}, paging: rules = {} } = this.#definition;
    const { style, param, size: sizeParam, maxSize = 100 }: Paging = contract.paging ?? ASSUMED;
    const { refusesLarge = false, isFixed = false, firstPage = 1, nextLink = (cursor) => cursor } = rules;
    const rows = all.slice(0, rules.total);
    const asked = isFixed || sizeParam === undefined ? null : call.query.get(sizeParam);
    const size = Number(asked ?? Math.min(25, maxSize));
    if (!Number.isInteger(size) || size < 1 || (refusesLarge && size > maxSize))
      return failure(422, 'Invalid.', { errors: { [sizeParam ?? '']: ['The size is invalid.'] } });
    const count = Math.min(size, maxSize);
    const position = call.query.get(param);
    const at = {
      cursor: () => Number(atob(position ?? '')),
      offset: () => Number(position),
      page: () => (Number(position) - firstPage) * count,
    };
    const start = position === null ? 0 : at[style]();
    const end = start + count;
    const shown = rows.slice(start, end).map((row) => {
      const { status, ...rest } = this.#shown(row, call);
      return contract.waits?.via === 'get' || status === undefined ? rest : { ...rest, status };
    });
    return this.#place(call, shown, end < rows.length ? nextLink(btoa(String(end))) : null);
  }

  #usage(month: string): Answer {
    if (!/^\d{4}-\d\d$/.test(month) || month > '2026-11')
      return failure(422, 'Invalid.', { errors: { yearmonth: ['The yearmonth is invalid.'] } });
    const budget = { hour: { limit: 60, used: 0 }, day: { limit: 300, used: 4 }, retry_after_seconds: null };
    return success({ yearmonth: month, build_budget: budget, counts: {} });
  }
}

const ASSUMED: Paging = { style: 'page', param: 'page', size: 'per_page' };

const WEBHOOK = {
  name: 'CANARY webhook',
  url: 'https://canary-host.example/hook',
  events: ['audience.completed'],
  schema_version: 1,
  is_active: true,
  last_delivery_at: null,
  created_at: text(START - 20 * DAY),
  updated_at: text(START - 20 * DAY),
};

const RESERVATION = {
  reference: 'upl_canary',
  url: 'https://storage.canary-host.example/uploads/upl_canary?signature=canary',
  expires_at: '2026-11-09T12:27:44+00:00',
};

/** Returns the lists of an account in which most jobs ended twelve days ago, and two still run. */
function filledLists(): Record<string, JsonObject[]> {
  const OLD = text(START - 13 * DAY);
  let id = 200;
  const make = (count: number, fields: (index: number) => object): JsonObject[] =>
    Array.from({ length: count }, (_, index) => ({ id: --id, name: `CANARY ${id}`, ...fields(index) }));
  const shared = { project: null, created_at: OLD, updated_at: OLD };
  const completed = { id: 104, name: 'Completed' };
  const needsInfo = { id: 107, name: 'Needs Info' };
  return {
    audiences: make(131, (index) => ({
      status: index < 2 ? { id: 100, name: 'Queued' } : index % 10 === 0 ? needsInfo : completed,
      is_lookalike: index > 5 && index < 11,
      results_count: 5_000,
      ...shared,
      ...(index < 6 && { created_at: text(START - DAY), updated_at: text(START - DAY) }),
    })),
    activations: make(4, (index) => ({
      name: undefined,
      description: 'CANARY activation',
      status: index === 1 ? needsInfo : completed,
      partner: { name: 'CANARY', description: 'CANARY' },
      ...shared,
    })),
    cohorts: make(3, (index) => ({
      status: index === 0 ? { id: 5, name: 'Not Available' } : { id: 4, name: 'Completed' },
      source: 'upload',
      ...shared,
    })),
    projects: make(4, () => ({ description: 'CANARY', created_at: OLD })),
    schedules: make(2, () => ({ description: 'CANARY', replays: 0 })),
  };
}

/** Sets what is at a path such as `data.items`, in a copy. */
function setAt(target: JsonObject, path: string, value: unknown): JsonObject {
  const [key = '', ...rest] = path.split('.');
  const inner = target[key];
  return { ...target, [key]: rest.length === 0 ? value : setAt(isObject(inner) ? inner : {}, rest.join('.'), value) };
}

/** Returns the milliseconds by which a zone with a fixed offset is ahead of UTC. */
function offsetOf(zone: string): number {
  const [, sign, hours = 0, minutes = 0] = /([+-])(\d+)(?::(\d\d))?$/.exec(zone) ?? [];
  // The signs of Etc zones are those of POSIX: west is positive.
  const isAhead = (sign === '+') !== zone.startsWith('Etc/');
  return (isAhead ? 1 : -1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
