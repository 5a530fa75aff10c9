import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, openApiDocument, type ServiceContract } from '../../src/index.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { credentials } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { describedBy } from './described-exchanges.ts';

const manyRequests = { limit: 100_000, interval: 60_000 };
const limits = { read: manyRequests, write: manyRequests, buildsPerHour: 1_000, buildsPerDay: 1_000 };
const dataset = [{ analysis_type: 'AffinityTransactions', start_date: '2026-01-01', end_date: '2026-01-31' }];

/**
 * Starts a sandbox and a client of the same contract, whose requests the document of the contract must describe. With
 * `cap`, only the sandbox knows that its pages are smaller.
 */
function startContracted(contract: ServiceContract, cap?: number, options: SandboxOptions = {}) {
  const paging = contract.paging && { ...contract.paging, ...(cap && { maxSize: cap }) };
  const sandbox = createSandbox({ clock: 'manual', limits, contract: { ...contract, paging }, ...options });
  const token = sandbox.accounts.create(credentials).token('api');
  const { fetch, problems } = describedBy(openApiDocument({ contract }), sandbox.fetch);
  const client = new AudienceClient({ baseUrl: 'http://localhost', token, fetch, contract, rateLimits: false });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  return { sandbox, client, problems };
}

/** More rows than fit on a page, and no multiple of a page. */
const ROWS = 131;

const contracts: [string, ServiceContract, number?][] = [
  ['pages of 7 rows', { paging: { style: 'page', param: 'page_number', size: 'page_size', maxSize: 7 } }],
  ['pages whose size is not chosen', { paging: { style: 'page', param: 'page' } }],
  [
    'an offset and pages that are shorter than requested',
    { paging: { style: 'offset', param: 'offset', size: 'limit' } },
    25,
  ],
  [
    'a cursor and rows within `data`',
    {
      operations: {
        'audiences.list': { path: '/api/v2/audience', data: 'data.items' },
        'audiences.get': { path: '/api/v2/audience/{id}', data: 'data.item' },
        'audiences.create': { path: '/api/v2/audience', data: 'result' },
        'audiences.delete': { method: 'DELETE', path: '/api/v2/audience/{id}' },
        'reference.list': { data: 'data.rows' },
      },
      paging: { style: 'cursor', param: 'cursor', size: 'limit', maxSize: 20, next: 'data.next_cursor' },
    },
  ],
  [
    'other zone, header and waits',
    { serverTimeZone: 'Asia/Kolkata', requestIdHeader: 'x-trace', waits: { via: 'get' } },
  ],
];

describe.each(contracts)('a service with %s', (_, contract, cap) => {
  it('is listed completely, and its waits end', async () => {
    const { sandbox, client, problems } = startContracted(contract, cap);
    const created = await Promise.all(
      Array.from({ length: ROWS }, (_, index) => client.audiences.create({ name: `A${index}`, dataset })),
    );
    const ids = created.map(({ id }) => id).toSorted((a, b) => a - b);
    const rows = await client.audiences.list().toArray();
    expect(rows.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
    expect(await client.reference.list('web', 'domains').toArray()).toHaveLength(620);

    const first = await client.audiences.list({ per_page: 5 });
    const second = await first.nextPage();
    expect([first, second].map((page) => [page?.page, page?.items.length])).toEqual(
      contract.paging && contract.paging.size === undefined
        ? [
            [1, 25],
            [2, 25],
          ]
        : [
            [1, 5],
            [2, 5],
          ],
    );

    await sandbox.advance(3_600_000);
    const reads = sandbox.log.length;
    // One by one, each takes a read.
    const awaited = ids.slice(contract.waits?.via === 'get' ? -3 : -60);
    const ended = await Promise.all(awaited.map((id) => client.audiences.wait(id, { timeout: 60_000 })));
    expect(ended.every(({ status }) => status.id === 104)).toBe(true);
    const singles = sandbox.log.slice(reads).filter(({ path }) => /\/\d+$/.test(path));
    expect(singles).toHaveLength(contract.waits?.via === 'get' ? 3 : 0);
    expect(problems).toEqual([]);
  });

  it('is created in, read and deleted from', async () => {
    const { sandbox, client, problems } = startContracted(contract, cap);
    const { data, requestId } = await client.audiences.create({ name: 'One', dataset }).withResponse();
    expect(requestId).toMatch(/^req_/);
    const audience = await client.audiences.get(data.id);
    expect(audience).toMatchObject({ id: data.id, name: 'One' });
    expect(client.parseTimestamp(audience.created_at)?.getTime()).toBe(Math.floor(sandbox.now() / 1_000) * 1_000);
    await client.audiences.delete(data.id);
    expect(await failureOf(client.audiences.get(data.id))).toMatchObject({ name: 'NotFoundError' });
    expect(problems).toEqual([]);
  });
});
