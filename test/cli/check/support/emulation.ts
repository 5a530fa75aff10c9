import type { Sandbox } from '../../../../src/sandbox/index.ts';
import type { ServiceContract } from '../../../../src/spec/contract.ts';
import { type OperationName, operations } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject, parseJson } from '../../../../src/util/json.ts';
import { type Answer, type Call, json, mapStrings, setAt, type Trait } from './exchange.ts';
import { ORIGIN } from './filled-account.ts';
import { type PagingRules, pageOf } from './paging.ts';
import { type Route, sandboxPath } from './routes.ts';

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

/** Kinds of resources that can be listed. */
export const LISTED = ['audiences', 'activations', 'cohorts', 'projects', 'schedules'] as const;

/** Response headers of the emulated service that reach the caller. */
const PASSED_HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'x-request-id', 'allow'];

/** The service behind the differences, and the contract in front of it. */
export class Emulation {
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
    if (operation === undefined) throw new Error('Unknown operation.');
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
