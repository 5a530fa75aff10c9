import { describe, expect, it } from 'vitest';
import { startBench } from '../../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const data = new Blob(['eid\n1\n2\n']);
const jobs = { duration: 0 };

describe('an import', () => {
  it('an import that is repeated under its idempotency key creates no second cohort, and does not advise to claim again', async () => {
    const { client } = await startBench({ jobs });
    const options = { idempotencyKey: 'customers-2026-11' };
    const { id } = await client.cohorts.import(data, { name: 'Customers' }, options);
    const error = await failureOf(client.cohorts.import(data, { name: 'Customers' }, options));
    expect(error).toMatchObject({ name: 'ConflictError', idempotencyKey: 'customers-2026-11' });
    expect(error).not.toHaveProperty('upload');
    expect(String(error)).toContain('An earlier import with this idempotency key probably created the cohort');
    expect(String(error)).not.toMatch(/claim it|fresh key/);
    expect((await client.cohorts.list().toArray()).map((cohort) => cohort.id)).toEqual([id]);
  });

  it('an import that was cut off after its upload is continued under the same key by the saved reference', async () => {
    const { client, connect, account } = await startBench({ jobs });
    const crash = new AbortController();
    let saved = '';
    const onUploaded = ({ reference }: { reference: string }): void => {
      saved = reference;
      crash.abort();
    };
    const options = { idempotencyKey: 'k', onUploaded, signal: crash.signal };
    expect(await failureOf(client.cohorts.import(data, { name: 'Customers' }, options))).toBe(crash.signal.reason);
    const restarted = connect({ token: account.token('api') });
    const body = { name: 'Customers', upload_reference: saved };
    const first = await restarted.cohorts.create(body, { idempotencyKey: 'k' });
    expect(await restarted.cohorts.create(body, { idempotencyKey: 'k' })).toMatchObject({ id: first.id });
    expect(await restarted.cohorts.list().toArray()).toHaveLength(1);
  });

  it('claims when `onUploaded` has saved the reference, or has failed to', async () => {
    const { client, sandbox } = await startBench({ jobs });
    const onUploaded = async (): Promise<void> => {
      for (let request = 0; request < 5; request++) await client.webhooks.list();
      throw new Error('disk full');
    };
    const cohort = await client.cohorts.import(data, { name: 'Customers' }, { onUploaded });
    expect(cohort.status.id).toBe(4);
    const paths = sandbox.log.map(({ path }) => path);
    expect(paths.indexOf('/api/v2/cohorts/create')).toBeGreaterThan(paths.lastIndexOf('/api/v2/webhooks/index'));
  });

  it('ends when its signal aborts or the client is closed, although `onUploaded` never settles', async () => {
    const { connect, account } = await startBench({ jobs });
    for (const end of ['abort', 'close'] as const) {
      const client = connect({ token: account.token('api') });
      const controller = new AbortController();
      const onUploaded = (): Promise<void> => {
        if (end === 'abort') controller.abort(new Error('enough'));
        else void client.close();
        return new Promise(() => {});
      };
      const importing = client.cohorts.import(data, {}, { onUploaded, signal: controller.signal });
      expect(String(await failureOf(importing))).toContain(end === 'abort' ? 'enough' : 'The client is closed');
    }
  });

  it.each([
    ['extraBody', { extraBody: { name: 'y' } }],
    ['idempotencyKey', { idempotencyKey: 'Kunden für November' }],
    ['idempotencyKey', { idempotencyKey: '' }],
  ])('checks its claim before it uploads anything: %s', async (field, options) => {
    const { client, sandbox } = await startBench({ jobs });
    const error = await failureOf(client.cohorts.import(data, { name: 'x' }, options));
    expect(error).toMatchObject({ local: true, errors: { [field]: [expect.any(String)] } });
    expect(sandbox.log).toEqual([]);
  });

  it('takes options that are undefined', async () => {
    const { client } = await startBench({ jobs });
    const cohort = await client.cohorts.import(data, { name: 'x' }, { timeout: undefined, idempotencyKey: undefined });
    expect(cohort.status.id).toBe(4);
  });

  it('limits each attempt of its requests by `request`', async () => {
    const server = await startServer([{ fault: 'stall' }]);
    const importing = clientOf(server).cohorts.import(data, {}, { request: { timeout: 50 }, maxRetries: 0 });
    expect(await failureOf(importing)).toMatchObject({
      name: 'TimeoutError',
      message: expect.stringContaining('50 ms'),
    });
  });
});
