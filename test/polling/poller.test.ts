import { describe, expect, it } from 'vitest';
import {
  AuthenticationError,
  JobCancelledError,
  JobFailedError,
  JobNeedsInfoError,
  WaitTimeoutError,
} from '../../src/index.ts';
import { startBench } from '../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const at = (id: number, more: object = {}) => ({ data: [{ ...wireAudience(42, { id, name: `S${id}` }), ...more }] });

describe('wait', () => {
  it('starts at once and resolves at 104, through statuses it does not know', async () => {
    const server = await startServer([at(101), at(987), at(104)]);
    const seen: string[] = [];
    const audience = await clientOf(server).audiences.wait(42, {
      onUpdate: ({ status }, { elapsed, source }) => seen.push(`${status.id} ${source} ${elapsed >= 0}`),
    });
    expect(audience.status.id).toBe(104);
    expect(seen).toEqual(['101 poll true', '987 poll true', '104 poll true']);
    const requests = await server.seen();
    for (const [index, one] of requests.entries()) {
      const next = requests[index + 1];
      if (next) expect(next.at - one.at).toBeGreaterThan(1_500);
    }
  });

  it.each([
    [at(107), JobNeedsInfoError, 'job-needs-info'],
    [at(422), JobFailedError, 'job-failed'],
    [at(400), JobFailedError, 'job-failed'],
    [at(400, { is_lookalike: true }), JobCancelledError, 'job-cancelled'],
  ])('throws what became of the job', async (step, ErrorClass, code) => {
    const server = await startServer([step]);
    const error = await failureOf(clientOf(server).audiences.wait({ id: 42 }));
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toMatchObject({ code, kind: 'audience', id: 42, resource: { id: 42, name: 'Visitors' } });
  });

  it('rides out 429, 5xx, a proxy’s page and lost connections', async () => {
    const trouble = [{ status: 429 }, { status: 503 }, { text: '<html>' }, { fault: 'cut' } as const];
    const server = await startServer([...trouble, at(104)]);
    const client = clientOf(server, { maxRetries: 0 });
    expect(await client.audiences.wait(42)).toMatchObject({ id: 42 });
    expect(await server.seen()).toHaveLength(5);
  });

  it.each([401, 403, 404])('is ended by %i', async (status) => {
    const server = await startServer([at(101), { status }]);
    expect(await failureOf(clientOf(server).audiences.wait(42))).toMatchObject({ status });
  });

  it('is ended by an answer that is no audience', async () => {
    const server = await startServer([{ data: [{ id: 42 }] }]);
    expect(await failureOf(clientOf(server).audiences.wait(42))).toMatchObject({ code: 'response-invalid' });
  });

  it('has a timeout that carries the resource as last seen', async () => {
    const server = await startServer([at(101)]);
    const error = await failureOf(clientOf(server).audiences.wait(42, { timeout: 300 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ kind: 'audience', id: 42, resource: { status: { id: 101 } } });
    expect(await failureOf(clientOf(server).audiences.wait(42, { timeout: 0 }))).toBeInstanceOf(WaitTimeoutError);
    const broken = clientOf(server).audiences.wait(42, { timeout: Number.NaN });
    expect(await failureOf(broken)).toMatchObject({ name: 'ConfigurationError' });
    expect(await server.seen()).toHaveLength(1);
  });

  it('ends with the caller’s reason, and asks no more', async () => {
    const server = await startServer([at(101)]);
    const controller = new AbortController();
    const { signal } = controller;
    const wait = failureOf(clientOf(server).audiences.wait(42, { signal, onUpdate: () => controller.abort('enough') }));
    expect(await wait).toBe('enough');
    expect(await failureOf(clientOf(server).audiences.wait(42, { signal }))).toBe('enough');
    expect(await server.seen()).toHaveLength(1);
  });

  it('is ended by close', async () => {
    const server = await startServer([at(101)]);
    const client = clientOf(server);
    const wait = failureOf(client.audiences.wait(42, { onUpdate: () => void client.close() }));
    expect(await wait).toMatchObject({ code: 'client-closed' });
  });

  it('is not harmed by a callback that throws', async () => {
    const server = await startServer([at(104)]);
    const onUpdate = () => {
      throw new Error('broken');
    };
    expect(await clientOf(server).audiences.wait(42, { onUpdate })).toMatchObject({ id: 42 });
  });
});

describe('waits for jobs of every kind', () => {
  it('over HTTP, begun together, share the pages of their lists', async () => {
    const { client, sandbox } = await startBench(
      { limits: { buildsPerHour: 1_000, write: { limit: 1_000, interval: 60_000 } } },
      { rateLimits: { write: { limit: 1_000, interval: 60_000 } } },
    );
    const many = async <T>(create: (at: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: 20 }, (_, at) => create(at)));
    const audiences = await many((at) => client.audiences.create({ name: `Audience ${at}` }));
    const cohorts = await many((at) => client.cohorts.create({ name: `Cohort ${at}` }));
    const before = sandbox.log.length;
    const sources = new Set<string>();
    const onUpdate = (_: unknown, { source }: { readonly source: string }): void => void sources.add(source);
    const waiting = Promise.all([
      ...audiences.map((audience) => client.audiences.wait(audience, { onUpdate })),
      ...cohorts.map((cohort) => client.cohorts.wait(cohort, { onUpdate })),
    ]);
    const lists = ['/api/v2/audiences/index', '/api/v2/cohorts/index'];
    const reads = () => sandbox.log.slice(before);
    // Both kinds have been looked at before all of them end at once.
    await expect.poll(() => new Set(reads().map(({ path }) => path)), { timeout: 10_000 }).toEqual(new Set(lists));
    await sandbox.advance(3_600_000);
    const ended = await waiting;
    expect(ended.map(({ status }) => status.id)).toEqual([...audiences.map(() => 104), ...cohorts.map(() => 4)]);
    expect(sources).toEqual(new Set(['list']));
    expect(new Set(reads().map(({ path }) => path))).toEqual(new Set(lists));
    expect(reads().length).toBeLessThanOrEqual(12);
  });
});

describe('watch', () => {
  it('yields each change of status, the last one final, and does not throw', async () => {
    const server = await startServer([at(101), at(101), at(102), at(107)]);
    const seen: number[] = [];
    for await (const { status } of clientOf(server).audiences.watch(42)) seen.push(status.id);
    expect(seen).toEqual([101, 102, 107]);
  });

  it('looks anew in each walk', async () => {
    const server = await startServer([at(104)]);
    const watch = clientOf(server).audiences.watch(42);
    for (const _ of [1, 2]) for await (const { id } of watch) expect(id).toBe(42);
    expect(await server.seen()).toHaveLength(2);
  });

  it('asks no more after a break', async () => {
    const server = await startServer([at(101)]);
    for await (const _ of clientOf(server).audiences.watch(42)) break;
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('createAndWait', () => {
  it('creates once, tells the created resource and waits for its end', async () => {
    const { client, sandbox } = await startBench({ clock: { speed: 600 } });
    const created: number[] = [];
    const audience = await client.audiences.createAndWait(
      { name: 'x' },
      { onCreated: ({ id }) => created.push(id), wait: { timeout: 20_000 } },
    );
    expect(created).toEqual([audience.id]);
    expect(audience.status).toEqual({ id: 104, name: 'Completed' });
    expect(sandbox.log.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('throws what the job ended with', async () => {
    const { client } = await startBench({ clock: { speed: 600 }, jobs: { outcome: 107, duration: 60_000 } });
    expect(await failureOf(client.audiences.createAndWait({ name: 'x' }))).toBeInstanceOf(JobNeedsInfoError);
  });

  it('whose wait fails tells what was created, so that it can be waited for again', async () => {
    const { client, sandbox, account, connect } = await startBench();
    let creating = Promise.resolve<unknown>(undefined);
    const [{ id }] = await new Promise<[{ id: number }]>((resolve) => {
      const onCreated = (audience: { id: number }): void => {
        account.changePassword('new');
        resolve([audience]);
      };
      creating = failureOf(client.audiences.createAndWait({ name: 'x' }, { idempotencyKey: 'k', onCreated }));
    });
    const error = await creating;
    if (!AuthenticationError.isInstance(error) || !error.created) throw error;
    expect(error).toMatchObject({ outcome: 'done', idempotencyKey: 'k', created: { kind: 'audience', id } });
    expect(error.message).toContain(`The audience ${id} was created and goes on`);
    expect(JSON.parse(JSON.stringify(error)).created).toEqual({ kind: 'audience', id });
    sandbox.jobs.finish('audience', id, 104);
    const again = connect({ token: account.token('api') });
    expect(await again.waits.wait(error.created)).toMatchObject({ id, status: { id: 104 } });
  });

  it('leaves alone what an abort of its wait rejects with', async () => {
    const { client } = await startBench();
    const controller = new AbortController();
    const reason = new Error('enough');
    const onCreated = (): void => controller.abort(reason);
    const creating = client.audiences.createAndWait({ name: 'x' }, { signal: controller.signal, onCreated });
    expect(await failureOf(creating)).toBe(reason);
  });

  it('refuses wrong options of the wait before it creates, or uploads, anything', async () => {
    const { client, sandbox } = await startBench();
    const wait: object = { timout: 5 };
    const told = { name: 'ConfigurationError', message: expect.stringContaining('`timout` is no option of a wait') };
    expect(await failureOf(client.audiences.createAndWait({ name: 'x' }, { wait }))).toMatchObject(told);
    expect(await failureOf(client.cohorts.import(new Uint8Array(3), {}, { wait }))).toMatchObject(told);
    expect(sandbox.log).toEqual([]);
  });
});
