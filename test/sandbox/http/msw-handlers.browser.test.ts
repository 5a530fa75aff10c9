import { setupWorker } from 'msw/browser';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';

const credentials = { email: 'ada@example.com', password: 'correct horse' };

describe('the sandbox in a browser', () => {
  it('a client calls the sandbox in process', async () => {
    const sandbox = createSandbox({ clock: 'manual', faults: [{ cut: 'after', times: 1, on: 'audiences.create' }] });
    const token = sandbox.accounts.create(credentials).token('api');
    const client = new AudienceClient({
      baseUrl: 'https://api.example.com',
      token,
      fetch: sandbox.fetch,
      backoff: { min: 1, max: 2 },
      logLevel: 'off',
    });
    onTestFinished(() => client.close());
    const { id } = await client.audiences.create({ name: 'In the page' });
    const waiting = client.audiences.wait(id);
    sandbox.jobs.finish('audience', id, 104);
    expect(await waiting).toMatchObject({ name: 'In the page', status: { id: 104 } });
    expect((await client.audiences.list()).items).toHaveLength(1);
  });

  it('a service worker serves the handlers, storage included', async () => {
    const sandbox = createSandbox({ clock: 'manual' });
    const token = sandbox.accounts.create(credentials).token('api');
    const worker = setupWorker(...sandbox.handlers);
    await worker.start({ quiet: true, onUnhandledFrame: 'bypass' });
    onTestFinished(() => worker.stop());
    const client = new AudienceClient({
      baseUrl: 'https://api.example.com',
      token,
      maxRetries: 0,
      logLevel: 'off',
    });
    onTestFinished(() => client.close());
    const progress: number[] = [];
    const { reference } = await client.uploads.upload(
      { kind: 'cohort', data: new Blob(['eid\n1\n2\n']) },
      { onProgress: ({ loaded }) => void progress.push(loaded) },
    );
    const cohort = await client.cohorts.create({ name: 'x', upload_reference: reference });
    sandbox.jobs.finish('cohort', cohort.id, 4);
    expect((await client.cohorts.get(cohort.id)).total_eids).toBe(2);
    expect(progress.at(-1)).toBe(8);
    sandbox.faults.add({ on: 'usage.get', cut: 'before' });
    await expect(client.usage.get()).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(sandbox.log.at(-1)).toMatchObject({ path: '/api/v2/usage', fault: 'cut before' });
  });
});
