import type { Paging } from '../../spec/contract.ts';
import { RESOURCE_PAGE_CAP } from '../../spec/limits.ts';
import { envelopeOf, type Found, type Reply, type Row, rowsIn, valuesIn } from './evidence.ts';
import { KINDS } from './findings.ts';
import { placeOf, read, reasonOf, type Session } from './reads.ts';

/** How lists are paged, as the package assumes. */
export const ASSUMED_PAGING: Paging = { style: 'page', param: 'page', size: 'per_page' };

/** Parameters that other services have for the same. */
const SIZES: readonly string[] = ['per_page', 'limit', 'page_size', 'perPage', 'pageSize', 'size', 'count'];
const PAGES: readonly string[] = ['page', 'page_number', 'pageNumber', 'p'];
const OFFSETS: readonly string[] = ['offset', 'skip', 'start'];
const CURSORS: readonly string[] = ['cursor', 'page_token', 'after', 'starting_after', 'pageToken', 'next_cursor'];

/** Keys of an envelope that may hold the next cursor, and those that it may be below. */
const CURSOR_KEYS: readonly string[] = [
  ...['next_cursor', 'nextCursor', 'next_page_token', 'nextPageToken', 'cursor', 'next', 'next_page_url', 'after'],
  ...['end_cursor', 'endCursor'],
];
const CURSOR_PLACES: readonly string[] = [
  ...CURSOR_KEYS,
  ...['data', 'meta', 'pagination', 'paging', 'links', 'cursors', 'page'],
];

/** Sizes of pages to try if the documented one is refused. */
const SMALLER_PAGES: readonly number[] = [50, 25, 10];

const FIXED = 'A page has the same number of rows, whatever is requested.';

const NEEDS_ROWS = 'Needs a list with more than 100 rows.';

interface Page {
  readonly reply: Reply;
  readonly rows: readonly Row[];
}

/** A way to page whose size of pages can be set. */
type SizedPaging = Paging & { readonly size: string };

/** Fetches a page of a list with the given query. */
type PageReader = (query: Readonly<Record<string, string | number>>, why: string) => Promise<Page>;

/** Finds out how lists are paged, and how many rows a page has at most. */
export async function checkPaging(session: Session): Promise<void> {
  const { findings, paths, probe } = session;
  const expected = session.expected.paging ?? ASSUMED_PAGING;
  const kind = KINDS.find((kind) => (session.rows.get(kind)?.length ?? 0) >= 2);
  const list = kind && paths.working(`${kind}.list`);
  if (!list) {
    findings.unclear('paging', 'Needs a list with two rows.');
    return findings.unclear('page-size', NEEDS_ROWS);
  }
  session.onStep('Paging');
  const rows = session.rows.get(kind) ?? [];
  const place = placeOf(session, `${kind}.list`);
  let failure: Reply | undefined;
  const readPage: PageReader = async (query, why) => {
    const reply = await read(session, list, why, { query });
    if (reply.status === 0 || reply.status === 401 || reply.status === 403 || reply.status >= 500) failure = reply;
    return { reply, rows: rowsIn(envelopeOf(reply), place)?.value ?? [] };
  };
  const search = async (): Promise<SizedPaging | undefined> => {
    const first = await findSize(readPage, expected);
    return first ? findPaging(readPage, first, expected, rows) : findFixed(readPage, expected.size ?? 'per_page');
  };
  // Another program may have created a row between two pages.
  const paging = (await search()) ?? (await search());
  if (!paging) {
    await probe.assertResponsive();
    if (failure) findings.unclear('paging', reasonOf(failure));
    else findings.set('paging', 'differs', 'No parameter that was tried leads to the next page.', { breaks: true });
    return findings.unclear('page-size', 'Needs a list whose pages can be read.');
  }
  const { param, size, maxSize } = paging;
  const evidence = maxSize !== undefined ? FIXED : `\`${size}\` and \`${param}\` lead from one row to another one.`;
  if (paging.style === 'page' && param === 'page' && size === 'per_page') findings.set('paging', 'confirmed', evidence);
  else findings.set('paging', 'differs', evidence, { setting: { paging } });
  if (maxSize !== undefined) return findings.set('page-size', 'differs', FIXED, { setting: { paging } });
  const page = await checkPageSize(session, readPage, paging);
  // Further rows are older ones.
  if (page.length > rows.length) session.rows.set(kind, page);
}

/** Returns a page of one row, and the parameter that has made it one. */
async function findSize(readPage: PageReader, expected: Paging): Promise<(Page & { size: string }) | undefined> {
  for (const size of new Set([...(expected.size ? [expected.size] : []), ...SIZES])) {
    const page = await readPage({ [size]: 1 }, `a page of one row by ${size}`);
    if (page.rows.length === 1) return { ...page, size };
  }
  return undefined;
}

/** Returns the way by which the second page of one row has the second row of the list. */
async function findPaging(
  readPage: PageReader,
  { size, ...first }: Page & { size: string },
  { style, param }: Paging,
  listed: readonly Row[],
): Promise<SizedPaging | undefined> {
  const cursor = cursorIn(first.reply);
  const ways: readonly SizedPaging[] = [
    ...(style === 'cursor' ? [] : [{ style, param, size }]),
    ...(cursor?.params ?? []).map((param) => ({ style: 'cursor', param, size, next: cursor?.place }) as const),
    ...PAGES.map((param) => ({ style: 'page', param, size }) as const),
    ...OFFSETS.map((param) => ({ style: 'offset', param, size }) as const),
  ];
  for (const way of ways) {
    // The first page may have another number.
    const start =
      way.style === 'page' ? await readPage({ [size]: 1, [way.param]: 1 }, `page 1 by ${way.param}`) : first;
    if (start.rows[0]?.id !== first.rows[0]?.id) continue;
    const { rows } = await readPage(queryAfter(way, first, 1), `the next page by ${way.param}`);
    const [row] = rows;
    // Which row it is depends on what other programs create meanwhile.
    const isNext = row && row.id !== first.rows[0]?.id && listed.some(({ id }) => id === row.id);
    if (isNext && rows.length === 1) return way;
  }
  return undefined;
}

/** Returns the way by which the second page has other rows than the first one, although no parameter sets its size. */
async function findFixed(readPage: PageReader, size: string): Promise<SizedPaging | undefined> {
  const first = await readPage({}, 'a page of the usual size');
  for (const param of PAGES) {
    const { rows } = await readPage({ [param]: 2 }, `the next page by ${param}`);
    if (rows.length > 0 && rows.every(({ id }) => first.rows.every((row) => row.id !== id)))
      return { style: 'page', param, size, maxSize: first.rows.length };
  }
  return undefined;
}

/** Returns the position of the page after a number of pages and rows; `undefined` if the last one has no cursor. */
const positionAfter = ({ style }: Paging, pages: number, rows: number, last: Reply): string | number | undefined =>
  ({ page: pages + 1, offset: rows, cursor: cursorIn(last)?.value })[style];

/** Returns the query of the second page, after the first one. */
const queryAfter = (paging: SizedPaging, { reply, rows }: Page, asked: number) => ({
  [paging.size]: asked,
  [paging.param]: positionAfter(paging, 1, rows.length, reply) ?? '',
});

/** Returns the cursor of the next page, where it is, and the parameters that may take it. */
function cursorIn({ body }: Reply): (Found<string> & { readonly params: readonly string[] }) | undefined {
  for (const { place, value } of valuesIn(body, CURSOR_PLACES)) {
    const isCursor = CURSOR_KEYS.includes(place.split('.').at(-1) ?? '');
    if (!isCursor || (typeof value !== 'string' && typeof value !== 'number') || value === '') continue;
    const text = String(value);
    if (!/[?&]\w+=/.test(text)) return { place, value: text, params: CURSORS };
    // An address of the next page.
    const { searchParams } = new URL(text, 'http://localhost');
    const param = CURSORS.find((param) => searchParams.get(param));
    if (param) return { place, value: searchParams.get(param) ?? '', params: [param] };
  }
  return undefined;
}

/** Finds out whether a page may have as many rows as documented. Returns the rows of the largest one. */
async function checkPageSize(session: Session, readPage: PageReader, paging: SizedPaging): Promise<readonly Row[]> {
  const { findings } = session;
  let asked = RESOURCE_PAGE_CAP;
  const ask = (): Promise<Page> => readPage({ [paging.size]: asked }, `a page of ${asked} rows`);
  const noteLess = (maxSize: number, evidence: string): void => {
    // A smaller size of the contract works, too.
    const least = Math.min(maxSize, session.expected.paging?.maxSize ?? maxSize);
    findings.set('page-size', 'differs', evidence, { setting: { paging: { ...paging, maxSize: least } } });
  };
  let page = await ask();
  for (const smaller of SMALLER_PAGES) {
    if (page.reply.status !== 422 && page.reply.status !== 400) break;
    asked = smaller;
    page = await ask();
  }
  const { length } = page.rows;
  if (length >= RESOURCE_PAGE_CAP) findings.set('page-size', 'confirmed', `A page has ${RESOURCE_PAGE_CAP} rows.`);
  else if (length > 0 && asked < RESOURCE_PAGE_CAP) noteLess(asked, 'A larger page is refused.');
  else if (length > 0) {
    const { rows } = await readPage(queryAfter(paging, page, asked), 'the page after one with fewer rows');
    if (rows.some(({ id }) => page.rows.every((row) => row.id !== id)))
      noteLess(length, 'A page has fewer rows than requested, and more follow.');
  }
  findings.unclear('page-size', NEEDS_ROWS);
  return page.rows;
}
