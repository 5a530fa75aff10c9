import { describe, expect, it } from 'vitest';
import { AudienceClient, type Paging } from '../../../src/index.ts';
import { seeded } from '../../support/seeded.ts';
import { quick } from '../../support/server.ts';
import { runs } from '../../support/volume.ts';

const random = seeded('moving lists');
const below = (n: number): number => Math.floor(random() * n);

interface Moves {
  readonly paging: Paging;
  /** Called before each page. */
  readonly onPage: (list: MovingList) => unknown;
  readonly hasTotal: boolean;
}

/** A service with one list of projects, the newest first. */
class MovingList {
  readonly rows: number[];
  requests = 0;
  readonly #moves: Moves;
  #newest: number;

  constructor(count: number, moves: Moves) {
    this.rows = Array.from({ length: count }, (_, index) => count - index);
    this.#newest = count;
    this.#moves = moves;
  }

  add(): void {
    this.rows.unshift(++this.#newest);
  }

  remove(id = this.rows[below(this.rows.length)]): void {
    if (id !== undefined && this.rows.includes(id)) this.rows.splice(this.rows.indexOf(id), 1);
  }

  readonly fetch = async (input: Request | URL | string): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(input));
    const id = /projects\/(\d+)\/delete/.exec(pathname)?.[1];
    if (id !== undefined) this.remove(Number(id));
    else {
      this.requests++;
      this.#moves.onPage(this);
    }
    const { style } = this.#moves.paging;
    const size = Number(searchParams.get('size'));
    const start = style === 'page' ? (Number(searchParams.get('at')) - 1) * size : Number(searchParams.get('at'));
    const data = id === undefined ? this.rows.slice(start, start + size).map((row) => ({ id: row })) : [];
    const meta = this.#moves.hasTotal ? { total: this.rows.length } : {};
    return Response.json({ status: 'success', code: 200, message: '', data, meta });
  };

  connect(change = async (response: Response): Promise<Response> => response): AudienceClient {
    return new AudienceClient({
      ...quick,
      baseUrl: 'http://localhost',
      token: 'test-token',
      rateLimits: false,
      maxRetries: 0,
      fetch: async (input) => change(await this.fetch(input)),
      contract: { paging: this.#moves.paging },
    });
  }
}

const pagings = ['page', 'offset'].map((style) => ({ style, param: 'at', size: 'size' }) as Paging);
const maybe = (act: () => void): void => {
  for (let n = below(4); n > 0; n--) act();
};

describe('a list that is deleted while it is iterated', () => {
  it.each(pagings)('yields all 500 rows, with paging $style', async (paging) => {
    const list = new MovingList(500, { paging, hasTotal: false, onPage: () => {} });
    await using client = list.connect();
    let deleted = 0;
    for await (const { id } of client.projects.list()) {
      await client.projects.delete(id);
      deleted++;
    }
    expect([deleted, list.rows, list.requests]).toEqual([500, [], 6]);
  });

  it.each(pagings.flatMap((paging) => [true, false].map((isAwaited) => ({ ...paging, isAwaited }))))(
    'yields every row that is not deleted before, with paging $style, if each delete is awaited: $isAwaited',
    async ({ isAwaited, ...paging }) => {
      for (let n = runs(5, 300, 3_000); n > 0; n--) {
        // Rows that arrive while a delete is in flight can hide that others have moved up.
        const onPage = (list: MovingList): unknown => isAwaited && below(2) > 0 && list.add();
        const list = new MovingList(below(120), { paging, hasTotal: false, onPage });
        await using client = list.connect();
        const [expected, seen, open] = [new Set(list.rows), new Set<number>(), new Set<Promise<void>>()];
        for await (const { id } of client.projects.list({ per_page: 7 })) {
          seen.add(id);
          const target = random() < 0.5 ? id : list.rows[below(list.rows.length)];
          if (random() < 0.4 || target === undefined) continue;
          if (!seen.has(target)) expected.delete(target);
          const deleting = client.projects.delete(target).then(() => {});
          open.add(deleting);
          if (isAwaited) await deleting;
        }
        await Promise.all(open);
        expect([...expected].filter((id) => !seen.has(id))).toEqual([]);
      }
    },
  );
});

describe('a list that others change while it is read', () => {
  it.each([
    ['growing', false, (list: MovingList) => maybe(() => list.add())],
    ['shrinking, with a total', true, (list: MovingList) => maybe(() => list.remove())],
    ['both, with a total', true, (list: MovingList) => maybe(() => (below(2) > 0 ? list.add() : list.remove()))],
  ] as const)('has every row that exists throughout: %s', async (_, hasTotal, onPage) => {
    for (const paging of pagings) {
      for (let n = runs(5, 300, 3_000); n > 0; n--) {
        const list = new MovingList(below(120), { paging, hasTotal, onPage });
        await using client = list.connect();
        const existing = new Set(list.rows);
        const seen = new Set((await client.projects.list({ per_page: 7 }).toArray()).map(({ id }) => id));
        expect(list.rows.filter((id) => existing.has(id) && !seen.has(id))).toEqual([]);
      }
    }
  });

  it('is read to its end if the stated total counts the rows of a page', async () => {
    const [paging] = pagings;
    const list = new MovingList(530, { paging: paging as Paging, hasTotal: true, onPage: () => {} });
    await using client = list.connect(async (response) => {
      const page: { data: unknown[] } = await response.json();
      return Response.json({ ...page, meta: { total: page.data.length } });
    });
    expect(await client.projects.list().toArray()).toHaveLength(530);
    expect(list.requests).toBeLessThan(20);
  });

  it('has every row of 3,000 while others delete one before each page', async () => {
    const [paging] = pagings;
    if (!paging) return;
    const list = new MovingList(3_000, { paging, hasTotal: true, onPage: (it) => it.remove(it.rows[0]) });
    await using client = list.connect();
    const seen = new Set((await client.projects.list().toArray()).map(({ id }) => id));
    expect(list.rows.filter((id) => !seen.has(id))).toEqual([]);
    expect(list.requests).toBeLessThan(5 * 31);
  });
});
