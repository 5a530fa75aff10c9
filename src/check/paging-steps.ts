import type { Paging } from '../spec/contract.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { read, type Session } from './check-session.ts';
import { envelopeOf, invalidFields, KINDS, type Kind, type Reply, type Row, rowsIn } from './evidence.ts';

/** How lists are paged, as the package assumes. */
export const ASSUMED_PAGING: Paging = { style: 'page', param: 'page', size: 'per_page' };

/** Parameters that other services have for the same. */
const SIZES: readonly string[] = ['per_page', 'limit', 'page_size', 'perPage', 'pageSize', 'size', 'count'];
const PAGES: readonly string[] = ['page', 'page_number', 'pageNumber', 'p'];
const OFFSETS: readonly string[] = ['offset', 'skip', 'start'];
const CURSORS: readonly string[] = [
  'cursor',
  'page_token',
  'after',
  'starting_after',
  'pageToken',
  'next_cursor',
  'next',
];

/** Keys below which an envelope has the next cursor. */
const CURSOR_PARENTS: readonly string[] = [
  'data',
  'meta',
  'pagination',
  'paging',
  'links',
  'cursor',
  'cursors',
  'page',
];
const CURSOR_KEYS: readonly string[] = [
  ...['next_cursor', 'nextCursor', 'next_page_token', 'nextPageToken', 'cursor', 'next', 'next_page_url', 'after'],
  ...['end_cursor', 'endCursor'],
];

/** Pages that are read in search of old rows. */
const MAX_PAGES = 4;

interface Page {
  readonly reply: Reply;
  readonly rows: readonly Row[];
}

type Query = Readonly<Record<string, string | number>>;

/** Finds out how lists are paged, and how many rows a page has at most. */
export async function checkPaging(session: Session, expected: Paging | undefined): Promise<void> {
  const { findings, rows } = session;
  const kinds = KINDS.filter((kind) => (rows.get(kind)?.length ?? 0) >= 2);
  const [kind] = kinds;
  if (!kind) {
    findings.unclear('paging', 'Needs a list with two rows.');
    findings.unclear('page-size', 'Needs a list with more than 100 rows.');
    return;
  }
  session.onStep('Paging');
  const paging = await findPaging(session, kind, expected ?? ASSUMED_PAGING);
  if (!paging) return;
  const isSame =
    paging.style === ASSUMED_PAGING.style &&
    paging.param === ASSUMED_PAGING.param &&
    paging.size === ASSUMED_PAGING.size;
  const evidence = 'A page of one row, and the next page has the second row of the list.';
  if (isSame) findings.set('paging', 'confirmed', evidence);
  else {
    findings.set(
      'paging',
      'differs',
      paging.size ? evidence : 'The next page has other rows; no parameter sets its size.',
      { paging },
    );
  }
  await checkPageSize(session, kind, paging);
}

async function pageOf(session: Session, kind: Kind, query: Query, why: string): Promise<Page> {
  const candidate = session.working.get(`${kind}.list`);
  const reply = await read(session, why, { query })(candidate ?? { path: '' });
  return { reply, rows: rowsIn(envelopeOf(reply))?.value ?? [] };
}

/** Finds the parameters of paging; `undefined` if none works. */
async function findPaging(session: Session, kind: Kind, expected: Paging): Promise<Paging | undefined> {
  const { findings } = session;
  const [first, second, ...others] = session.rows.get(kind) ?? [];
  if (!first || !second) return undefined;
  const sizes = [...new Set([...(expected.size ? [expected.size] : []), ...SIZES])];
  let size: string | undefined;
  let page: Page | undefined;
  for (const name of sizes) {
    const attempt = await pageOf(session, kind, { [name]: 1 }, `a page of one row by ${name}`);
    if (attempt.rows.length !== 1) continue;
    [size, page] = [name, attempt];
    break;
  }
  const length = size ? 1 : 2 + others.length;
  const ids = new Set([first.id, ...(size ? [] : [second.id, ...others.map(({ id }) => id)])]);
  const base: Query = size ? { [size]: 1 } : {};
  // With a size, the second row of the list must follow; without one, only rows that the first page does not have.
  const isNext = ({ rows }: Page): boolean =>
    rows.length > 0 && (size ? rows.length === 1 && rows[0]?.id === second.id : rows.every(({ id }) => !ids.has(id)));
  page ??= await pageOf(session, kind, {}, 'the first page again, in search of a cursor');
  const cursor = cursorIn(page.reply);
  const ways: { paging: Paging; value: string | number }[] = [
    ...PAGES.map((param) => ({ paging: { style: 'page' as const, param }, value: 2 })),
    ...(cursor?.params ?? []).map((param) => ({
      paging: { style: 'cursor' as const, param, next: cursor?.place },
      value: cursor?.value ?? '',
    })),
    ...OFFSETS.map((param) => ({ paging: { style: 'offset' as const, param }, value: length })),
  ];
  // What is expected comes first; a cursor in the response makes pages by number unlikely.
  const rank = ({ style, param }: Paging): number => {
    if (style === expected.style && param === expected.param) return 0;
    return cursor && style === 'cursor' ? 1 : 2;
  };
  ways.sort((a, b) => rank(a.paging) - rank(b.paging));
  for (const { paging, value } of ways) {
    const attempt = await pageOf(session, kind, { ...base, [paging.param]: value }, `the next page by ${paging.param}`);
    if (isNext(attempt)) return { ...paging, ...(size && { size }) };
    const isZeroBased =
      paging.style === 'page' && size && attempt.rows.length === 1 && attempt.rows[0]?.id === others[0]?.id;
    if (isZeroBased) {
      findings.set('paging', 'differs', `Pages of ${paging.param} are counted from 0.`);
      return undefined;
    }
  }
  // Without a size, the first page may be the entire list if it is short.
  if (size || others.length + 2 >= DEFAULT_PAGE)
    findings.set('paging', 'differs', 'No parameter that was tried leads to the next page.');
  else findings.unclear('paging', 'The list may be too short for a second page.');
  return undefined;
}

/** Rows of a page by default (specification, "Pagination"). */
const DEFAULT_PAGE = 25;

/** Returns the cursor of the next page, where it is, and the parameters that may take it. */
function cursorIn({ body }: Reply): { place: string; value: string | number; params: readonly string[] } | undefined {
  if (!isObject(body)) return undefined;
  const parents: (readonly [string, JsonObject])[] = [['', body]];
  for (const key of CURSOR_PARENTS) {
    const child = body[key];
    if (!isObject(child)) continue;
    parents.push([`${key}.`, child]);
    for (const inner of CURSOR_PARENTS) {
      const grandchild = child[inner];
      if (isObject(grandchild)) parents.push([`${key}.${inner}.`, grandchild]);
    }
  }
  for (const [prefix, parent] of parents) {
    for (const key of CURSOR_KEYS) {
      const value = parent[key];
      if ((typeof value !== 'string' && typeof value !== 'number') || value === '') continue;
      const place = `${prefix}${key}`;
      const address =
        typeof value === 'string' && /[?&]\w+=/.test(value) ? new URL(value, 'http://localhost') : undefined;
      if (!address) return { place, value, params: CURSORS };
      for (const param of CURSORS) {
        const cursor = address.searchParams.get(param);
        if (cursor) return { place, value: cursor, params: [param] };
      }
    }
  }
  return undefined;
}

/** Finds out whether a page may have as many rows as documented, and keeps the rows for later steps. */
async function checkPageSize(session: Session, kind: Kind, paging: Paging): Promise<void> {
  const { findings } = session;
  const { size } = paging;
  if (!size) return findings.unclear('page-size', 'No parameter sets the size of a page.');
  let asked = RESOURCE_PAGE_CAP;
  const ask = (rows: number): Promise<Page> => pageOf(session, kind, { [size]: rows }, `a page of ${rows} rows`);
  let page = await ask(asked);
  if (!envelopeOf(page.reply) && (invalidFields(page.reply)?.includes(size) || page.reply.status === 400)) {
    let refused = asked;
    for (asked = 1; refused - asked > 1; ) {
      const middle = Math.floor((asked + refused) / 2);
      const attempt = await ask(middle);
      if (envelopeOf(attempt.reply)) [asked, page] = [middle, attempt];
      else refused = middle;
    }
    noteSize(session, paging, asked, 'A larger page is refused.');
  }
  if (page.rows.length >= RESOURCE_PAGE_CAP)
    findings.set('page-size', 'confirmed', `A page has ${RESOURCE_PAGE_CAP} rows.`);
  const all: Row[] = [...page.rows];
  const full = page.rows.length;
  for (let number = 2; number <= MAX_PAGES && page.rows.length === full && full > 0; number++) {
    const next = nextQuery(paging, { size, asked, number, count: all.length, reply: page.reply });
    if (!next) break;
    page = await pageOf(session, kind, next, 'a further page, in search of old rows');
    all.push(...page.rows);
    if (number === 2 && page.rows.length > 0 && full < asked)
      noteSize(session, paging, full, 'A page has fewer rows than requested, and more follow.');
  }
  findings.unclear('page-size', 'Needs a list with more than 100 rows.');
  if (all.length > (session.rows.get(kind)?.length ?? 0)) session.rows.set(kind, all);
}

function noteSize({ findings }: Session, paging: Paging, maxSize: number, evidence: string): void {
  if (maxSize === 0 || maxSize >= RESOURCE_PAGE_CAP) return;
  findings.set('page-size', 'differs', evidence, { paging: { ...paging, maxSize } });
}

/** Returns the query of a further page. */
function nextQuery(
  { style, param }: Paging,
  { size, asked, number, count, reply }: { size: string; asked: number; number: number; count: number; reply: Reply },
): Query | undefined {
  if (style === 'page') return { [size]: asked, [param]: number };
  if (style === 'offset') return { [size]: asked, [param]: count };
  const cursor = cursorIn(reply);
  return cursor ? { [size]: asked, [param]: cursor.value } : undefined;
}
