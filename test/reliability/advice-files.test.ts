import '../support/nothing-left.ts';
import { openAsBlob } from 'node:fs';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceError, CLAIM_WINDOW } from '../../src/index.ts';
import { fileTokenStore, openFile } from '../../src/node/index.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { startBench } from '../support/sandbox.ts';
import { pattern } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { bytesOf, startStorage, wireActivation } from '../support/storage.ts';

const data = new TextEncoder().encode('email\nann@example.com\n');
const jobs = { duration: 0 };

describe('the error of an upload', () => {
  it('says that the slot can still be used, and uploading again succeeds', async () => {
    const { client, reservation, storage } = await startStorage([{ status: 503 }, {}], { maxRetries: 0 });
    const error = await failureOf(client.uploads.send(reservation, data));
    expect(error).toMatchObject({ slot: 'usable' });
    expect(String(error)).toContain('The slot can still be used: uploading again is safe.');
    expect(await client.uploads.send(reservation, data)).toMatchObject({ reference: 'upl_1' });
    expect(new Set((await storage.seen()).map(({ url }) => url)).size).toBe(1);
  });

  it.each([
    [403, 'unusable', 'The slot can no longer be used'],
    [400, 'unknown', 'The slot might no longer be usable'],
  ])(
    'the error of an upload after a %i says that the slot is %s, and another reservation succeeds',
    async (status, slot, text) => {
      const { sandbox, client } = await startBench({ jobs });
      const reservation = await client.uploads.reserve({ kind: 'cohort', size: data.length });
      const release = sandbox.faults.add({ on: 'PUT /uploads/*', status });
      const error = await failureOf(client.uploads.send(reservation, data));
      expect(error).toMatchObject({ slot });
      expect(String(error)).toContain(`${text}: reserve another slot and upload again.`);
      release();
      const another = await client.uploads.reserve({ kind: 'cohort', size: data.length });
      const { reference } = await client.uploads.send(another, data);
      expect(await client.cohorts.create({ name: 'x', upload_reference: reference })).toMatchObject({ name: 'x' });
    },
  );

  it('the error of an upload to a slot of more than 15 minutes ago says to reserve and upload again, which can be claimed', async () => {
    const { client } = await startBench({ jobs });
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: data.length });
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + CLAIM_WINDOW + 1);
    onTestFinished(() => void clock.mockRestore());
    const error = await failureOf(client.uploads.send(reservation, data));
    expect(String(error)).toContain('reserve and upload again, then claim');
    clock.mockRestore();
    const { reference } = await client.uploads.upload({ kind: 'cohort', data });
    expect(await client.cohorts.create({ name: 'x', upload_reference: reference })).toMatchObject({ name: 'x' });
  });

  it('the error of an upload of a file of another size says to reserve a slot for this file, which takes it', async () => {
    const { client } = await startBench({ jobs });
    const reservation = await client.uploads.reserve({ kind: 'cohort', size: 5 });
    expect(String(await failureOf(client.uploads.send(reservation, data)))).toContain('reserve a slot for this file');
    const own = await client.uploads.reserve({ kind: 'cohort', size: data.length });
    expect(await client.uploads.send(own, data)).toMatchObject({ reference: own.reference });
  });

  it('the error of an upload of a stream of another length says to set the right `size`, with which it is sent', async () => {
    const { client } = await startBench({ jobs });
    const stream = () => new Blob([data]).stream();
    const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: stream(), size: data.length + 1 }));
    expect(String(error)).toContain('Set the right `size`, or open the file again; do not claim this upload.');
    const { reference } = await client.uploads.upload({ kind: 'cohort', data: stream(), size: data.length });
    expect(await client.cohorts.create({ name: 'x', upload_reference: reference })).toMatchObject({ name: 'x' });
  });

  it.each([
    ['has changed', openFile, (path: string) => appendFile(path, 'bob@example.com\n')],
    ['was removed', openAsBlob, (path: string) => rm(path)],
  ])(
    'the error of an upload of a file that %s says to open it again, and then it is uploaded',
    async (_, open, change) => {
      const { client } = await startBench({ jobs });
      const path = join(await temporaryDirectory(), 'customers.csv');
      await writeFile(path, data);
      const file = await open(path);
      await change(path);
      const error = await failureOf(client.uploads.upload({ kind: 'cohort', data: file }));
      expect(String(error)).toMatch(/open (?:it|the file) again and upload it again/i);
      await writeFile(path, data);
      const { reference } = await client.uploads.upload({ kind: 'cohort', data: await open(path) });
      expect(await client.cohorts.create({ name: 'x', upload_reference: reference })).toMatchObject({ name: 'x' });
    },
  );
});

it('the error of an import whose create failed carries the upload, which `cohorts.create` claims', async () => {
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

it('the error of a download that cannot resume says to download it again, which succeeds', async () => {
  const SIZE = 300_000;
  const changed = { bytes: SIZE, headers: { etag: '"v2"' } };
  const cut = { bytes: SIZE, headers: { etag: '"v1"' }, fault: 'cut-body' } as const;
  const storage = await startServer([cut, changed, changed]);
  const client = clientOf(await startServer([{ data: [wireActivation(`${storage.url}/results/7.csv`)] }]));
  for await (const { open } of client.activations.download(7)) {
    const error = await failureOf(bytesOf(await open()));
    expect(String(error)).toMatch(/cannot resume after \d+ bytes: .* Download it again\./);
    expect(await bytesOf(await open())).toEqual(pattern(SIZE));
  }
});

describe('the error of a file of tokens', () => {
  it.each([
    ['deleted', (path: string) => rm(path)],
    ['restored', (path: string) => writeFile(path, '{"token":"a-token"}', { mode: 0o600 })],
  ])(
    'the error of a file of tokens that holds no token says what to do, and works when it is %s',
    async (_, follow) => {
      const path = join(await temporaryDirectory(), 'token.json');
      await writeFile(path, '{"tok', { mode: 0o600 });
      const store = fileTokenStore(path);
      expect(String(await failureOf(Promise.resolve(store.load())))).toContain('Delete it, or restore its content');
      await follow(path);
      await store.load();
      await store.save({ token: 'another' });
      expect(await store.load()).toMatchObject({ token: 'another' });
    },
  );
});
