import type { Paging } from '../spec/contract.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import type { Candidate } from './candidates.ts';
import { read, type Session } from './check-session.ts';
import { envelopeOf, type Found, KINDS, type Reply, type Row, rowsIn, valuesIn } from './evidence.ts';

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

/** Pages that are read in search of old rows. */
const MAX_PAGES = 4;

interface Page {
  readonly reply: Reply;
  readonly rows: readonly Row[];
}

/** A list that is paged: reads a page by its query. */
type PageReader = (query: Readonly<Record<string, string | number>>, why: string) => Promise<Page>;

/** Finds out how lists are paged, and how many rows a page has at most. */
export async function checkPaging(session: Session, expected: Paging = ASSUMED_PAGING): Promise<void> {
  const { findings, candidates } = session;
  const kind = KINDS.find((kind) => (session.rows.get(kind)?.length ?? 0) >= 2);
  const list = kind && candidates.working(`${kind}.list`);
  if (!list) {
    findings.unclear('paging', 'Needs a list with two rows.');
    findings.unclear('page-size', 'Needs a list with more than 100 rows.');
    return;
  }
  session.onStep('Paging');
  const rows = session.rows.get(kind) ?? [];
  const readPage = pageReader(session, list);
  const first = await findSize(readPage, expected);
  if (!first)
    return findings.set('paging', 'differs', 'No parameter that was tried sets the number of rows of a page.');
  const { size } = first;
  const paging = await findPaging(readPage, first, expected, rows[1]);
  if (!paging) return findings.set('paging', 'differs', 'No parameter that was tried leads to the next page.');
  const isAssumed = paging.style === 'page' && paging.param === ASSUMED_PAGING.param && size === ASSUMED_PAGING.size;
  const evidence = 'A page of one row, and the next page has the second row of the list.';
  findings.set('paging', isAssumed ? 'confirmed' : 'differs', evidence, isAssumed ? undefined : { paging });
  const all = await checkPageSize(session, readPage, { ...paging, size });
  // Further rows are older ones.
  if (all.length > rows.length) session.rows.set(kind, all);
}

function pageReader(session: Session, list: Candidate): PageReader {
  return async (query, why) => {
    const reply = await read(session, why, { query })(list);
    return { reply, rows: rowsIn(envelopeOf(reply))?.value ?? [] };
  };
}

/** A page of one row, with the parameter that has made it one. */
interface FirstPage {
  readonly size: string;
  readonly reply: Reply;
}

async function findSize(readPage: PageReader, expected: Paging): Promise<FirstPage | undefined> {
  for (const size of new Set([...(expected.size ? [expected.size] : []), ...SIZES])) {
    const { rows, reply } = await readPage({ [size]: 1 }, `a page of one row by ${size}`);
    if (rows.length === 1) return { size, reply };
  }
  return undefined;
}

/** Returns the way by which the second page of one row has the second row of the list. */
async function findPaging(
  readPage: PageReader,
  { size, reply }: FirstPage,
  { style, param }: Paging,
  second: Row | undefined,
): Promise<Paging | undefined> {
  const cursor = cursorIn(reply);
  const ways: readonly Paging[] = [
    ...(style === 'cursor' ? [] : [{ style, param, size }]),
    ...(cursor?.params ?? []).map((param) => ({ style: 'cursor', param, size, next: cursor?.place }) as const),
    ...PAGES.map((param) => ({ style: 'page', param, size }) as const),
    ...OFFSETS.map((param) => ({ style: 'offset', param, size }) as const),
  ];
  for (const way of ways) {
    const query = nextQuery(way, { pages: 1, count: 1, last: reply, asked: 1 });
    const next = query && (await readPage(query, `the next page by ${way.param}`));
    if (next?.rows.length === 1 && next.rows[0]?.id === second?.id) return way;
  }
  return undefined;
}

/** What was read of a list. */
interface Progress {
  readonly pages: number;
  readonly count: number;
  readonly last: Reply;
  /** Rows that were requested of each page. */
  readonly asked: number;
}

/** Returns the query of the next page; `undefined` if the last one has no cursor. */
function nextQuery({ style, param, size = '' }: Paging, { pages, count, last, asked }: Progress) {
  const position = { page: pages + 1, offset: count, cursor: cursorIn(last)?.value }[style];
  return position === undefined ? undefined : { [size]: asked, [param]: position };
}

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

/** Finds out whether a page may have as many rows as documented. Returns the rows of the first pages. */
async function checkPageSize(
  { findings }: Session,
  readPage: PageReader,
  paging: Paging & { readonly size: string },
): Promise<readonly Row[]> {
  const ask = (rows: number): Promise<Page> => readPage({ [paging.size]: rows }, `a page of ${rows} rows`);
  const noteLess = (maxSize: number, evidence: string): void =>
    findings.set('page-size', 'differs', evidence, { paging: { ...paging, maxSize } });
  let asked = RESOURCE_PAGE_CAP;
  let page = await ask(asked);
  for (const smaller of SMALLER_PAGES) {
    if (page.reply.status !== 422 && page.reply.status !== 400) break;
    asked = smaller;
    page = await ask(asked);
  }
  const full = page.rows.length;
  if (full >= RESOURCE_PAGE_CAP) findings.set('page-size', 'confirmed', `A page has ${RESOURCE_PAGE_CAP} rows.`);
  else if (full > 0 && asked < RESOURCE_PAGE_CAP) noteLess(asked, 'A larger page is refused.');
  const all: Row[] = [...page.rows];
  for (let pages = 1; pages < MAX_PAGES && full > 0 && page.rows.length === full; pages++) {
    const next = nextQuery(paging, { pages, count: all.length, last: page.reply, asked });
    if (!next) break;
    page = await readPage(next, 'a further page, in search of old rows');
    all.push(...page.rows);
    if (pages === 1 && page.rows.length > 0 && full < asked)
      noteLess(full, 'A page has fewer rows than requested, and more follow.');
  }
  findings.unclear('page-size', 'Needs a list with more than 100 rows.');
  return all;
}
