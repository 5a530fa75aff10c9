import type { Paging, ServiceContract } from '../../../../src/spec/contract.ts';
import { type OperationName, operations } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject, valueAt } from '../../../../src/util/json.ts';
import { LISTED } from './emulation.ts';
import { setAt } from './exchange.ts';
import { ORIGIN } from './filled-account.ts';

/** One of two services that are to respond in the same way. */
export interface Side {
  readonly fetch: (input: string, init: RequestInit) => Promise<Response>;
  readonly token: string;
}

/** A response, as far as two services must agree on it. */
export interface Reply {
  readonly status: number;
  /** Names of headers that contain an id. */
  readonly headers: readonly string[];
  readonly envelope: JsonObject;
  /** The payload; of an array of one, the resource itself. */
  readonly payload: unknown;
}

/** Returns where an operation is, and where its payload is. */
export function placeOf({ operations: differing = {} }: ServiceContract, name: OperationName) {
  const { method = operations[name].method, path = operations[name].path, data = 'data' } = differing[name] ?? {};
  return { method, path, data };
}

const STANDARD: Paging = { style: 'page', param: 'page', size: 'per_page' };
const PAGE_ROWS = 2;

/** Sends the same requests to a service, one after another, and returns its replies by request. */
export async function repliesOf({ fetch, token }: Side, contract: ServiceContract): Promise<Record<string, Reply>> {
  const replies: Record<string, Reply> = {};
  const { paging = STANDARD } = contract;

  async function send(
    name: OperationName,
    id?: unknown,
    { query = '', body = {} } = {},
  ): Promise<Reply & { cursor: unknown }> {
    const { method, path, data } = placeOf(contract, name);
    const response = await fetch(`${ORIGIN}${path.replace('{id}', String(id))}${query}`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(method === 'POST' && { body: JSON.stringify(body) }),
    });
    const json: unknown = await response.json();
    const { message, ...envelope } = isObject(json) ? json : {};
    const placed = valueAt(envelope, data.split('.'));
    const payload = Array.isArray(placed) && placed.length === 1 ? placed[0] : placed;
    const cursor = paging.next === undefined ? undefined : valueAt(envelope, paging.next.split('.'));
    // Each service writes its cursors in its own way.
    const comparable = paging.next !== undefined && cursor ? setAt(envelope, paging.next, 'cursor') : envelope;
    const reply = {
      status: response.status,
      headers: [...response.headers.keys()].filter((header) => header.endsWith('-id')),
      envelope: placed === undefined ? comparable : setAt(comparable, data, payload),
      payload,
    };
    replies[`${Object.keys(replies).length + 1}. ${name}`] = reply;
    return { ...reply, cursor };
  }

  const queryOf = (position?: unknown): string => {
    const query = new URLSearchParams(paging.size === undefined ? {} : { [paging.size]: String(PAGE_ROWS) });
    if (position !== undefined) query.set(paging.param, String(position));
    return `?${query}`;
  };

  for (const kind of LISTED) {
    const first = await send(`${kind}.list`, undefined, { query: queryOf() });
    const second = { page: 2, offset: PAGE_ROWS, cursor: first.cursor ?? undefined }[paging.style];
    if (second !== undefined) await send(`${kind}.list`, undefined, { query: queryOf(second) });
    await send(`${kind}.get`, idOf(first.payload));
    await send(`${kind}.get`, 999_999);
  }
  const created = await send('projects.create', undefined, { body: { name: 'Autumn' } });
  await send('projects.delete', idOf(created.payload));
  return replies;
}

/** Returns the id of a resource, or of the first row. */
function idOf(payload: unknown): number {
  const first: unknown = Array.isArray(payload) ? payload[0] : payload;
  if (!isObject(first) || typeof first.id !== 'number')
    throw new Error(`There is no resource in ${JSON.stringify(payload)}`);
  return first.id;
}
