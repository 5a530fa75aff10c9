import { describe, expect, it } from 'vitest';
import { BuildBudgetError, type RateLimiter } from '../../../src/index.ts';
import { quickly } from '../../support/quickly.ts';
import type { Step } from '../../support/script.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const create = 'POST /api/v2/audiences/create';
const usage = 'GET /api/v2/usage';

describe('a build budget refusal', () => {
  it('holds creates that were queued in the bucket already', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '100' } }]);
    const refused = Promise.withResolvers<void>();
    let creates = 0;
    // The other permits are granted after the first refusal.
    const limiter: RateLimiter = {
      acquire: async (bucket) => (bucket === 'write' && ++creates > 2 ? refused.promise : undefined),
      pause() {},
    };
    const client = clientOf(server, { maxRetryWait: 1_000, limiter });
    const errors = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(async (at) => {
        const error = await failureOf(client.audiences.create({ name: `${at}` }));
        refused.resolve();
        return error;
      }),
    );
    for (const error of errors) expect(error).toMatchObject({ name: 'BuildBudgetError' });
    expect((await server.seen()).filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('longer than the deadline fails immediately', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '100' } }]);
    const client = clientOf(server);
    await failureOf(client.audiences.create({ name: 'A' }, { maxRetries: 0 }));
    // The deadline is later than the end of a test that waits for it.
    const error = await failureOf(
      client.audiences.create({ name: 'A' }, { deadline: 50_000, maxRetryWait: 1_000_000 }),
    );
    expect(error).toMatchObject({ name: 'BuildBudgetError', retryAt: expect.any(Date), outcome: 'not-sent' });
  });

  it('leaves the outcome `refused` when the deadline passes while the client reads the usage report', () =>
    quickly(async () => {
      const server = await startServer({ [create]: [{ status: 429 }], [usage]: [{ fault: 'stall' }] });
      const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { deadline: 2_000 }));
      expect(error).toMatchObject({ code: 'deadline-exceeded', outcome: 'refused', attempts: 1 });
      expect(error).toSatisfy((it: Error) => it.cause instanceof Error && it.cause.name === 'RateLimitError');
    }));

  it('is recognized by one usage read, without retries', async () => {
    const server = await startServer({
      [create]: [{ status: 429, headers: { 'retry-after': '0' } }],
      [usage]: [{ status: 503 }],
    });
    await failureOf(clientOf(server).audiences.create({ name: 'A' }, { maxRetries: 0 }));
    expect((await server.seen()).filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it('is known for creates through `request`, too', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '1800' } }, { data: [] }]);
    const client = clientOf(server, { maxRetryWait: 1_000 });
    const options = { body: { name: 'x' }, idempotencyKey: 'k' };
    expect(await failureOf(client.request('POST', '/api/v2/lookalikes/create', options))).toMatchObject({
      name: 'BuildBudgetError',
    });
    expect(await client.audiences.delete(1)).toBeUndefined();
  });
});

describe('a create that is refused with a long `Retry-After`', () => {
  const limited = { status: 429, headers: { 'retry-after': '900' } };
  const report = (used: number, seconds: number | null) => ({
    data: { build_budget: { hour: { limit: 60, used }, day: { limit: 300, used }, retry_after_seconds: seconds } },
  });

  it.each<[string, Step, Step, object]>([
    ['a page of a CDN is a rate limit', { ...limited, text: '<html>' }, report(60, 900), { name: 'RateLimitError' }],
    [
      'JSON of a proxy is a rate limit',
      { ...limited, text: '{"message":"Slow"}' },
      report(60, 900),
      { name: 'RateLimitError' },
    ],
    ['budget is left: a rate limit', limited, report(1, null), { name: 'RateLimitError' }],
    ['budget is left, and the time is 0: a rate limit', limited, report(1, 0), { name: 'RateLimitError' }],
    ['the budget is used up', limited, report(60, 900), { name: 'BuildBudgetError', budget: expect.anything() }],
    ['the usage report cannot be read', limited, { status: 503 }, { name: 'BuildBudgetError' }],
    ['the usage report lacks the budget', limited, { data: {} }, { name: 'BuildBudgetError' }],
  ])('%s', async (_, response, usageReport, expected) => {
    const server = await startServer({ [create]: [response], [usage]: [usageReport] });
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
    expect(error).toMatchObject({ ...expected, retryAfter: 900, outcome: 'refused', attempts: 1 });
  });

  it('is a rate limit if the usage report cannot be read, and `Retry-After` is as long as a rate bucket can ask for', async () => {
    const minute = { status: 429, headers: { 'retry-after': '60' } };
    const server = await startServer({ [create]: [minute], [usage]: [{ status: 503 }] });
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { maxRetries: 0 }));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAfter: 60 });
  });

  it('is told from a rate limit by a report of a budget that is used up, also if the report names no time', async () => {
    const server = await startServer({ [create]: [{ status: 429 }], [usage]: [report(60, null)] });
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { maxRetries: 0 }));
    expect(error).toMatchObject({ name: 'BuildBudgetError', retryAfter: 60, budget: { hour: { used: 60 } } });
  });

  it('carries the budget as `BuildBudget`, or none if the report has another shape', async () => {
    const budgetAfter = async (usageReport: Step) => {
      const server = await startServer({ [create]: [limited], [usage]: [usageReport] });
      const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }));
      if (!BuildBudgetError.isInstance(error)) throw error;
      return [error.budget?.hour.used, error.budget?.day.limit, String(error).includes('probably')];
    };
    expect(await budgetAfter(report(60, 900))).toEqual([60, 300, false]);
    const other = { data: { build_budget: { hour: { count: 60 }, day: null, retry_after_seconds: 900 } } };
    expect(await budgetAfter(other)).toEqual([undefined, undefined, false]);
  });

  it('says whether the usage report shows that the budget is used up', async () => {
    const messageAfter = async (usageReport: Step, options: { token?: string } = {}): Promise<string> => {
      const server = await startServer({ [create]: [limited], [usage]: [usageReport] });
      const error = await failureOf(
        clientOf(server).audiences.create({ name: 'A' }, { idempotencyKey: 'k', ...options }),
      );
      return String(error).replace(/[\d-]+T[\d:.]+Z/, 'then');
    };
    const unsure =
      'BuildBudgetError: audiences.create failed: 429. The build budget of the organization is probably used up until then, but the usage report could not confirm this. Wait, or ask the operator of the service for a larger budget. This call created nothing. Repeat the request with the idempotency key "k".';
    expect(await messageAfter(report(60, 900))).toBe(
      'BuildBudgetError: audiences.create failed: 429. The build budget of the organization is used up until then. Wait, or ask the operator of the service for a larger budget. This call created nothing. Repeat the request with the idempotency key "k".',
    );
    expect(await messageAfter({ status: 503 })).toBe(unsure);
    expect(await messageAfter(report(60, 900), { token: 'of-another-account' })).toBe(unsure);
  });
});

describe('a pause of a bucket', () => {
  it('longer than the deadline fails immediately with the time', async () => {
    const server = await startServer([{ status: 429, headers: { 'retry-after': '30' } }]);
    const client = clientOf(server);
    await failureOf(client.audiences.get(1, { maxRetries: 0 }));
    const error = await failureOf(client.audiences.get(2, { deadline: 5_000 }));
    expect(error).toMatchObject({ name: 'RateLimitError', retryAt: expect.any(Date), attempts: 0 });
  });
});
