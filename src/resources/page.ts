import { ApiPromise } from '../http/api-promise.ts';
import type { DecodeContext } from '../http/decode-context.ts';
import type { Envelope } from '../http/envelope.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import type { Shape } from '../schemas/decode.ts';
import { decodeList } from '../schemas/decode.ts';
import type { OperationName, PathParams, Query } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';

/** Paging of a list, by `page` and `per_page` (assumed). */
export interface ListFields {
  /** First page to fetch. @default 1 */
  readonly page?: number | undefined;
  /** Rows a page. @default the service's cap */
  readonly per_page?: number | undefined;
  /** It is `per_page`, as the service spells it. */
  readonly perPage?: undefined;
}

/** Query of a list. */
export interface ListParams extends ListFields {
  readonly [more: string]: Query[string];
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
  /** Walks all rows; a page is requested when the walk reaches it, and forgotten when it is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    const first = await this;
    const seen = first instanceof ListPage ? first.keys() : new Set<unknown>();
    for (let page: Page<T> | undefined = first; page; page = await following(page, seen)) yield* page.items;
  }
}

/** What a list is made of. */
export interface ListPlan<T> {
  readonly operation: OperationName;
  readonly shape: Shape<T>;
  /** The largest `per_page` the service accepts. */
  readonly cap: number;
  /** Rows a page unless asked for otherwise. @default the cap */
  readonly size?: number;
  /** Whether rows are told apart by all they hold, because an id may not be theirs alone. @default false */
  readonly anonymous?: boolean;
  readonly path?: PathParams;
}

type PageQuery = Query & { readonly page: number; readonly per_page: number };

/** The rows seen in a walk, and on its second page the length of a first one that may have been cut. */
interface Walk {
  readonly seen: Set<unknown>;
  /** What tells a row from others. */
  readonly key: (row: unknown) => unknown;
  readonly cut?: number;
}

type Fetch<T> = (query: PageQuery, walk: Walk) => PagePromise<T>;

/** Servers cut pages to round numbers: a first page of such a length may not be the last. */
const isRound = (rows: number): boolean => rows > 0 && (rows % 10 === 0 || rows % 25 === 0);

/** Starts a list at its first page. */
export function listPages<T>(
  transport: Transport,
  plan: ListPlan<T>,
  params: (Query & ListFields) | undefined,
  options: RequestOptions | undefined,
): PagePromise<T> {
  const fetch: Fetch<T> = (query, walk) => {
    const call = transport.start<Page<T>>(plan.operation, {
      ...(plan.path && { params: plan.path }),
      ...(options && { options }),
      query,
      invalid: () => pageErrors(query, plan.cap),
      decode: async (data, context) =>
        readPage(await decodeList(plan.shape)(data, context), { query, walk, fetch }, context),
    });
    return new PagePromise(call);
  };
  const { page = 1, per_page = plan.size ?? plan.cap, ...rest } = params ?? {};
  return fetch({ ...rest, page, per_page }, { seen: new Set(), key: plan.anonymous ? textOf : idOf });
}

/** A page of the rows not seen before; a service that does not page as it is asked to is found out. */
function readPage<T>(
  rows: T[],
  { query, walk, fetch }: { readonly query: PageQuery; readonly walk: Walk; readonly fetch: Fetch<T> },
  context: DecodeContext,
): Page<T> {
  const { seen, key, cut } = walk;
  const fresh = seen.size === 0;
  const own = new Map(rows.map((row) => [key(row), row]));
  for (const known of own.keys()) if (seen.has(known)) own.delete(known);
  const items = [...own.values()];
  const full = rows.length >= query.per_page;
  if (full && items.length === 0) {
    throw context.fail(`page ${query.page} is full of rows already seen: the service seems to ignore \`page\``);
  }
  if (cut !== undefined && items.length > 0) {
    throw context.fail(
      `it cuts pages to ${cut} rows where ${query.per_page} were asked for (or rows were added meanwhile): give \`per_page: ${cut}\``,
    );
  }
  for (const known of own.keys()) seen.add(known);
  const doubtful = !full && fresh && isRound(rows.length);
  const next = doubtful ? { key, cut: rows.length } : { key };
  const follow = (walked: Set<unknown>): PagePromise<T> =>
    fetch({ ...query, page: query.page + 1 }, { seen: walked, ...next });
  return new ListPage(items, query, context.envelope, full || doubtful ? follow : undefined, walk);
}

/** Fetches the next page for a walk that has seen these rows. */
type Follow<T> = (seen: Set<unknown>) => PagePromise<T>;

/** A page that knows how to get at the next one. */
class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly perPage: number;
  readonly envelope: Envelope;
  readonly #follow: Follow<T> | undefined;
  readonly #walk: Walk;
  #next: Promise<Page<T>> | undefined;

  constructor(items: T[], query: PageQuery, envelope: Envelope, follow: Follow<T> | undefined, walk: Walk) {
    this.items = items;
    this.page = query.page;
    this.perPage = query.per_page;
    this.envelope = envelope;
    this.#follow = follow;
    this.#walk = walk;
  }

  /** What tells its rows from others. */
  keys(): Set<unknown> {
    return new Set(this.items.map(this.#walk.key));
  }

  /** The next page for one walk, which keeps its own rows seen. */
  static follow<T>(page: ListPage<T>, seen: Set<unknown>): PagePromise<T> | undefined {
    return page.#follow?.(seen);
  }

  /** Asked twice, it is fetched once; after a failure it is fetched anew. */
  nextPage(): Promise<Page<T>> | undefined {
    if (!this.#follow) return undefined;
    if (!this.#next) {
      const started = this.#follow(this.#walk.seen);
      started.catch(() => {
        this.#next = undefined;
      });
      this.#next = started;
    }
    return this.#next;
  }
}

function following<T>(page: Page<T>, seen: Set<unknown>): PagePromise<T> | undefined {
  return page instanceof ListPage ? ListPage.follow<T>(page, seen) : undefined;
}

const textOf = (row: unknown): unknown => JSON.stringify(row);
const idOf = (row: unknown): unknown => (isObject(row) && typeof row.id === 'number' ? row.id : textOf(row));

function pageErrors({ page, per_page }: PageQuery, cap: number): Record<string, string[]> {
  const wrong = (value: number, most: number): boolean => !Number.isInteger(value) || value < 1 || value > most;
  return {
    ...(wrong(page, Number.MAX_SAFE_INTEGER) && { page: ['must be an integer from 1.'] }),
    ...(wrong(per_page, cap) && { per_page: [`must be an integer from 1 to ${cap}.`] }),
  };
}
