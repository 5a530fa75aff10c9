import { describe, expect, it } from 'vitest';
import { recentDataset, startBench } from '../../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

describe('audiences', () => {
  it('are created, read, listed and deleted', async () => {
    const { client } = await startBench();
    const created = await client.audiences.create({ name: 'Visitors', dataset: recentDataset() });
    expect(created).toMatchObject({ name: 'Visitors', status: { id: 100 }, is_activation_allowed: false });
    expect(await client.audiences.get(created.id)).toEqual(created);
    expect((await client.audiences.list()).items).toEqual([created]);
    expect(await client.audiences.delete(created.id)).toBeUndefined();
    expect(await failureOf(client.audiences.get(created.id))).toMatchObject({ name: 'NotFoundError' });
  });

  it('audiences whose WebDomain data start too early are refused before sending', async () => {
    const { client, sandbox } = await startBench();
    const ago = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    const create = (days: number, analysis_type = 'WebDomain') =>
      client.audiences.create({ name: 'A', dataset: [{ analysis_type, start_date: ago(days), end_date: ago(1) }] });
    const error = await failureOf(create(48));
    expect(error).toMatchObject({ local: true, errors: { 'dataset.0.start_date': [expect.any(String)] } });
    expect(sandbox.log).toEqual([]);
    await create(48, 'AffinityTransactions');
    // A day of grace: what may be in time elsewhere is left to the service.
    expect(await failureOf(create(46))).toMatchObject({ name: 'ValidationError', local: false });
  });

  it('carry the service’s 422 for an unknown project', async () => {
    const { client } = await startBench();
    const error = await failureOf(client.audiences.create({ name: 'A', project_id: 77 }));
    expect(error).toMatchObject({ errors: { project_id: [expect.any(String)] }, outcome: 'refused' });
  });
});

describe('a list', () => {
  const rows = (from: number, count: number) => Array.from({ length: count }, (_, at) => wireAudience(from + at));

  it('requests each page when the iteration reaches it', async () => {
    const server = await startServer([{ data: rows(1, 100) }, { data: rows(101, 100) }, { data: rows(201, 37) }]);
    const list = clientOf(server).audiences.list();
    const ids: number[] = [];
    for await (const { id } of list) {
      ids.push(id);
      if (ids.length === 5) expect(await server.seen()).toHaveLength(1);
    }
    expect(ids).toEqual(Array.from({ length: 237 }, (_, at) => at + 1));
    expect((await server.seen()).map(({ url }) => url.split('?')[1])).toEqual([
      'page=1&per_page=100',
      'page=2&per_page=100',
      'page=3&per_page=100',
    ]);
  });

  it.each([10, 25, 50])('a list of a service that returns at most %i rows a page is complete', async (most) => {
    const total = 2 * most + 7;
    const all = rows(1, total);
    const pages = Array.from({ length: 3 }, (_, page) => ({ data: all.slice(page * most, (page + 1) * most) }));
    const server = await startServer(pages);
    expect(await clientOf(server).audiences.list().toArray()).toHaveLength(total);
    expect(await server.seen()).toHaveLength(3);
  });

  it.each([
    ['an odd number of rows ends with its only page', [37], 1],
    ['as many rows as a reduced page may have ends with an empty page', [50, 0], 2],
    ['several reduced pages and no rest ends with an empty page', [50, 50, 0], 3],
    ['full pages ends with a shorter one, whatever its number of rows', [100, 50], 2],
  ])('the iteration of a list of %s', async (_, sizes, requests) => {
    let from = 1;
    const pages = sizes.map((size) => {
      from += size;
      return { data: rows(from - size, size) };
    });
    const server = await startServer(pages);
    expect(await clientOf(server).audiences.list().toArray()).toHaveLength(from - 1);
    expect(await server.seen()).toHaveLength(requests);
  });

  it('a list of as many rows as a reduced page may have is complete where the service has no page after the last', async () => {
    const server = await startServer([{ data: rows(1, 10) }, { status: 404, text: '{}' }]);
    expect(await clientOf(server).audiences.list().toArray()).toHaveLength(10);
  });

  it('a list of a service that ignores the page and reduces it ends with what it has shown', async () => {
    const server = await startServer([{ data: rows(1, 25) }, { data: rows(1, 25) }]);
    expect(await clientOf(server).audiences.list().toArray()).toHaveLength(25);
  });

  it('is an array of all rows, or of the first ones, without a page that is not needed', async () => {
    const pages = [{ data: rows(1, 3) }, { data: rows(4, 3) }, { data: rows(7, 1) }];
    for (const [limit, count, requests] of [
      [undefined, 7, 3],
      [6, 6, 2],
      [4, 4, 2],
      [3, 3, 1],
      [0, 0, 1],
      [Number.POSITIVE_INFINITY, 7, 3],
    ] as const) {
      const server = await startServer(pages);
      const array = await clientOf(server).audiences.list({ per_page: 3 }).toArray({ limit });
      expect(array.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7].slice(0, count));
      expect(await server.seen()).toHaveLength(requests);
    }
  });

  it.each([-1, 1.5, Number.NaN, null, '1'])('`toArray` refuses the limit %j', async (limit) => {
    const server = await startServer([{ data: rows(1, 1) }]);
    const array = clientOf(server)
      .audiences.list()
      .toArray({ limit: limit as number });
    await expect(array).rejects.toMatchObject({ name: 'ConfigurationError' });
  });

  it('a list whose rows differ in more than an id loses none', async () => {
    const places = ['country', 'state', 'city'].flatMap((type) => [0, 1].map((id) => ({ id, type })));
    const server = await startServer([{ data: places.slice(0, 4) }, { data: places.slice(4) }]);
    const rowsSeen: unknown[] = [];
    for await (const row of clientOf(server).reference.list('common', 'geo', { per_page: 4 })) rowsSeen.push(row);
    expect(rowsSeen).toEqual(places);
  });

  it('loses no row and doubles none when rows come and go meanwhile, but those that slip over a page’s edge', async () => {
    const server = await startServer([{ data: rows(1, 3) }, { data: rows(3, 3) }, { data: rows(7, 1) }]);
    const ids: number[] = [];
    for await (const { id } of clientOf(server).audiences.list({ per_page: 3 })) ids.push(id);
    expect(ids).toEqual([1, 2, 3, 4, 5, 7]);
  });

  it('answers concurrent calls of `next` in order', async () => {
    const server = await startServer([{ data: rows(1, 2) }, { data: rows(3, 1) }]);
    const walk = clientOf(server).audiences.list({ per_page: 2 })[Symbol.asyncIterator]();
    const results = await Promise.all([walk.next(), walk.next(), walk.next(), walk.next()]);
    expect(results.map(({ value }) => value?.id)).toEqual([1, 2, 3, undefined]);
    expect(await server.seen()).toHaveLength(2);
  });

  it('requests no further page after a break, and rejects with the reason of an abort', async () => {
    const server = await startServer([{ data: rows(1, 2) }]);
    for await (const _ of clientOf(server).audiences.list({ per_page: 2 })) break;
    expect(await server.seen()).toHaveLength(1);
    const controller = new AbortController();
    const list = clientOf(server).audiences.list({ per_page: 2 }, { signal: controller.signal });
    const walk = async () => {
      for await (const _ of list) controller.abort('enough');
    };
    expect(await failureOf(walk())).toBe('enough');
  });

  it('pages in another style by an override', async () => {
    const server = await startServer([{ data: { rows: rows(1, 2) } }, { data: { rows: rows(3, 1) } }]);
    const rowsOf = (data: unknown) => (typeof data === 'object' && data !== null && 'rows' in data ? data.rows : data);
    const client = clientOf(server, {
      operations: {
        'audiences.list': {
          path: '/api/v3/audiences',
          query: ({ page, per_page }) => ({ offset: (Number(page) - 1) * Number(per_page), limit: Number(per_page) }),
          data: rowsOf,
        },
      },
    });
    const ids: number[] = [];
    for await (const { id } of client.audiences.list({ per_page: 2 })) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect((await server.seen()).map(({ url }) => url)).toEqual([
      '/api/v3/audiences?offset=0&limit=2',
      '/api/v3/audiences?offset=2&limit=2',
    ]);
  });

  it('may be walked again and again', async () => {
    const server = await startServer([{ data: rows(1, 2) }, { data: rows(3, 1) }, { data: rows(3, 1) }]);
    const list = clientOf(server).audiences.list({ per_page: 2 });
    const walk = async () => {
      const ids: number[] = [];
      for await (const { id } of list) ids.push(id);
      return ids;
    };
    expect([await walk(), await walk()]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  it('awaited and iterated shares its first page', async () => {
    const server = await startServer([{ data: rows(1, 3) }]);
    const list = clientOf(server).audiences.list();
    const page = await list;
    expect(page).toMatchObject({ page: 1, perPage: 100, envelope: { code: 200 } });
    expect(page.nextPage()).toBeUndefined();
    for await (const audience of list) expect(page.items).toContain(audience);
    expect(await server.seen()).toHaveLength(1);
  });

  it('drops rows already seen, and is an error when a full page holds no new one', async () => {
    const server = await startServer([{ data: rows(1, 2) }, { data: rows(2, 2) }, { data: rows(2, 2) }]);
    const ids: number[] = [];
    const error = await failureOf(
      (async () => {
        for await (const { id } of clientOf(server).audiences.list({ per_page: 2 })) ids.push(id);
      })(),
    );
    expect(ids).toEqual([1, 2, 3]);
    expect(error).toMatchObject({ name: 'ResponseError' });
  });

  it('requests a failed page again when asked', async () => {
    const server = await startServer([{ data: rows(1, 2) }, { status: 404 }, { data: rows(3, 1) }]);
    const page = await clientOf(server).audiences.list({ per_page: 2 });
    expect(await failureOf(page.nextPage() ?? Promise.resolve())).toMatchObject({ name: 'NotFoundError' });
    const [one, two] = await Promise.all([page.nextPage(), page.nextPage()]);
    expect(one).toBe(two);
    expect(one?.items).toHaveLength(1);
    expect(await server.seen()).toHaveLength(3);
  });

  it.each([
    [{ per_page: 101 }, 'per_page'],
    [{ per_page: 0 }, 'per_page'],
    [{ page: 0 }, 'page'],
  ])('refuses %j before sending', async (params, field) => {
    const server = await startServer([{}]);
    expect(await failureOf(clientOf(server).audiences.list(params))).toMatchObject({
      local: true,
      errors: { [field]: [expect.any(String)] },
    });
    expect(await server.seen()).toEqual([]);
  });
});
