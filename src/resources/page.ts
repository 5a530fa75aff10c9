import { NotFoundError } from '../errors/api-errors.ts';
import { check } from '../errors/audience-error.ts';
import type { DecodeContext, Envelope, RequestOptions, Transport } from '../http/index.ts';
import { ApiPromise } from '../http/index.ts';
import type { ResourceSchema } from '../schemas/common.ts';
import { decodeList } from '../schemas/decode.ts';
import { warnOfMisspeltFields } from '../schemas/misspelt-fields.ts';
import { listQuerySchema } from '../schemas/queries.ts';
import type { OperationName, PathParams, Query } from '../spec/operations.ts';
import { checkOptionNames, refusePromises } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';

/** Query of a list: paging by `page` and `per_page` (assumed). */
export interface ListParams {
  /** First page to fetch. @default 1 */
  readonly page?: number | undefined;
  /** Rows per page. @default the service's cap */
  readonly per_page?: number | undefined;
}

/** One page of a list. */
export interface Page<T> {
  /** Rows of this page that no earlier page has shown. */
  readonly items: readonly T[];
  /** Number of the page, from 1. */
  readonly page: number;
  /** Rows per page that were requested; the last page may have fewer. */
  readonly perPage: number;
  /** Envelope of the response, with the rows as the service sent them. */
  readonly envelope: Envelope;
  /** Fetches the next page; further calls return the same promise, unless it failed. `undefined` on the last page. */
  nextPage(): Promise<Page<T>> | undefined;
}

/** A list in progress: awaited, it resolves with its first page; iterated, it yields every row of every page. */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  /** Iterates over all rows; a page is requested when the iteration reaches it and released when it is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    let page: Page<T> | undefined = await this;
    const seen = new Set<unknown>();
    while (page) {
      yield* page.items;
      page = page instanceof ListPage ? await page.fetchNext(seen) : undefined;
    }
  }

  /**
   * Resolves with the rows of all pages, or with the first `limit` of them; no page is requested that is not needed.
   *
   * @param options Maximum number of rows.
   *
   * @example
   * const newest = await client.audiences.list().toArray({ limit: 250 });
   *
   * @throws ConfigurationError if `limit` is not an integer from 0
   */
  async toArray(options: { readonly limit?: number | undefined } = {}): Promise<T[]> {
    const { limit = Number.POSITIVE_INFINITY } = Object(options);
    try {
      checkOptionNames(options, '`toArray`', ['limit']);
      check(
        typeof limit === 'number' && limit >= 0 && !(limit % 1 > 0),
        '`limit` of `toArray` must be an integer from 0.',
      );
    } catch (error) {
      // The first page has been requested already.
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

/** How a list is fetched. */
export interface ListPlan<T> {
  readonly operation: OperationName;
  readonly schema: ResourceSchema<T>;
  /** The largest `per_page` that the service accepts. */
  readonly cap: number;
  /** Rows per page by default. @default the cap */
  readonly size?: number;
  /** True if rows are identified by their entire content instead of by `id`. @default false */
  readonly hasNoIds?: boolean;
  readonly path?: PathParams;
}

type PageQuery = Query & { readonly page: number; readonly per_page: number };

/** Fetches a page of a list; rows whose keys are in `seen` are dropped. */
type FetchPage<T> = (query: PageQuery, seen: Set<unknown>) => PagePromise<T>;

/** Fetches the first page of a list, or the one that `params` name. */
export function listPages<T>(
  transport: Transport,
  plan: ListPlan<T>,
  params: ListParams | undefined,
  options: RequestOptions | undefined,
): PagePromise<T> {
  const keyOf = plan.hasNoIds ? contentOf : idOf;
  const decodeRows = decodeList(plan.schema);
  const fetchPage = (query: PageQuery, seen: Set<unknown>, longest = 0): PagePromise<T> =>
    new PagePromise(
      transport.start<Page<T>>(plan.operation, {
        ...(plan.path && { params: plan.path }),
        ...(options && { options }),
        query,
        validate: () => {
          refusePromises('params', params);
          warnOfMisspeltFields(plan.operation, query, listQuerySchema, transport);
          return pageErrors(query, plan.cap);
        },
        decode: async (data, context) => {
          const rows = await decodeRows(data, context);
          const items = newRows(rows, query, { seen, keyOf, context });
          const isLast = items.length === 0 || isShort(rows.length, query.per_page, longest);
          const next: FetchPage<T> = (query, seen) => fetchPage(query, seen, Math.max(longest, rows.length));
          return new ListPage(items, query, context.envelope, { seen, keyOf, ...(!isLast && { fetchPage: next }) });
        },
      }),
    );
  const { page = 1, per_page = plan.size ?? plan.cap, ...rest } = params ?? {};
  return fetchPage({ ...rest, page, per_page }, new Set());
}

/** Numbers of rows to which services commonly reduce a page. */
const COMMON_PAGE_SIZES: readonly number[] = [10, 15, 20, 25, 30, 50, 100, 200, 250];

/** Returns whether a page has fewer rows than a page can have: than an earlier one had, or than were requested. */
function isShort(rows: number, requested: number, longest: number): boolean {
  if (longest > 0) return rows < longest;
  return rows < requested && !COMMON_PAGE_SIZES.includes(rows);
}

type KeyOf = (row: unknown) => unknown;

const contentOf: KeyOf = (row) => JSON.stringify(row);
const idOf: KeyOf = (row) => (isObject(row) && typeof row.id === 'number' ? row.id : contentOf(row));

/** Returns the rows whose keys are not in `seen`, and adds these keys to it. */
function newRows<T>(
  rows: T[],
  { page, per_page }: PageQuery,
  { seen, keyOf, context }: { readonly seen: Set<unknown>; readonly keyOf: KeyOf; readonly context: DecodeContext },
): T[] {
  const items = [...new Map(rows.map((row) => [keyOf(row), row])).entries()].filter(([key]) => !seen.has(key));
  if (rows.length >= per_page && items.length === 0) {
    throw context.fail(
      `page ${page} is full of rows that earlier pages have shown: the service seems to ignore \`page\``,
    );
  }
  for (const [key] of items) seen.add(key);
  return items.map(([, row]) => row);
}

/** A page that can fetch the next one. */
class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly perPage: number;
  readonly envelope: Envelope;
  readonly #query: PageQuery;
  readonly #seen: Set<unknown>;
  readonly #keyOf: KeyOf;
  readonly #fetchPage: FetchPage<T> | undefined;
  #next: Promise<Page<T>> | undefined;

  /** Without `fetchPage` it is the last page. */
  constructor(
    items: T[],
    query: PageQuery,
    envelope: Envelope,
    list: { readonly seen: Set<unknown>; readonly keyOf: KeyOf; readonly fetchPage?: FetchPage<T> },
  ) {
    this.items = items;
    this.page = query.page;
    this.perPage = query.per_page;
    this.envelope = envelope;
    this.#query = query;
    this.#seen = list.seen;
    this.#keyOf = list.keyOf;
    this.#fetchPage = list.fetchPage;
  }

  /** Fetches the next page for one iteration, which has its own set of rows seen so far. */
  async fetchNext(seen: Set<unknown>): Promise<Page<T> | undefined> {
    for (const row of this.items) seen.add(this.#keyOf(row));
    try {
      return await this.#fetchPage?.({ ...this.#query, page: this.page + 1 }, seen);
    } catch (error) {
      // A page with fewer rows than requested may have been the last one: some services have no page after it.
      if (this.items.length < this.perPage && NotFoundError.isInstance(error)) return undefined;
      throw error;
    }
  }

  nextPage(): Promise<Page<T>> | undefined {
    if (!this.#fetchPage) return undefined;
    if (!this.#next) {
      const next = this.#fetchPage({ ...this.#query, page: this.page + 1 }, this.#seen);
      next.catch(() => {
        this.#next = undefined;
      });
      this.#next = next;
    }
    return this.#next;
  }
}

function pageErrors({ page, per_page }: PageQuery, cap: number): Record<string, string[]> {
  const isWrong = (value: number, max: number): boolean => !Number.isInteger(value) || value < 1 || value > max;
  return {
    ...(isWrong(page, Number.MAX_SAFE_INTEGER) && { page: ['must be an integer from 1.'] }),
    ...(isWrong(per_page, cap) && { per_page: [`must be an integer from 1 to ${cap}.`] }),
  };
}
