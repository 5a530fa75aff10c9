import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, type ServiceContract } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

const contract: ServiceContract = {
  statuses: {
    'audience 106': 'failed',
    'audience 108': 'needs-info',
    'audience 404': 'running',
    'lookalike 109': 'cancelled',
    'activation 200': 'completed',
    'cohort 6': 'failed',
  },
};
const dataset = [{ analysis_type: 'AffinityTransactions', start_date: '2026-01-01', end_date: '2026-01-31' }];

function startNamed() {
  const sandbox = createSandbox({ clock: 'manual', contract, jobs: { devices: 5_000 } });
  const account = sandbox.accounts.create({ ...credentials, deliveryCredentials: true });
  const { fetch } = sandbox;
  const client = new AudienceClient({ baseUrl: 'http://localhost', token: account.token('api'), fetch, contract });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  const build = async (): Promise<number> => (await client.audiences.create({ name: 'A', dataset })).id;
  return { sandbox, client, account, build };
}

describe('a status that a contract names', () => {
  it('`client.jobState` returns the state that the contract names', async () => {
    const { client } = startNamed();
    const at = (id: number) => ({ status: { id } });
    expect(client.jobState('audience', at(106))).toBe('failed');
    expect(client.jobState('lookalike', at(106))).toBe('failed');
    expect(client.jobState('audience', at(404))).toBe('running');
    expect(client.jobState('estimate', at(404))).toBe('failed');
  });

  it('ends the waits for its jobs, with the error of its progress', async () => {
    const { sandbox, client, build } = startNamed();
    const [failed, asking] = [await build(), await build()];
    sandbox.jobs.finish('audience', failed, 106);
    sandbox.jobs.finish('audience', asking, 108);
    const errors = await Promise.all([failed, asking].map((id) => failureOf(client.audiences.wait(id))));
    expect(errors).toMatchObject([
      { name: 'JobFailedError', kind: 'audience', resource: { status: { id: 106, name: 'Error' } } },
      { name: 'JobNeedsInfoError', kind: 'audience', resource: { status: { id: 108 } } },
    ]);
  });

  it('ends a watch after the last change, and a wait by an event', async () => {
    const { sandbox, client, build } = startNamed();
    const id = await build();
    const watched: number[] = [];
    const watching = (async () => {
      for await (const { status } of client.audiences.watch(id)) watched.push(status.id);
    })();
    const waiting = failureOf(client.audiences.wait(id));
    await client.audiences.get(id);
    sandbox.jobs.finish('audience', id, 106);
    const data = await client.audiences.get(id);
    expect(client.waits.notify({ type: 'audience.failed', data })).toBe(true);
    expect(await waiting).toMatchObject({ name: 'JobFailedError' });
    await watching;
    expect(watched.at(-1)).toBe(106);
  });

  it('a status that a contract names for audiences also applies to lookalikes, unless the contract names it for them', async () => {
    const { sandbox, client, build } = startNamed();
    const seed = await build();
    sandbox.jobs.finish('audience', seed, 104);
    const grow = () =>
      client.lookalikes.create({ name: 'L', source_audience_id: seed, config: { target_size: 1_000 } });
    const [one, two] = [await grow(), await grow()];
    sandbox.jobs.finish('lookalike', one.id, 106);
    sandbox.jobs.finish('lookalike', two.id, 109);
    expect(await failureOf(client.lookalikes.wait(one.id))).toMatchObject({ name: 'JobFailedError' });
    expect(await failureOf(client.lookalikes.wait(two.id))).toMatchObject({ name: 'JobCancelledError' });
  });

  it('completes an activation, whose results can be read', async () => {
    const { sandbox, client, build } = startNamed();
    const audience = await build();
    sandbox.jobs.finish('audience', audience, 104);
    const activation = await client.activations.create({ audience_id: audience, description: 'D' });
    sandbox.jobs.finish('activation', activation.id, 200);
    const completed = await client.activations.wait(activation.id);
    expect(completed.status).toEqual({ id: 200, name: 'Completed' });
    expect((await client.activations.results(completed)).length).toBeGreaterThan(0);
  });

  it('decides which statuses the jobs of the sandbox can end at', () => {
    const { sandbox } = startNamed();
    expect(() => sandbox.jobs.next('cohort', 6)).not.toThrow();
    expect(() => sandbox.jobs.next('audience', 404)).toThrow(/or a final status of the contract, not 404/);
    expect(() => createSandbox({ jobs: { outcome: 106 } })).toThrow(/not 106/);
  });
});
