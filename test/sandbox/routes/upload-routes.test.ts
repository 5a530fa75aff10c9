import { describe, expect, it } from 'vitest';
import { downloadTo, openFile } from '../../../src/node/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { quickly } from '../../support/quickly.ts';
import { startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';
import { bytesOf } from '../../support/storage.ts';
import { startSandbox } from '../support/sandbox-calls.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const jobs = { duration: MINUTE };
// The claim window must not expire under a fast clock during a test.
const limits = { claimWindow: 24 * HOUR };
const csv = (rows: number): Blob =>
  new Blob([`email\n${Array.from({ length: rows }, (_, row) => `${row}@example.com\n`).join('')}`]);

async function reserved(kind = 'cohort', body: object = {}) {
  const service = startSandbox();
  const reserve = () =>
    service.call('POST', '/api/v2/uploads/create', { token: service.token, body: { kind, ...body } });
  const { data: slot } = (await reserve()).body;
  const put = (data: BodyInit, headers: Record<string, string> = {}, url: string = slot.url) =>
    service.sandbox.fetch(
      new Request(url, {
        method: 'PUT',
        body: data,
        headers: { 'content-length': String(new Blob([data as string]).size), ...headers },
      }),
    );
  const claim = (path = '/api/v2/cohorts/create', token = service.token) =>
    service.call('POST', path, { token, body: { name: 'x', upload_reference: slot.reference } });
  return { ...service, slot, put, claim, reserve };
}

describe('reservations', () => {
  it('a reservation returns a presigned URL on another origin, valid for 15 minutes', async () => {
    const { slot, sandbox } = await reserved();
    expect(slot).toMatchObject({
      reference: expect.stringMatching(/^upl_/),
      url: expect.stringContaining('signature='),
    });
    expect(new URL(slot.url).origin).toBe('https://storage.sandbox.invalid');
    expect(Date.parse(slot.expires_at) - sandbox.now()).toBeGreaterThan(15 * MINUTE - 1_001);
  });

  it.each([
    [{ kind: 'other' }, 'kind'],
    [{ kind: 'cohort', size: 2 ** 30 + 1 }, 'size'],
    [{ kind: 'poi_submission', size: 50 * 2 ** 20 + 1 }, 'size'],
    [{ kind: 'cohort', size: 'x' }, 'size'],
  ])('a reservation of an undocumented upload is refused: %j', async (body, field) => {
    const { call, token } = startSandbox();
    const response = await call('POST', '/api/v2/uploads/create', { token, body });
    expect(response).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
  });
});

describe('reservations of the maximum size', () => {
  it.each([
    ['cohort', 2 ** 30],
    ['poi_submission', 50 * 2 ** 20],
  ])('the maximum size of a %s upload is %i bytes', async (kind, size) => {
    expect((await reserved(kind, { size })).slot).toMatchObject({ reference: expect.any(String) });
  });
});

describe('storage', () => {
  it('storage accepts a file, repeatedly until it is claimed, without a token', async () => {
    const { put, claim } = await reserved();
    expect((await put('a\nb\n')).status).toBe(200);
    expect((await put('a\nb\nc')).status).toBe(200);
    expect((await claim()).status).toBe(200);
    expect((await put('a\n')).status).toBe(403);
  });

  it('storage refuses a wrong signature, an expired URL and a wrong length', async () => {
    const { put, slot, sandbox } = await reserved('cohort', { size: 3 });
    expect((await put('abc', {}, slot.url.replace(/signature=.*/, 'signature=x'))).status).toBe(403);
    expect((await put('abcd')).status).toBe(400);
    expect((await put('abc', { 'content-length': '4' })).status).toBe(400);
    await sandbox.advance(15 * MINUTE);
    const late = await put('abc');
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
  });

  it('storage returns 404 for an unknown path', async () => {
    const { sandbox } = startSandbox();
    expect((await sandbox.fetch(new Request('https://storage.sandbox.invalid/x'))).status).toBe(404);
    expect((await sandbox.fetch(new Request('https://storage.sandbox.invalid/results/1/x.csv'))).status).toBe(403);
  });
});

describe('a claim', () => {
  it('a cohort holds one EID for each line of its file except the header', async () => {
    const { put, claim, sandbox, call, token } = await reserved();
    await put('email\na\nb\nc\n');
    const { id } = (await claim()).body.data[0];
    sandbox.jobs.finish('cohort', id, 4);
    const { body } = await call('GET', `/api/v2/cohorts/${id}`, { token });
    expect(body.data[0]).toMatchObject({ status: { id: 4 }, total_eids: 3 });
  });

  it('a claim requires a file, of its kind and account, and is made once', async () => {
    const { put, claim, sandbox } = await reserved();
    expect((await claim()).body.errors.upload_reference[0]).toContain('No file');
    await put('a\n');
    const other = sandbox.accounts.create({ email: 'b@example.com', password: 'x' }).token('api');
    expect((await claim('/api/v2/cohorts/create', other)).body.errors.upload_reference[0]).toContain(
      'The account has no upload',
    );
    expect((await claim('/api/v2/poi_submissions/create')).body.errors.upload_reference[0]).toContain(
      'not for poi_submission',
    );
    expect((await claim()).status).toBe(200);
    expect((await claim()).body.errors.upload_reference[0]).toContain('already been claimed');
  });

  it('a claim expires after 15 minutes; the file is deleted after a day', async () => {
    const { put, claim, sandbox } = await reserved();
    await put('a\n');
    await sandbox.advance(15 * MINUTE);
    expect((await claim()).body.errors.upload_reference[0]).toContain('expired');
    await sandbox.advance(24 * HOUR);
    expect((await claim()).body.errors.upload_reference[0]).toContain('The account has no upload');
  });

  it('a longer `claimWindow` also applies after a day', async () => {
    const { sandbox, call, token } = startSandbox({ limits: { claimWindow: 7 * 24 * HOUR } });
    const { data } = (await call('POST', '/api/v2/uploads/create', { token, body: { kind: 'cohort' } })).body;
    await sandbox.advance(6 * 24 * HOUR);
    expect((await sandbox.fetch(data.url, { method: 'PUT', body: 'a\n' })).status).toBe(200);
  });

  it('a claim that the build budget refuses leaves the upload unclaimed', async () => {
    const { client } = await startBench({ limits: { buildsPerHour: 1 } }, { maxRetryWait: 0 });
    await client.audiences.create({ name: 'spends the budget' });
    const error = await failureOf(client.cohorts.import(csv(2)));
    expect(error).toMatchObject({
      name: 'BuildBudgetError',
      outcome: 'refused',
      upload: { reference: expect.any(String) },
    });
    expect(String(error)).toContain('cohorts.create');
  });

  it('points of interest are claimed by `client.request`', async () => {
    const { client } = await startBench();
    const { reference } = await client.uploads.upload({ kind: 'poi_submission', data: csv(3) });
    const body = { upload_reference: reference };
    expect(await client.request('POST', '/api/v2/poi_submissions/create', { body })).toEqual([
      { id: expect.any(Number), rows: 4, created_at: expect.any(String) },
    ]);
  });
});

describe('over real HTTP', () => {
  it('a cohort is imported and results are downloaded, from an origin without tokens', () =>
    quickly(async () => {
      const { client, sandbox, url } = await startBench({
        clock: { speed: 300 },
        limits,
        jobs: { ...jobs, devices: 2_000 },
      });
      const created: number[] = [];
      const cohort = await client.cohorts.import(
        csv(10_000),
        { name: 'Customers' },
        { onCreated: ({ id }) => created.push(id) },
      );
      expect(cohort).toMatchObject({ id: created[0], name: 'Customers', status: { id: 4 }, total_eids: 10_000 });
      const { id } = await client.audiences.createAndWait({ name: 'x' });
      const activation = await client.activations.createAndWait({ audience_id: id });
      const [result] = await client.activations.results(activation);
      expect(new URL(result?.uri ?? '').origin).not.toBe(url);
      const directory = await temporaryDirectory();
      const [file] = await downloadTo(client, activation, directory);
      const blob = await openFile(file?.path ?? '');
      const lines = (await blob.text()).trim().split('\n');
      expect(lines).toHaveLength(1 + (await client.audiences.get(id)).results_count);
      expect(new Set(lines).size).toBe(lines.length);
      for await (const { open } of client.activations.download(activation.id)) {
        expect(await bytesOf(await open())).toEqual(await blob.bytes());
      }
      expect(sandbox.log.filter(({ method }) => method === 'PUT')).toMatchObject([
        { status: 200, path: expect.stringMatching(/^\/uploads\/upl_/) },
      ]);
      expect(JSON.stringify(sandbox.log)).not.toContain('signature');
    }));

  it('a result can be read from any byte', () =>
    quickly(async () => {
      const { client } = await startBench({ clock: { speed: 300 }, limits, jobs: { ...jobs, devices: 5_000 } });
      const { id } = await client.audiences.createAndWait({ name: 'x' });
      const [result] = await client.activations.results(await client.activations.createAndWait({ audience_id: id }));
      const uri = result?.uri ?? '';
      const content = await (await fetch(uri)).text();
      for (const from of [1, 3, 4, 5, 20, 21, 50_000, content.length - 1]) {
        const response = await fetch(uri, { headers: { range: `bytes=${from}-` } });
        expect([response.status, response.headers.get('content-range')]).toEqual([
          206,
          `bytes ${from}-${content.length - 1}/${content.length}`,
        ]);
        expect((await response.text()) === content.slice(from)).toBe(true);
      }
      expect((await fetch(uri, { headers: { range: `bytes=${content.length}-` } })).status).toBe(416);
    }));

  it('an import fails with a cohort that is not available', () =>
    quickly(async () => {
      const { client } = await startBench({ clock: { speed: 300 }, limits, jobs: { ...jobs, outcome: 400 } });
      const error = await failureOf(client.cohorts.import(csv(1)));
      expect(error).toMatchObject({ name: 'JobFailedError', kind: 'cohort', resource: { status: { id: 5 } } });
      expect(error).not.toHaveProperty('upload');
    }));
});
