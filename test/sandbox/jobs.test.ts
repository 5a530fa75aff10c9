import { describe, expect, it } from 'vitest';
import { createSandbox, type JobKind } from '../../src/sandbox/index.ts';
import { startBench } from '../support/sandbox.ts';
import { HOUR, MINUTE, startSandbox } from './support/sandbox-calls.ts';

interface SentEvent {
  readonly type: string;
  readonly data: { readonly id: number; readonly status: { readonly id: number }; readonly is_lookalike?: boolean };
}

/** Starts a sandbox that collects the events it sends, with a completed seed audience. */
async function start() {
  const events: SentEvent[] = [];
  const api = startSandbox({
    async deliver(request) {
      events.push(JSON.parse(await request.text()));
      return new Response();
    },
  });
  const { sandbox, account, call, token } = api;
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
  return { ...api, events, post, create, statusOf };
}

describe('the end of a job', () => {
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
  ] as const)('the end of a job of kind %s at %i emits %s with the status %i', async (kind, outcome, type, status) => {
    const { sandbox, events, create } = await start();
    sandbox.jobs.next(kind, outcome);
    const id = await create(kind);
    await sandbox.advance(HOUR);
    expect(events).toMatchObject([{ type, data: { id, status: { id: status } } }]);
    if (kind === 'lookalike') expect(events[0]?.data.is_lookalike).toBe(true);
  });

  it('the end of an estimate emits nothing', async () => {
    const { sandbox, events, create } = await start();
    await create('estimate');
    await sandbox.advance(HOUR);
    expect(events).toEqual([]);
  });
});

describe('the statuses of a job', () => {
  it.each([
    ['audience', 'audiences', [100, 102, 102, 104]],
    ['lookalike', 'audiences', [100, 102, 103, 104]],
    ['activation', 'activations', [100, 102, 105, 104]],
    ['cohort', 'cohorts', [1, 2, 3, 4]],
  ] as const)('a job of kind %s passes through its statuses', async (kind, path, expected) => {
    const { sandbox, create, statusOf } = await start();
    const id = await create(kind);
    const seen = [(await statusOf(path, id)).id];
    for (const minutes of [4, 5.5, 1]) {
      await sandbox.advance(minutes * MINUTE);
      seen.push((await statusOf(path, id)).id);
    }
    expect(seen).toEqual(expected);
  });

  it('statuses have the documented names: 104 Completed, 105 DataStreaming, 107 Additional Info, 4 and 5 of cohorts', async () => {
    const { sandbox, create, statusOf } = await start();
    const activation = await create('activation');
    await sandbox.advance(6 * MINUTE);
    expect(await statusOf('activations', activation)).toEqual({ id: 105, name: 'DataStreaming' });
    sandbox.jobs.finish('activation', activation, 107);
    expect(await statusOf('activations', activation)).toEqual({ id: 107, name: 'Additional Info' });
    const cohorts = [await create('cohort'), await create('cohort')];
    for (const [index, status] of [4, 5].entries()) sandbox.jobs.finish('cohort', cohorts[index] ?? 0, status);
    expect(await statusOf('cohorts', cohorts[0] ?? 0)).toEqual({ id: 4, name: 'Completed' });
    expect(await statusOf('cohorts', cohorts[1] ?? 0)).toEqual({ id: 5, name: 'Not Available' });
  });
});

describe('the cancellation of a lookalike', () => {
  it('a lookalike cancelled while running ends at 400, while publishing it completes', async () => {
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

  it.each([104, 107, 422])('a cancellation after the end at %i is a 422 and changes nothing', async (status) => {
    const { sandbox, events, create, call, token, statusOf } = await start();
    const id = await create('lookalike');
    sandbox.jobs.finish('lookalike', id, status);
    await sandbox.advance(0);
    expect(await call('POST', `/api/v2/lookalikes/${id}/cancel`, { token })).toMatchObject({
      status: 422,
      body: {
        errors: {
          status: [`The lookalike has already ended with status ${status}. Only a running lookalike can be cancelled.`],
        },
      },
    });
    await sandbox.advance(HOUR);
    expect([(await statusOf('audiences', id)).id, events.length]).toEqual([status, 1]);
  });

  it('a second cancellation is a 422', async () => {
    const { create, call, token } = await start();
    const path = `/api/v2/lookalikes/${await create('lookalike')}/cancel`;
    expect([(await call('POST', path, { token })).status, (await call('POST', path, { token })).status]).toEqual([
      200, 422,
    ]);
  });
});

describe('results of an activation', () => {
  it('the result URI of an activation appears when it is completed', async () => {
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

describe('jobs in the console', () => {
  it('`jobs.next` queues outcomes, which take precedence over rules', async () => {
    const api = startSandbox({ jobs: { outcome: 400 } });
    api.sandbox.jobs.next('audience', { status: 107, reason: 'The domain list is empty.', duration: HOUR });
    api.sandbox.jobs.next('audience', 104);
    const ids: number[] = [];
    for (let index = 0; index < 3; index++) ids.push((await api.create(api.token)).body.data[0].id);
    const statusOf = async (id: number) =>
      (await api.call('GET', `/api/v2/audiences/${id}`, { token: api.token })).body.data[0].status.id;
    expect(api.sandbox.jobs.running.map(({ id }) => id)).toEqual(ids);
    await api.sandbox.advance(HOUR / 2);
    expect(api.sandbox.jobs.running).toMatchObject([{ kind: 'audience', id: ids[0], name: 'x' }]);
    await api.sandbox.advance(HOUR / 2);
    expect(await Promise.all(ids.map(statusOf))).toEqual([107, 104, 400]);
  });

  it('the console shows the reason of a 107, which no response of the API holds', async () => {
    const api = startSandbox();
    const create = async (): Promise<number> => (await api.create(api.token)).body.data[0].id;
    const [explained, unexplained, completed] = [await create(), await create(), await create()];
    api.sandbox.jobs.finish('audience', explained, 107, 'The domain list is empty.');
    api.sandbox.jobs.finish('audience', unexplained, 107);
    api.sandbox.jobs.finish('audience', completed, 104);
    const reasons = [explained, unexplained, completed].map((id) => api.sandbox.jobs.reason('audience', id));
    expect(reasons).toEqual(['The domain list is empty.', 'The job cannot be processed as requested.', undefined]);
    expect(api.sandbox.jobs.reason('cohort', explained)).toBeUndefined();
    const { body } = await api.call('GET', `/api/v2/audiences/${explained}`, { token: api.token });
    expect(JSON.stringify(body)).not.toContain('domain list');
  });

  it('a job refuses a final status or a duration that is invalid', async () => {
    for (const outcome of [103, 4, 5]) expect(() => createSandbox({ jobs: { outcome } })).toThrow(`not ${outcome}.`);
    expect(() => createSandbox().jobs.next('audience', 4)).toThrow(/not 4\./);
    expect(() => createSandbox().jobs.next('audience', 404.5)).toThrow(/not 404\.5/);
    expect(() => createSandbox().jobs.next('cohort', 4)).not.toThrow();
    expect(() => createSandbox({ jobs: { duration: -1 } })).toThrow(/not -1/);
    const api = startSandbox();
    const { id } = (await api.create(api.token)).body.data[0];
    expect(() => api.sandbox.jobs.finish('audience', id, 5)).toThrow(/not 5\./);
  });

  it('an invalid result of a job rule is a 500 that names it, and creates nothing', async () => {
    for (const jobs of [{ outcome: () => 200 }, { duration: () => Number.NaN }, { devices: -5 }]) {
      const api = startSandbox({ jobs, limits: { buildsPerHour: 1 } });
      const { status, body } = await api.create(api.token);
      expect([status, body.message]).toEqual([
        500,
        expect.stringMatching(/^The sandbox failed: (?:`status`|`duration` of a job|`devices`) must be/),
      ]);
      expect((await api.call('GET', '/api/v2/audiences/index', { token: api.token })).body.data).toEqual([]);
      expect((await api.call('GET', '/api/v2/usage?yearmonth=2020-01', { token: api.token })).body.data).toMatchObject({
        build_budget: { hour: { used: 0 } },
      });
    }
  });

  it('`jobs.running` is current at every read with a real clock', async () => {
    const { client, sandbox } = await startBench({ clock: 'real', jobs: { duration: 1 } });
    await client.audiences.create({ name: 'x' });
    await expect.poll(() => sandbox.jobs.running).toEqual([]);
  });
});
