import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { answer } from '../support/job-service.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { startSharedService } from './support/shared-waits.ts';

let prefixes = 0;
const refuse = (): Response => answer([], 429, { 'retry-after': '3600' });
const accept = (): Response => answer(wireAudience(1, { id: 100, name: 'Created' }));

describe.each(KINDS)('the build budget of processes on %s', (kind) => {
  const redis = suiteRedis();

  /** Starts clients whose creates `respond` answers. */
  async function start(count: number, respond: (by: number) => Response | Promise<Response>) {
    const prefix = `budget-${prefixes++}`;
    const service = startSharedService(prefix);
    const connections = await Promise.all(Array.from({ length: count }, () => redis().connect(kind)));
    const creates: number[] = [];
    const clients = connections.map((connection, by) =>
      service.connect(connection, {
        maxRetries: 0,
        maxRetryWait: 1_000,
        fetch: async (_, init) => {
          // The usage report, which would show whether the budget has refused the create.
          if (init?.method === 'GET') return answer([], 404);
          creates.push(by);
          return respond(by);
        },
      }),
    );
    const create = (by: number) => clients[by]?.audiences.create({ name: 'Visitors' });
    return { prefix, creates, create };
  }

  it('is refused once: creates of the other processes are not sent', async () => {
    const { prefix, creates, create } = await start(3, refuse);
    expect(await failureOf(Promise.resolve(create(0)))).toMatchObject({ code: 'build-budget-exhausted' });
    const probe = await redis().connect('redis');
    await eventually(async () =>
      expect(await probe.hGet(`{${prefix}:waits:v2:localhost}:meta`, 'hold')).not.toBeNull(),
    );
    for (const by of [1, 2]) {
      const failure = await failureOf(Promise.resolve(create(by)));
      expect(failure).toMatchObject({ code: 'build-budget-exhausted', retryAt: expect.any(Date) });
    }
    expect(creates).toEqual([0]);
  });

  it('is not delayed by creates of other processes that never end', async () => {
    const { creates, create } = await start(3, async (by) => (by === 2 ? accept() : new Promise<Response>(() => {})));
    for (const by of [0, 1]) void failureOf(Promise.resolve(create(by)));
    await eventually(() => expect(creates).toHaveLength(2));
    const startedAt = performance.now();
    await create(2);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(creates).toHaveLength(3);
  });
});

describe('while Redis fails', () => {
  it('each process holds its own creates back', async () => {
    const server = await startRedis();
    const service = startSharedService('budget-outage');
    const sent: number[] = [];
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      if (init?.method === 'GET') return answer([], 404);
      sent.push(1);
      return refuse();
    };
    const client = service.connect(await server.connect('redis'), { maxRetries: 0, maxRetryWait: 1_000, fetch });
    await server.kill();
    for (let at = 0; at < 3; at++) {
      expect(await failureOf(client.audiences.create({ name: 'Visitors' }))).toMatchObject({
        code: 'build-budget-exhausted',
      });
    }
    expect(sent).toHaveLength(1);
  });
});
