import { isDeepStrictEqual } from 'node:util';
import { PAGE_NUMBERS, type Paging } from '../../spec/contract.ts';
import { RESOURCE_PAGE_CAP } from '../../spec/limits.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { valueAt } from '../../util/json.ts';
import { placeOf, reasonOf, type Session } from './check-session.ts';
import { type Reply, rowsIn, valuesIn } from './evidence.ts';
import { KINDS } from './findings.ts';

/** Common names of the query parameter for the number of rows per page. */
const SIZES: readonly string[] = ['per_page', 'limit', 'page_size', 'perPage', 'pageSize', 'size', 'count'];
const PAGES: readonly string[] = ['page', 'page_number', 'pageNumber', 'p'];
const OFFSETS: readonly string[] = ['offset', 'skip', 'start'];
const CURSORS: readonly string[] = ['cursor', 'page_token', 'after', 'starting_after', 'pageToken', 'next_cursor'];

/** Keys of an envelope that may contain the next cursor. */
const CURSOR_KEYS: readonly string[] = [
  ...['next_cursor', 'nextCursor', 'next_page_token', 'nextPageToken', 'cursor', 'next', 'next_page_url', 'after'],
];
/** Keys to search for the cursor, including keys of objects that may contain it. */
const CURSOR_PLACES: readonly string[] = [...CURSOR_KEYS, 'data', 'meta', 'pagination', 'paging', 'links', 'cursors'];

/** Page sizes to try, because a service may refuse the documented maximum. */
const PAGE_SIZES: readonly number[] = [RESOURCE_PAGE_CAP, 50, 25, 10];

interface Page {
  readonly reply: Reply;
  readonly rows: readonly JsonObject[];
}

/** Checks how lists are paged, and the maximum number of rows per page. */
export async function checkPaging(session: Session): Promise<void> {
  const { findings, paths, probe, expected } = session;
  const kind = KINDS.find((one) => (session.rows.get(one)?.length ?? 0) >= 2);
  const path = kind && paths.working.get(`${kind}.list`);
  if (!path) return findings.unclear('paging', 'The check needs a list with at least two rows.');
  probe.report('step', 'Paging');
  const known = expected.paging ?? PAGE_NUMBERS;
  const listed = session.rows.get(kind) ?? [];
  let failure: Reply | undefined;
  const readPage = async (query: Readonly<Record<string, string | number>>): Promise<Page> => {
    const reply = await probe.get(path, { query });
    if (reply.status === 0 || reply.status === 401 || reply.status === 403 || reply.status >= 500) failure = reply;
    return { reply, rows: rowsIn(reply.envelope, placeOf(session, `${kind}.list`))?.value ?? [] };
  };

  /**
   * Returns parameters that lead to another page. If no size parameter has an effect, includes the rows per page as
   * `maxSize`.
   */
  async function find(): Promise<Paging | undefined> {
    for (const size of new Set([known.size ?? 'per_page', ...SIZES, undefined])) {
      const sized = size === undefined ? {} : { [size]: 1 };
      const first = await readPage(sized);
      if (size !== undefined && first.rows.length !== 1) continue;
      const { next, params = [] } = cursorIn(first.reply, known) ?? {};
      const ways: readonly Paging[] = [
        ...(known.style === 'cursor' ? [] : [known]),
        ...params.map((param) => ({ style: 'cursor', param, next }) as const),
        ...PAGES.map((param) => ({ style: 'page', param }) as const),
        ...OFFSETS.map((param) => ({ style: 'offset', param }) as const),
      ];
      for (const way of ways) {
        // The first page may have another number than 1.
        const start = way.style === 'page' ? await readPage({ ...sized, [way.param]: 1 }) : first;
        if (start.rows[0]?.id !== first.rows[0]?.id) continue;
        const { rows } = await readPage({ ...sized, [way.param]: positionAfter(way, first) });
        const isNext = rows.length > 0 && rows.every((row) => hasOthers([row], first.rows));
        if (!isNext) continue;
        if (size === undefined) return { ...way, size: known.size ?? 'per_page', maxSize: first.rows.length };
        if (rows.length === 1 && !hasOthers(rows, listed)) return { ...way, size, maxSize: undefined };
      }
      if (size !== undefined) return undefined;
    }
    return undefined;
  }

  // Another program may have created a row between two pages.
  const found = (await find()) ?? (await find());
  if (!found) {
    await probe.assertResponsive();
    if (failure) return findings.unclear('paging', reasonOf(failure));
    return findings.set('paging', 'differs', 'None of the parameters that the check tried returns the next page.', {
      breaks: true,
    });
  }
  const { maxSize: fixed, size = 'per_page', ...way } = found;
  const { maxSize, ...inEffect } = known;
  // A contract may omit `size`, so that the client does not send it.
  const paging: Paging = isDeepStrictEqual({ size, ...inEffect }, { size, ...way }) ? inEffect : { ...way, size };
  const evidence = `\`${way.param}\` returns the next page.`;
  findings.prove('paging', paging, [PAGE_NUMBERS, inEffect], evidence, { paging });
  const noteMax = (rows: number, evidence: string): void =>
    findings.set('page-size', 'differs', evidence, { setting: { paging: { ...paging, maxSize: rows } } });
  if (fixed) return noteMax(fixed, 'The number of rows on a page does not depend on the requested size.');
  for (const asked of PAGE_SIZES) {
    const page = await readPage({ [size]: asked });
    const { length } = page.rows;
    if (page.reply.status === 422 || page.reply.status === 400) continue;
    // Keep the longer list: its additional rows are older.
    if (length > listed.length) session.rows.set(kind, page.rows);
    if (length >= RESOURCE_PAGE_CAP) return findings.set('page-size', 'confirmed', `A page has ${length} rows.`);
    // The contract may set a smaller size, which works, too.
    const largest = (rows: number): number => Math.min(rows, maxSize ?? rows);
    const refused = PAGE_SIZES[PAGE_SIZES.indexOf(asked) - 1];
    if (length > 0 && refused) return noteMax(largest(asked), `The service refuses a page of ${refused} rows.`);
    const { rows } = await readPage({ [size]: asked, [way.param]: positionAfter(way, page) });
    if (length > 0 && hasOthers(rows, page.rows))
      return noteMax(largest(length), 'A page has fewer rows than requested, although another page follows.');
    return findings.unclear('page-size', 'The check needs a list with more than 100 rows.');
  }
}

/** Returns whether `rows` contain an id that `others` do not contain. */
const hasOthers = (rows: readonly JsonObject[], others: readonly JsonObject[]): boolean =>
  rows.some(({ id }) => others.every((other) => other.id !== id));

/** Returns the parameter value for the page after the first page. */
const positionAfter = (way: Paging, { rows, reply }: Page): string | number =>
  ({ page: 2, offset: rows.length, cursor: cursorIn(reply, way)?.value ?? '' })[way.style];

/**
 * Returns the next cursor, its path, and the query parameters that may accept it, starting with the one in effect.
 */
function cursorIn(
  { body }: Reply,
  known: Paging,
): { next: string; value: string; params: readonly string[] } | undefined {
  const [parameters, places] = known.next === undefined ? [[], []] : [[known.param], [known.next]];
  const params = [...new Set([...parameters, ...CURSORS])];
  const found = valuesIn(body, CURSOR_PLACES).filter(({ place }) =>
    CURSOR_KEYS.includes(place.split('.').at(-1) ?? ''),
  );
  for (const { place: next, value } of [
    ...places.map((place) => ({ place, value: valueAt(body, place.split('.')) })),
    ...found,
  ]) {
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '') continue;
    if (!/[?&]\w+=/.test(`${value}`)) return { next, value: `${value}`, params };
    // The value is the URL of the next page.
    const { searchParams } = new URL(`${value}`, 'http://localhost');
    const param = params.find((one) => searchParams.get(one));
    if (param) return { next, value: searchParams.get(param) ?? '', params: [param] };
  }
  return undefined;
}
