import type { OperationName, Query } from '../operations.ts';
import type { Shape } from '../schemas/decode.ts';
import { decodeList } from '../schemas/decode.ts';
import { ApiPromise } from '../transport/api-promise.ts';
import { type Envelope, isObject } from '../transport/envelope.ts';
import type { PathParams } from '../transport/request.ts';
import type { RequestOptions } from '../transport/settings.ts';
import type { Transport } from '../transport/transport.ts';

/** Query of a list; paging by `page` and `per_page` is assumed. */
export interface ListParams {
  /** First page to fetch. @default 1 */
  readonly page?: number;
  /** Rows a page. @default the service's cap */
  readonly per_page?: number;
  readonly [more: string]: string | number | boolean | undefined;
}

/** One page of a list. */
export interface Page<T> {
  /** Rows not seen on an earlier page of the same walk. */
  readonly items: readonly T[];
  readonly page: number;
  readonly perPage: number;
  readonly envelope: Envelope;
  /** The next page, or `undefined` on the last one. A page that failed can be asked for again. */
  nextPage(): Promise<Page<T>> | undefined;
}

/** A list under way: awaited, its first page; iterated, every row of every page. */
export class PagePromise<T> extends ApiPromise<Page<T>> implements AsyncIterable<T> {
  /** Walks all rows; a page is requested when the walk reaches it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    let page: Page<T> | undefined = await this;
    while (page) {
      yield* page.items;
      page = await page.nextPage();
    }
  }
}

/** What a list is made of. */
export interface ListPlan<T> {
  readonly operation: OperationName;
  readonly shape: Shape<T>;
  /** The largest `per_page` the service accepts; also the default. */
  readonly cap: number;
  readonly path?: PathParams;
}

/** Starts a list at its first page. */
export function listPages<T>(
  transport: Transport,
  plan: ListPlan<T>,
  params: ListParams = {},
  options: RequestOptions = {},
): PagePromise<T> {
  return fetchPage(
    transport,
    plan,
    { ...params, page: params.page ?? 1, per_page: params.per_page ?? plan.cap },
    options,
    new Set(),
  );
}

type PageQuery = Query & { readonly page: number; readonly per_page: number };

function fetchPage<T>(
  transport: Transport,
  plan: ListPlan<T>,
  query: PageQuery,
  options: RequestOptions,
  seen: Set<unknown>,
): PagePromise<T> {
  const call = transport.start<Page<T>>(plan.operation, {
    ...(plan.path && { params: plan.path }),
    query,
    options,
    invalid: pageErrors(query, plan.cap),
    async decode(data, context) {
      const rows = await decodeList(plan.shape)(data, context);
      const items = rows.filter((row) => !seen.has(keyOf(row)));
      const full = rows.length >= query.per_page;
      if (full && items.length === 0) {
        throw context.fail(`page ${query.page} is full of rows already seen: the service seems to ignore \`page\``);
      }
      for (const item of items) seen.add(keyOf(item));
      const next = (): Promise<Page<T>> =>
        Promise.resolve(fetchPage(transport, plan, { ...query, page: query.page + 1 }, options, seen));
      return {
        items,
        page: query.page,
        perPage: query.per_page,
        envelope: context.envelope,
        nextPage: full ? shared(next) : () => undefined,
      };
    },
  });
  return new PagePromise(call);
}

/** Asked twice, a page is fetched once; after a failure it is fetched anew. */
function shared<P>(fetch: () => Promise<P>): () => Promise<P> {
  let current: Promise<P> | undefined;
  return () => {
    if (!current) {
      const started = fetch();
      started.catch(() => {
        current = undefined;
      });
      current = started;
    }
    return current;
  };
}

const keyOf = (row: unknown): unknown => (isObject(row) && row.id !== undefined ? row.id : JSON.stringify(row));

function pageErrors({ page, per_page }: PageQuery, cap: number): Record<string, string[]> {
  const wrong = (value: number, most: number): boolean => !Number.isInteger(value) || value < 1 || value > most;
  return {
    ...(wrong(page, Number.MAX_SAFE_INTEGER) && { page: ['must be an integer from 1.'] }),
    ...(wrong(per_page, cap) && { per_page: [`must be an integer from 1 to ${cap}.`] }),
  };
}
