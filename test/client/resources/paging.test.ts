import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const row = (id: number) => ({ id, name: `P${id}` });
/** Returns a page that has the next cursor beside its rows. */
const page = (data: readonly object[], next: unknown) => ({
  text: JSON.stringify({ status: 'success', code: 200, message: '', data, meta: { next } }),
});
const cursor: Paging = { style: 'cursor', param: 'after', size: 'first', next: 'meta.next' };

describe('the paging of a contract', () => {
  it('takes the cursor out of an address, and ends where there is none', async () => {
    const server = await startServer([
      page([row(1)], 'https://api.example.com/projects?first=1&after=abc%3D'),
      page([row(2)], 9),
      page([row(3)], null),
    ]);
    const client = clientOf(server, { contract: { paging: cursor } });
    expect(await client.projects.list({ per_page: 1 }).toArray()).toHaveLength(3);
    expect((await server.seen()).map(({ url }) => new URL(url, 'http://x').search)).toEqual([
      '?first=1',
      '?after=abc%3D&first=1',
      '?after=9&first=1',
    ]);
  });

  it('reads on after a short page of a cursor, and stops at the second one that repeats rows', async () => {
    const server = await startServer([
      page([row(1), row(2)], 'a'),
      page([row(3)], 'b'),
      page([row(3)], 'b'),
      page([row(3)], 'b'),
    ]);
    const client = clientOf(server, { contract: { paging: cursor } });
    expect((await client.projects.list({ per_page: 2 }).toArray()).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it('reads on after empty pages of a cursor, unless the cursors of empty pages repeat', async () => {
    const server = await startServer([page([], 'a'), page([row(1)], 'b'), page([], 'c'), page([row(2)], '?after=')]);
    const client = clientOf(server, { contract: { paging: cursor } });
    expect((await client.projects.list().toArray()).map(({ id }) => id)).toEqual([1, 2]);

    const circle = await startServer([page([], 'a'), page([], 'b'), page([], 'a'), page([], 'b')]);
    expect(
      await clientOf(circle, { contract: { paging: cursor } })
        .projects.list()
        .toArray(),
    ).toEqual([]);
    expect(await circle.seen()).toHaveLength(4);
  });

  it('begins with a cursor of the caller', async () => {
    const server = await startServer([page([row(1)], 'b'), page([row(2)], null)]);
    const client = clientOf(server, { contract: { paging: cursor } });
    await client.projects.list({ per_page: 1 }, { query: { after: 'a' } }).toArray();
    expect((await server.seen()).map(({ url }) => new URL(url, 'http://x').searchParams.get('after'))).toEqual([
      'a',
      'b',
    ]);
  });

  it('refuses to begin with a later page of a cursor', async () => {
    const server = await startServer([]);
    const client = clientOf(server, { contract: { paging: cursor } });
    expect(await failureOf(client.projects.list({ page: 2 }))).toMatchObject({
      code: 'validation-failed',
      errors: { page: ['must be 1, because the service pages with a cursor.'] },
    });
    expect(await server.seen()).toEqual([]);
  });

  it('begins at the page that is asked for, and advances an offset by the rows received', async () => {
    const server = await startServer([{ data: [row(1), row(2)] }, { data: [row(3)] }]);
    const client = clientOf(server, { contract: { paging: { style: 'offset', param: 'skip', size: 'take' } } });
    const first = await client.projects.list({ page: 3, per_page: 2 });
    const second = await first.nextPage();
    expect([second?.page, second?.items.map(({ id }) => id), second?.nextPage()]).toEqual([4, [3], undefined]);
    expect((await server.seen()).map(({ url }) => new URL(url, 'http://x').search)).toEqual([
      '?skip=4&take=2',
      '?skip=6&take=2',
    ]);
  });

  it('refuses more rows than a page can have, and passes the query on to an override', async () => {
    const server = await startServer([{ data: [] }]);
    const client = clientOf(server, {
      contract: { paging: { style: 'offset', param: 'skip', size: 'take', maxSize: 50 } },
      operations: { 'projects.list': { query: ({ skip, ...query }) => ({ ...query, from: skip }) } },
    });
    expect(await failureOf(client.projects.list({ per_page: 51 }))).toMatchObject({
      errors: { per_page: ['must be an integer from 1 to 50, not 51.'] },
    });
    await client.projects.list();
    expect((await server.seen()).map(({ url }) => new URL(url, 'http://x').search)).toEqual(['?take=50&from=0']);
  });
});

describe('a list that grows while it is read', () => {
  const paged = (numbers: readonly number[]) => ({ data: numbers.map(row) });
  const offset: Paging = { style: 'offset', param: 'skip', size: 'take' };

  it.each<[string, Paging | undefined, string]>([
    ['pages', undefined, '?page=4&per_page=2'],
    ['offsets', offset, '?skip=6&take=2'],
  ])('continues past a page of rows that it has shown already: %s', async (_, paging, last) => {
    // Two rows arrive after the first page, so that the second one has the rows of the first.
    const server = await startServer([paged([9, 8]), paged([9, 8]), paged([7, 6]), paged([5])]);
    const client = clientOf(server, paging && { contract: { paging } });
    expect((await client.projects.list({ per_page: 2 }).toArray()).map(({ id }) => id)).toEqual([9, 8, 7, 6, 5]);
    expect(new URL((await server.seen())[3]?.url ?? '', 'http://x').search).toBe(last);
  });

  it('continues past a page of known rows that the service has reduced', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => index + 1);
    const server = await startServer([paged(rows.slice(0, 25)), paged(rows.slice(0, 25)), paged(rows.slice(25))]);
    expect(await clientOf(server).projects.list().toArray()).toHaveLength(30);
  });

  it('has a page without rows for those that arrived, which leads to the next one', async () => {
    const server = await startServer([paged([9, 8]), paged([9, 8]), paged([7])]);
    const second = await (await clientOf(server).projects.list({ per_page: 2 })).nextPage();
    expect(second).toMatchObject({ page: 2, items: [] });
    const third = await second?.nextPage();
    expect([third?.items.map(({ id }) => id), third?.nextPage()]).toEqual([[7], undefined]);
  });

  it('rejects at the second successive full page without a new row', async () => {
    const server = await startServer([paged([9, 8]), paged([9, 8]), paged([7, 6]), paged([9, 8]), paged([7, 6])]);
    const error = await failureOf(clientOf(server).projects.list({ per_page: 2 }).toArray());
    expect(error).toMatchObject({ name: 'ResponseError', operation: 'projects.list' });
    expect(String(error)).toContain('`page` seems to have no effect: page 5 repeats earlier rows.');
  });
});

describe('a list of a service that pages in another way', () => {
  it('is logged once, if two pages that may not be the last repeat the first one', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => row(index));
    const server = await startServer(Array.from({ length: 6 }, () => ({ data: rows })));
    const warnings: string[] = [];
    const client = clientOf(server, {
      logLevel: 'warn',
      logger: { ...console, warn: (message) => void warnings.push(message) },
    });
    for (let n = 0; n < 2; n++) expect(await client.projects.list().toArray()).toHaveLength(25);
    expect(warnings).toEqual([
      'projects.list: `page` seems to have no effect: page 3 repeats earlier rows. If rows are missing, set `contract.paging`.',
    ]);
  });

  it('ends page by page where the next page does not exist, as it does for an iteration', async () => {
    const rows = Array.from({ length: 25 }, (_, index) => row(index));
    const server = await startServer([{ data: rows }, { status: 404 }, { data: rows }, { status: 404 }]);
    const client = clientOf(server);
    const next = await (await client.projects.list()).nextPage();
    expect([next?.page, next?.items, next?.nextPage()]).toEqual([2, [], undefined]);
    expect(await client.projects.list().toArray()).toHaveLength(25);
  });
});
