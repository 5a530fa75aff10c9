import type { Context, Handler, Hono, MiddlewareHandler } from 'hono';
import type { Paging } from '../../spec/contract.ts';
import { type OperationName, operations } from '../../spec/operations.ts';
import type { Service } from '../service.ts';
import type { Env } from './access.ts';
import { isObject, type JsonObject, readBody } from './request-body.ts';

/** A segment with a parameter, such as `{id}` or `{id}.json`. */
const PARAMETER = /([^/{]*)\{(\w+)\}([^/]*)/g;

/**
 * Converts the path of an operation for the router: `{id}` to `:id`, and `{id}.json` to a pattern for the parameter
 * `id`.
 */
const routePath = (path: string): string =>
  path.replace(PARAMETER, (_, before: string, name: string, after: string) =>
    before || after ? `:${name}{${escaped(before)}[^/]+${escaped(after)}}` : `:${name}`,
  );

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Adds the route of an operation according to the contract of the sandbox. */
export function addRoute(app: Hono<Env>, service: Service, name: OperationName, ...handlers: Handler<Env>[]): void {
  const { method, path } = service.operations[name];
  const adapters: Handler<Env>[] = service.contract ? [adapt(service, name)] : [];
  app.on(method, [routePath(path)], ...adapters, ...handlers);
}

/**
 * Returns a path parameter of an operation. If the path in the contract omits the parameter, reads it from the query or
 * the body.
 */
export const paramOf = (context: Context<Env>, name: string): string | undefined =>
  context.get('params')?.[name] ?? context.req.param(name) ?? context.req.query(name);

/** Converts a request to the form that the routes expect, and the response to the form of the contract. */
const adapt =
  (service: Service, name: OperationName): MiddlewareHandler<Env> =>
  async (context, next) => {
    const { paging, waits, operations: overrides = {} } = service.contract ?? {};
    if (paging) context.set('paging', paging);
    context.set('bucketName', overrides[name]?.bucket);
    const { path } = service.operations[name];
    const isMoved = operations[name].path.includes('{id}') && !path.includes('{id}');
    const id = isMoved && context.req.method !== 'GET' ? idIn(await readBody(context)) : undefined;
    context.set('params', { ...paramsIn(path, context), ...(id !== undefined && { id }) });
    await next();
    if (context.res.status >= 300) return;
    const { data, ...rest } = await context.res.json();
    const cursor = context.get('nextCursor');
    const shown = waits?.via === 'get' && name.endsWith('.list') ? withoutStatus(data) : data;
    const placed = withValue(rest, overrides[name]?.data ?? 'data', service.localTimes(shown));
    const envelope =
      paging?.next === undefined || cursor === undefined ? placed : withValue(placed, paging.next, cursor);
    context.res = Response.json(envelope, { status: context.res.status });
  };

/** Returns the values of the parameters in a path. A parameter may be only a part of its segment. */
const paramsIn = (path: string, { req }: Context<Env>): Record<string, string> =>
  Object.fromEntries(
    [...path.matchAll(PARAMETER)].map(([, before = '', name = '', after = '']) => {
      const segment = req.param(name) ?? '';
      return [name, segment.slice(before.length, segment.length - after.length)];
    }),
  );

/** Returns the rows of a list without their status, like a service whose lists omit the status. */
const withoutStatus = (rows: unknown): unknown =>
  Array.isArray(rows) ? rows.map(({ status, ...row }: JsonObject) => row) : rows;

/** Returns the id in a body: in `id`, or in a field such as `audience_id`. */
function idIn(body: JsonObject | undefined): string | undefined {
  const [, id] = Object.entries(body ?? {}).find(([field]) => /^(?:\w+_)?id$/.test(field)) ?? [];
  return id === undefined ? undefined : String(id);
}

/** Returns a copy of an object with a value set at a path such as `data.items`. */
function withValue(object: JsonObject, path: string, value: unknown): JsonObject {
  const [key = '', ...keys] = path.split('.');
  const inner = object[key];
  return {
    ...object,
    [key]: keys.length === 0 ? value : withValue(isObject(inner) ? inner : {}, keys.join('.'), value),
  };
}

const PAGE_NUMBERS: Paging = { style: 'page', param: 'page', size: 'per_page' };

/** Default and maximum number of rows on a page of a list. */
interface PageBounds {
  readonly size: number;
  readonly cap: number;
}

/** Returns the requested page of a list, with at most `cap` rows. */
export function pageIn<T>(rows: readonly T[], context: Context<Env>, { size, cap }: PageBounds): T[] {
  const paging = context.get('paging') ?? PAGE_NUMBERS;
  const { style, param, maxSize = cap } = paging;
  const asked = paging.size === undefined ? undefined : count(context.req.query(paging.size));
  const perPage = Math.min(asked || size, cap, maxSize);
  const sent = context.req.query(param);
  const start = style === 'page' ? ((count(sent) || 1) - 1) * perPage : startOf(style, sent, rows.length);
  const end = start + perPage;
  if (style === 'cursor') context.set('nextCursor', end < rows.length ? `after-${end}` : null);
  return rows.slice(start, end);
}

/** Returns the number of rows before a page. For an unknown cursor, returns the number of all rows. */
function startOf(style: Paging['style'], sent: string | undefined, rows: number): number {
  if (sent === undefined) return 0;
  return style === 'offset' ? (count(sent) ?? 0) : (count(/^after-(\d+)$/.exec(sent)?.[1]) ?? rows);
}

const count = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
