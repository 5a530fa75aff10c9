import '../support/nothing-left.ts';
import { expect, it } from 'vitest';
import { AudienceError } from '../../src/index.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const data = new TextEncoder().encode('email\nann@example.com\n');
const jobs = { duration: 0 };

it('the error of an import whose create failed carries the upload, which `cohorts.create` claims once', async () => {
  const { sandbox, client } = await startBench({ jobs });
  const release = sandbox.faults.add({ on: 'cohorts.create', cut: 'before' });
  const error = await failureOf(client.cohorts.import(data, { name: 'Customers' }, { maxRetries: 0 }));
  if (!AudienceError.isInstance(error) || !error.upload || !error.idempotencyKey) throw error;
  expect(error.advice).toContain('`cohorts.create` can claim it with `error.upload.reference` until');
  release();
  const body = { name: 'Customers', upload_reference: error.upload.reference };
  const { id } = await client.cohorts.create(body, { idempotencyKey: error.idempotencyKey });
  expect(await client.cohorts.list().toArray()).toMatchObject([{ id }]);
});

it('a failed cohort needs another upload under another key: its own upload cannot be claimed again', async () => {
  const { client, sandbox } = await startBench({ jobs });
  sandbox.jobs.next('cohort', 5);
  const { reference } = await client.uploads.upload({ kind: 'cohort', data });
  const body = { name: 'Customers', upload_reference: reference };
  const error = await failureOf(client.cohorts.createAndWait(body, { idempotencyKey: 'k' }));
  expect(error).toMatchObject({ advice: expect.stringContaining('upload the file again and create it under a new') });
  expect(await failureOf(client.cohorts.create(body, { idempotencyKey: 'k2' }))).toMatchObject({
    errors: { upload_reference: [expect.any(String)] },
  });
  const again = await client.cohorts.import(data, { name: 'Customers' }, { idempotencyKey: 'k3' });
  expect(again).toMatchObject({ status: { id: 4 } });
});
