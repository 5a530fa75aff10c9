import { NotFoundError } from '../../errors/api-errors.ts';
import { check } from '../../errors/audience-error.ts';
import type { Paging } from '../../spec/contract.ts';
import type { OperationName, PathParams } from '../../spec/operations.ts';
import type { Envelope } from '../../spec/wire-values.ts';
import { checkOptionNames, formatValue, refuseOddQuery } from '../../util/input-checks.ts';
import { isObject } from '../../util/json.ts';
import type { DeleteCount } from '../http/client-state.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import { ApiPromise } from '../http/transport.ts';
import { type DecodeContext, decodeList } from '../schemas/decode.ts';
import { listQuerySchema } from '../schemas/queries.ts';
import type { ResourceSchema } from '../schemas/shared-schemas.ts';
import { type MovingPage, type PageMoment, totalOf, walkPages } from './list-movement.ts';
import { warnOfMisspeltFields } from './misspelt-fields.ts';
import { largestPage, nextStart, type PageQuery, type PageStart, queryOf, startBefore, startOf } from './paging.ts';

/** Query of a list. The paging parameters are assumed. */
export interface ListParams {
  /** First page to fetch. @default 1 */
  readonly page?: number | undefined;
  /**
   * Rows per page. At most 100; for reference tables, at most 500; for apps, no maximum.
   *
   * @default 100 rows; reference tables: 500 rows; apps: 250 rows
   */
  readonly per_page?: number | undefined;
}

/** One page of a list. */
export interface Page<T> {
  /** Rows of this page that no earlier page contained. */
  readonly items: readonly T[];
  /** Number of the page, from 1. */
  readonly page: number;
  /** Requested number of rows per page. The last page may have fewer. */
  readonly perPage: number;
  /** Envelope of the response, with the rows as the service sent them. */
  readonly envelope: Envelope;
  /**
   * Fetches the next page, which may be empty. Returns `undefined` on the last page. Later calls return the same
   * promise, unless the request failed.
   */
  nextPage(): Promise<Page<T>> | undefined;
}

/** A pending list. Await it for the first page, or iterate over it for the rows of all pages. */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  /**
   * Iterates over all rows. The client requests each page when the iteration reaches it. Of earlier pages, it keeps
   * only the ids of the rows in memory (for reference tables, the content). You can delete rows with this client during
   * the iteration: if you await each delete request, the iteration skips no rows. If others delete rows, the iteration
   * can skip one row per deleted row, unless the service returns a total and lists new rows first.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    yield* walkPages(movingPage(await this));
  }

  /**
   * Resolves with all rows, or with the first `limit` rows. The client requests only the necessary pages.
   *
   * @param options Maximum number of rows.
   *
   * @example
   * const newest = await client.audiences.list().toArray({ limit: 250 });
   *
   * @throws {ConfigurationError} if `limit` is not an integer of 0 or more.
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<T[]> {
    const { limit = Number.POSITIVE_INFINITY } = Object(options);
    try {
      checkOptionNames(options, '`toArray`', ['limit']);
      check(
        typeof limit === 'number' && limit >= 0 && !(limit % 1 > 0),
        `\`limit\` of \`toArray\` must be an integer of 0 or more, not ${formatValue(limit)}.`,
      );
    } catch (error) {
      // Mark the rejection of the first page's request as handled.
      this.catch(() => {});
      throw error;
    }
    const rows: T[] = [];
    for await (const row of this) {
      if (rows.length < limit) rows.push(row);
      if (rows.length >= limit) break;
    }
    return rows;
  }
}

/** How the client fetches a list. */
export interface ListPlan<T> {
  readonly operation: OperationName;
  readonly schema: ResourceSchema<T>;
  /** The largest `per_page` that the service accepts. */
  readonly cap: number;
  /** Rows per page by default. @default the cap */
  readonly size?: number;
  /** True if rows have no `id`, so that their entire content identifies them. @default false */
  readonly hasNoIds?: boolean;
  readonly path?: PathParams;
}

/** Fetches a page `back` pages before the next page. Drops rows whose keys are in `seen`. */
type FetchPage<T> = (seen: Set<unknown>, back: number) => Promise<Page<T>>;

/** The parts that all pages of a list share. */
interface List<T> {
  readonly transport: Transport;
  readonly plan: ListPlan<T>;
  readonly params: ListParams | undefined;
  readonly options: RequestOptions | undefined;
  readonly first: number;
  readonly deletes: DeleteCount;
}

/** A page to fetch, with data about earlier pages to detect the end of the list. */
interface PageTask {
  readonly query: PageQuery;
  readonly start: PageStart;
  /** Keys of the rows of the previous pages. */
  readonly seen: Set<unknown>;
  /** Number of rows of the longest previous page. */
  readonly longest: number;
  /** Number of consecutive previous pages with only known rows. Negative while the iteration reads pages again. */
  readonly repeats: number;
}

/**
 * Number of consecutive pages with only known rows after which a list counts as ended. One such page can occur when new
 * rows push the rows of an earlier page to the next page.
 */
const MAX_REPEATED_PAGES = 2;

/** Fetches the first page of a list, or the page in `params`. */
export function listPages<T>(
  transport: Transport,
  plan: ListPlan<T>,
  params: ListParams | undefined,
  options: RequestOptions | undefined,
): PagePromise<T> {
  const { paging } = transport.settings;
  const cap = largestPage(plan.cap, paging);
  const { page = 1, per_page = Math.min(plan.size ?? cap, cap), ...rest } = params ?? {};
  const query = { ...rest, page, per_page };
  const start = startOf(page, per_page, paging);
  const deletes = transport.state.deletesOf(plan.operation.replace(/\w+$/, 'delete'));
  const list: List<T> = { transport, plan, params, options, first: page, deletes };
  return fetchPage(list, { query, start, seen: new Set(), longest: 0, repeats: 0 });
}

function fetchPage<T>(list: List<T>, task: PageTask): PagePromise<T> {
  const { transport, plan, params, options } = list;
  const { query, start } = task;
  const { paging } = transport.settings;
  const decodeRows = decodeList(plan.schema);
  const requested = { ...list.deletes };
  return new PagePromise(
    transport.start<Page<T>>(plan.operation, {
      ...(plan.path && { params: plan.path }),
      ...(options && { options }),
      query: queryOf(query, start, paging),
      validate: () => {
        if (params !== undefined) refuseOddQuery('params', params);
        warnOfMisspeltFields(plan.operation, query, listQuerySchema, transport);
        return pageErrors(query, largestPage(plan.cap, paging), start);
      },
      decode: async (data, context) => {
        const at = { requested, sent: list.deletes.sent, total: totalOf(context.envelope) };
        return pageOf(list, task, await decodeRows(data, context), context, at);
      },
    }),
  );
}

/** Returns the page with `rows`, without the rows seen before. */
function pageOf<T>(
  list: List<T>,
  task: PageTask,
  rows: readonly T[],
  context: DecodeContext,
  at: PageMoment,
): ListPage<T> {
  const { query, seen } = task;
  const { envelope } = context;
  const keyOf = list.plan.hasNoIds ? contentOf : idOf;
  const keys = rows.map(keyOf);
  const items = rows.filter((_, at) => isNew(keys[at], seen));
  const repeats = items.length > 0 ? 0 : task.repeats + (rows.length > 0 ? 1 : 0);
  const { paging } = list.transport.settings;
  const start = nextStart(task.start, rows.length, paging, envelope);
  const isLast = isLastPage(list, { ...task, start, repeats }, rows.length, context);
  const longest = Math.max(task.longest, rows.length);
  const fetch: FetchPage<T> = (seenBefore, back) => {
    for (const key of keys) seenBefore.add(key);
    const nextQuery = { ...query, page: query.page + 1 - back };
    const from =
      back > 0 ? { start: startBefore(task.start, back - 1, longest, paging), repeats: -back } : { start, repeats };
    return fetchPage(list, { query: nextQuery, seen: seenBefore, longest, ...from }).catch((error) => {
      // A page with fewer rows than requested may be the last page, after which some services respond with 404.
      const mayNotExist = back > 0 || rows.length < query.per_page;
      if (!mayNotExist || !NotFoundError.isInstance(error)) throw error;
      const none = { ...moving, items: [], keys: [], isLast: true, before: nextQuery.page - list.first };
      return new ListPage<T>(none, nextQuery, { ...envelope, data: [] }, fetch, seenBefore);
    });
  };
  const moving: MovingPage<T> = {
    items,
    keys,
    at,
    deletes: list.deletes,
    isLast,
    size: paging.style === 'cursor' ? 0 : longest,
    before: query.page - list.first,
    fetch: async (...args) => movingPage(await fetch(...args)),
  };
  return new ListPage<T>(moving, query, envelope, fetch, seen);
}

/**
 * Returns whether a page is the last page. Throws or warns if the service seems to ignore the parameter that selects
 * the page.
 */
function isLastPage<T>(list: List<T>, task: PageTask, rows: number, context: DecodeContext): boolean {
  const { query, start, seen, longest, repeats } = task;
  const { paging } = list.transport.settings;
  if (start === undefined || isShort(rows, query, longest, paging)) return true;
  if (repeats === MAX_REPEATED_PAGES) {
    const problem = `seems to have no effect: page ${query.page} repeats earlier rows. If rows are missing, set \`contract.paging\``;
    if (rows >= query.per_page) throw context.fail(`\`${paging.param}\` ${problem}`);
    context.warn(list.plan.operation, paging.param, problem);
  }
  if (rows > 0) return repeats >= MAX_REPEATED_PAGES;
  // An empty page may still have a cursor for the next page. Stop at a repeated cursor.
  return paging.style !== 'cursor' || !isNew(`cursor ${start}`, seen);
}

/** Maximum numbers of rows per page that services commonly have. */
const COMMON_PAGE_SIZES: readonly number[] = [10, 15, 20, 25, 30, 50, 100, 200, 250];

/** Returns whether a page has fewer rows than an earlier page, or than requested. */
function isShort(rows: number, { per_page }: PageQuery, longest: number, { style, size, maxSize }: Paging): boolean {
  // With cursors, any page may be short.
  if (style === 'cursor') return false;
  if (longest > 0) return rows < longest;
  // Without a size parameter and a maximum, the size of a full page is unknown.
  if (size === undefined && maxSize === undefined) return false;
  return rows < per_page && !COMMON_PAGE_SIZES.includes(rows);
}

type KeyOf = (row: unknown) => unknown;

const contentOf: KeyOf = (row) => JSON.stringify(row);
const idOf: KeyOf = (row) => (isObject(row) && typeof row.id === 'number' ? row.id : contentOf(row));

/** Adds a key to the seen keys. Returns whether the key is new. */
function isNew(key: unknown, seen: Set<unknown>): boolean {
  const { size } = seen;
  return seen.add(key).size > size;
}

function movingPage<T>(page: Page<T>): MovingPage<T> {
  if (page instanceof ListPage) return page.moving;
  throw new TypeError('Only a page of this client can be iterated.');
}

/** A page that can fetch the next page. */
class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly perPage: number;
  readonly envelope: Envelope;
  readonly #moving: MovingPage<T>;
  readonly #fetchNext: () => Promise<Page<T>>;
  #next: Promise<Page<T>> | undefined;

  constructor(
    moving: MovingPage<T>,
    { page, per_page }: PageQuery,
    envelope: Envelope,
    fetch: FetchPage<T>,
    seen: Set<unknown>,
  ) {
    this.items = moving.items;
    this.page = page;
    this.perPage = per_page;
    this.envelope = envelope;
    this.#moving = moving;
    this.#fetchNext = () => fetch(seen, 0);
  }

  get moving(): MovingPage<T> {
    return this.#moving;
  }

  nextPage(): Promise<Page<T>> | undefined {
    if (this.#moving.isLast) return undefined;
    this.#next ??= this.#fetchNext();
    this.#next.catch(() => {
      this.#next = undefined;
    });
    return this.#next;
  }
}

function pageErrors({ page, per_page }: PageQuery, cap: number, start: PageStart): Record<string, string[]> {
  const isWrong = (value: number, max: number): boolean => !Number.isInteger(value) || value < 1 || value > max;
  return {
    ...(isWrong(page, Number.MAX_SAFE_INTEGER) && {
      page: [`must be an integer of 1 or more, not ${formatValue(page)}.`],
    }),
    ...(start === undefined && page > 1 && { page: ['must be 1, because the service pages with a cursor.'] }),
    ...(isWrong(per_page, cap) && { per_page: [`must be an integer from 1 to ${cap}, not ${formatValue(per_page)}.`] }),
  };
}
