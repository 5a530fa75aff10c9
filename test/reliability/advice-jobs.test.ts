import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { AudienceError, JobError, ResultsNotReadyError, WaitTimeoutError } from '../../src/index.ts';
import { recentDataset, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const jobs = { duration: 0 };
const data = new TextEncoder().encode('email\nann@example.com\n');

describe('the error of a job that ended without success', () => {
  it.each([
    [107, 'change the definition and create it again with a new idempotency key'],
    [401, 'create it again with a new idempotency key'],
  ])(
    'the error of a job that ended at %i says that a new attempt needs a new key: the old key returns the same one, a new key builds another',
    async (status, advice) => {
      const { client, sandbox } = await startBench({ jobs });
      sandbox.jobs.next('audience', status);
      const body = { name: 'One', dataset: recentDataset() };
      const build = (idempotencyKey: string) => client.audiences.createAndWait(body, { idempotencyKey });
      const error = await failureOf(build('k'));
      if (!JobError.isInstance(error)) throw error;
      expect(error.advice).toContain(advice);
      expect(error.advice).toContain('For 24 hours, the old key returns this resource');
      expect(await failureOf(build('k'))).toMatchObject({ name: error.name, id: error.id });
      const { id } = await build('k2');
      expect(id).not.toBe(error.id);
      expect(await client.usage.buildBudget()).toMatchObject({ hour: { used: 2 } });
    },
  );

  it('the error of a failed cohort says to upload again, under a new key: the same upload cannot be claimed again', async () => {
    const { client, sandbox } = await startBench({ jobs });
    sandbox.jobs.next('cohort', 5);
    const { reference } = await client.uploads.upload({ kind: 'cohort', data });
    const body = { name: 'Customers', upload_reference: reference };
    const error = await failureOf(client.cohorts.createAndWait(body, { idempotencyKey: 'k' }));
    if (!JobError.isInstance(error)) throw error;
    expect(error.advice).toContain('upload the file again and create it with a new idempotency key');
    expect(await failureOf(client.cohorts.create(body, { idempotencyKey: 'k2' }))).toMatchObject({
      errors: { upload_reference: [expect.any(String)] },
    });
    const again = await client.cohorts.import(data, { name: 'Customers' }, { idempotencyKey: 'k3' });
    expect(again).toMatchObject({ status: { id: 4 } });
  });
});

describe('the error of a wait that ended before its job', () => {
  it('says to wait again, which resolves, also with a longer `timeout`', async () => {
    const { client, sandbox } = await startBench();
    const { id } = await client.audiences.create({ name: 'One' });
    const error = await failureOf(client.audiences.wait(id, { timeout: 100 }));
    if (!WaitTimeoutError.isInstance(error)) throw error;
    expect(error.advice).toContain('The job keeps running: wait for it again, or raise `timeout`.');
    const waiting = client.waits.wait(error, { timeout: 60_000 });
    await sandbox.advance(3_600_000);
    expect(await waiting).toMatchObject({ id, status: { id: 104 } });
  });

  it('says which resource was created, and to wait for it with `error.created`', async () => {
    const { client, sandbox, account, connect } = await startBench();
    const onCreated = (): void => void account.revokeTokens('api');
    const error = await failureOf(client.audiences.createAndWait({ name: 'One' }, { onCreated }));
    if (!AudienceError.isInstance(error) || !error.created) throw error;
    expect(error.advice).toContain('its job keeps running: wait for it again with `client.waits.wait(error.created)`.');
    const waiting = connect({ token: account.token('api') }).waits.wait(error.created);
    await sandbox.advance(3_600_000);
    expect(await waiting).toMatchObject({ id: error.created.id, status: { id: 104 } });
  });
});

it('the error of results that are not ready says to wait, and then they can be downloaded', async () => {
  const { client, sandbox } = await startBench({ jobs: { duration: 60_000, devices: 5_000 } });
  const { id: audience_id } = await client.audiences.create({ name: 'One' });
  await sandbox.advance(60_000);
  const { id } = await client.activations.create({ audience_id, credentials: { user: 'me' } });
  const error = await failureOf(client.activations.results(id));
  if (!ResultsNotReadyError.isInstance(error)) throw error;
  expect(error.advice).toContain(`Wait for it with \`activations.wait(${id})\`.`);
  const waiting = client.activations.wait(error.id);
  await sandbox.advance(3_600_000);
  await waiting;
  expect((await client.activations.results(id)).length).toBeGreaterThan(0);
  for await (const { open } of client.activations.download(id)) {
    expect((await new Response(await open()).text()).length).toBeGreaterThan(0);
  }
});
