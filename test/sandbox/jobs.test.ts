import { describe, expect, it } from 'vitest';
import type { JobKind } from '../../src/sandbox/index.ts';
import { HOUR, MINUTE, startSandbox } from '../support/sandbox-calls.ts';

interface Told {
  readonly type: string;
  readonly data: { readonly id: number; readonly status: { readonly id: number }; readonly is_lookalike?: boolean };
}

/** A sandbox that keeps the events it sends, with a completed seed audience. */
async function start() {
  const events: Told[] = [];
  const one = startSandbox({
    async deliver(request) {
      events.push(JSON.parse(await request.text()));
      return new Response();
    },
  });
  const { sandbox, account, call, token } = one;
  const all = ['audience', 'activation', 'cohort'].flatMap((kind) => [`${kind}.completed`, `${kind}.failed`]);
  sandbox.webhooks.create({ account, name: 'All', url: 'https://receiver.example/', events: all });
  const post = async (path: string, body: object = {}) => (await call('POST', `/api/v2/${path}`, { token, body })).body;
  const seed = (await post('audiences/create', {})).data[0].id;
  sandbox.jobs.finish('audience', seed, 104);
  await sandbox.advance(0);
  events.length = 0;
  const bodies: Partial<Record<JobKind, object>> = {
    lookalike: { source_audience_id: seed, config: { target_size: 5_000 } },
    activation: { audience_id: seed },
  };
  const create = async (kind: JobKind): Promise<number> => (await post(`${kind}s/create`, bodies[kind])).data[0].id;
  const statusOf = async (path: string, id: number) =>
    (await call('GET', `/api/v2/${path}/${id}`, { token })).body.data[0].status;
  return { ...one, events, post, create, statusOf };
}

describe('a job that ends', () => {
  it.each([
    ['audience', 104, 'audience.completed', 104],
    ['audience', 107, 'audience.failed', 107],
    ['audience', 422, 'audience.failed', 422],
    ['lookalike', 104, 'audience.completed', 104],
    ['lookalike', 107, 'audience.failed', 107],
    ['activation', 104, 'activation.completed', 104],
    ['activation', 107, 'activation.failed', 107],
    ['activation', 400, 'activation.failed', 400],
    ['cohort', 104, 'cohort.completed', 4],
    ['cohort', 107, 'cohort.failed', 5],
  ] as const)('of kind %s at %i emits %s, its status %i', async (kind, outcome, type, status) => {
    const { sandbox, events, create } = await start();
    sandbox.jobs.next(kind, outcome);
    const id = await create(kind);
    await sandbox.advance(HOUR);
    expect(events).toMatchObject([{ type, data: { id, status: { id: status } } }]);
    if (kind === 'lookalike') expect(events[0]?.data.is_lookalike).toBe(true);
  });

  it('of an estimate emits nothing', async () => {
    const { sandbox, events, create } = await start();
    await create('estimate');
    await sandbox.advance(HOUR);
    expect(events).toEqual([]);
  });
});

describe('the way of a job', () => {
  it.each([
    ['audience', 'audiences', [100, 102, 102, 104]],
    ['lookalike', 'audiences', [100, 102, 103, 104]],
    ['activation', 'activations', [100, 102, 105, 104]],
    ['cohort', 'cohorts', [1, 2, 3, 4]],
  ] as const)('of kind %s', async (kind, path, expected) => {
    const { sandbox, create, statusOf } = await start();
    const id = await create(kind);
    const seen = [(await statusOf(path, id)).id];
    for (const minutes of [4, 5.5, 1]) {
      await sandbox.advance(minutes * MINUTE);
      seen.push((await statusOf(path, id)).id);
    }
    expect(seen).toEqual(expected);
  });

  it('has the names of the specification: 104 Completed, 105 DataStreaming, 107 Additional Info, 4 and 5 of cohorts', async () => {
    const { sandbox, create, statusOf } = await start();
    const activation = await create('activation');
    await sandbox.advance(6 * MINUTE);
    expect(await statusOf('activations', activation)).toEqual({ id: 105, name: 'DataStreaming' });
    sandbox.jobs.finish('activation', activation, 107);
    expect(await statusOf('activations', activation)).toEqual({ id: 107, name: 'Additional Info' });
    const cohorts = [await create('cohort'), await create('cohort')];
    for (const [at, status] of [4, 5].entries()) sandbox.jobs.finish('cohort', cohorts[at] ?? 0, status);
    expect(await statusOf('cohorts', cohorts[0] ?? 0)).toEqual({ id: 4, name: 'Completed' });
    expect(await statusOf('cohorts', cohorts[1] ?? 0)).toEqual({ id: 5, name: 'Not Available' });
  });
});

describe('a lookalike that is cancelled', () => {
  it('while it runs ends at 400; while it publishes it completes', async () => {
    const { sandbox, events, create, post } = await start();
    const running = await create('lookalike');
    await post(`lookalikes/${running}/cancel`);
    await sandbox.advance(0);
    expect(events).toMatchObject([{ type: 'audience.failed', data: { id: running, status: { id: 400 } } }]);
    sandbox.jobs.next('lookalike', 107);
    const publishing = await create('lookalike');
    await sandbox.advance(9 * MINUTE);
    await post(`lookalikes/${publishing}/cancel`);
    expect(events).toHaveLength(1);
    await sandbox.advance(HOUR);
    expect(events[1]).toMatchObject({ type: 'audience.completed', data: { id: publishing, status: { id: 104 } } });
  });

  it.each([104, 107, 422])('after it has ended at %i refuses with 422 and stays as it is', async (status) => {
    const { sandbox, events, create, call, token, statusOf } = await start();
    const id = await create('lookalike');
    sandbox.jobs.finish('lookalike', id, status);
    await sandbox.advance(0);
    expect(await call('POST', `/api/v2/lookalikes/${id}/cancel`, { token })).toMatchObject({
      status: 422,
      body: { errors: { status: [`The lookalike has ended at ${status}: only a running one can be cancelled.`] } },
    });
    await sandbox.advance(HOUR);
    expect([(await statusOf('audiences', id)).id, events.length]).toEqual([status, 1]);
  });

  it('refuses a second cancel, once the first has stopped it', async () => {
    const { create, call, token } = await start();
    const path = `/api/v2/lookalikes/${await create('lookalike')}/cancel`;
    expect([(await call('POST', path, { token })).status, (await call('POST', path, { token })).status]).toEqual([
      200, 422,
    ]);
  });
});

describe('results of an activation', () => {
  it('have their URI once it is completed, not before', async () => {
    const { sandbox, create, call, token } = await start();
    const id = await create('activation');
    const uri = async () =>
      (await call('GET', `/api/v2/activations/${id}`, { token })).body.data[0].datastreams[0].results.uri;
    await sandbox.advance(9 * MINUTE);
    expect(await uri()).toBe('');
    await sandbox.advance(MINUTE);
    const file = await sandbox.fetch(await uri());
    expect(file.status).toBe(200);
    expect(await file.text()).toMatch(/^eid\nEID-0+0\n/);
  });
});
