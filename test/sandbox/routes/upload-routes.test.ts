import { describe, expect, it } from 'vitest';
import { downloadTo, openFile } from '../../../src/node/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startBench } from '../../support/sandbox.ts';
import { startSandbox } from '../../support/sandbox-calls.ts';
import { failureOf } from '../../support/server.ts';
import { bytesOf } from '../../support/storage.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const jobs = { duration: MINUTE };
// A fast clock must not end the window of an upload in mid-test.
const limits = { claimWindow: 24 * HOUR };
const csv = (rows: number): Blob =>
  new Blob(['email\n', ...Array.from({ length: rows }, (_, row) => `${row}@example.com\n`)]);

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
  it('name a presigned URL on another origin, for 15 minutes', async () => {
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
  ])('refuse what is no upload of the specification: %j', async (body, field) => {
    const { call, token } = startSandbox();
    const answer = await call('POST', '/api/v2/uploads/create', { token, body });
    expect(answer).toMatchObject({ status: 422, body: { errors: { [field]: [expect.any(String)] } } });
  });
});

describe('reservations of the largest size', () => {
  it.each([
    ['cohort', 2 ** 30],
    ['poi_submission', 50 * 2 ** 20],
  ])('of %s are %i bytes', async (kind, size) => {
    expect((await reserved(kind, { size })).slot).toMatchObject({ reference: expect.any(String) });
  });
});

describe('storage', () => {
  it('takes a file, also again until it is claimed, and knows no token', async () => {
    const { put, claim } = await reserved();
    expect((await put('a\nb\n')).status).toBe(200);
    expect((await put('a\nb\nc')).status).toBe(200);
    expect((await claim()).status).toBe(200);
    expect((await put('a\n')).status).toBe(403);
  });

  it('refuses a wrong signature, an expired URL, a wrong length', async () => {
    const { put, slot, sandbox } = await reserved('cohort', { size: 3 });
    expect((await put('abc', {}, slot.url.replace(/signature=.*/, 'signature=x'))).status).toBe(403);
    expect((await put('abcd')).status).toBe(400);
    expect((await put('abc', { 'content-length': '4' })).status).toBe(400);
    await sandbox.advance(15 * MINUTE);
    const late = await put('abc');
    expect([late.status, await late.text()]).toEqual([403, expect.stringContaining('Request has expired')]);
  });

  it('answers 404 for what it does not hold', async () => {
    const { sandbox } = startSandbox();
    expect((await sandbox.fetch(new Request('https://storage.sandbox.invalid/x'))).status).toBe(404);
    expect((await sandbox.fetch(new Request('https://storage.sandbox.invalid/results/1/x.csv'))).status).toBe(403);
  });
});

describe('a claim', () => {
  it('makes a cohort of the file: one EID a line, the first aside', async () => {
    const { put, claim, sandbox, call, token } = await reserved();
    await put('email\na\nb\nc\n');
    const { id } = (await claim()).body.data[0];
    sandbox.jobs.finish('cohort', id, 4);
    const { body } = await call('GET', `/api/v2/cohorts/${id}`, { token });
    expect(body.data[0]).toMatchObject({ status: { id: 4 }, total_eids: 3 });
  });

  it('needs a file, in time, once, of the right kind, of the same account', async () => {
    const { put, claim, sandbox } = await reserved();
    expect((await claim()).body.errors.upload_reference[0]).toContain('No file');
    await put('a\n');
    const other = sandbox.accounts.create({ email: 'b@example.com', password: 'x' }).token('api');
    expect((await claim('/api/v2/cohorts/create', other)).body.errors.upload_reference[0]).toContain('invalid');
    expect((await claim('/api/v2/poi_submissions/create')).body.errors.upload_reference[0]).toContain(
      'not for poi_submission',
    );
    expect((await claim()).status).toBe(200);
    expect((await claim()).body.errors.upload_reference[0]).toContain('claimed already');
  });

  it('is too late after 15 minutes; the file is gone after a day', { timeout: 1_000 }, async () => {
    const { put, claim, sandbox } = await reserved();
    await put('a\n');
    await sandbox.advance(15 * MINUTE);
    expect((await claim()).body.errors.upload_reference[0]).toContain('expired');
    await sandbox.advance(24 * HOUR);
    expect((await claim()).body.errors.upload_reference[0]).toContain('invalid');
  });

  it('may be made later where the window is longer, also after a day', async () => {
    const { sandbox, call, token } = startSandbox({ limits: { claimWindow: 7 * 24 * HOUR } });
    const { data } = (await call('POST', '/api/v2/uploads/create', { token, body: { kind: 'cohort' } })).body;
    await sandbox.advance(6 * 24 * HOUR);
    expect((await sandbox.fetch(data.url, { method: 'PUT', body: 'a\n' })).status).toBe(200);
  });

  it('that the build budget refuses leaves the upload to be claimed', async () => {
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

  it('of points of interest goes through a request', async () => {
    const { client } = await startBench();
    const { reference } = await client.uploads.upload({ kind: 'poi_submission', data: csv(3) });
    const body = { upload_reference: reference };
    expect(await client.request('POST', '/api/v2/poi_submissions/create', { body })).toEqual([
      { id: expect.any(Number), rows: 4 },
    ]);
  });
});

describe('over real HTTP', () => {
  it('a cohort is imported and its results come out, on an origin without tokens', async () => {
    const { client, sandbox, url } = await startBench({ clock: { speed: 300 }, limits, jobs });
    const created: number[] = [];
    const cohort = await client.cohorts.import(
      csv(70_000),
      { name: 'Customers' },
      { onCreated: ({ id }) => created.push(id) },
    );
    expect(cohort).toMatchObject({ id: created[0], name: 'Customers', status: { id: 4 }, total_eids: 70_000 });
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
      expect(await bytesOf(await open())).toEqual(new Uint8Array(await blob.arrayBuffer()));
    }
    expect(sandbox.log.filter(({ method }) => method === 'PUT')).toMatchObject([
      { status: 200, path: expect.stringMatching(/^\/uploads\/upl_/) },
    ]);
    expect(JSON.stringify(sandbox.log)).not.toContain('signature');
  });

  it('a result is read on from any byte', async () => {
    const { client } = await startBench({ clock: { speed: 300 }, limits, jobs: { ...jobs, devices: 5_000 } });
    const { id } = await client.audiences.createAndWait({ name: 'x' });
    const [result] = await client.activations.results(await client.activations.createAndWait({ audience_id: id }));
    const uri = result?.uri ?? '';
    const whole = await (await fetch(uri)).text();
    for (const from of [1, 3, 4, 5, 20, 21, 50_000, whole.length - 1]) {
      const answer = await fetch(uri, { headers: { range: `bytes=${from}-` } });
      expect([answer.status, answer.headers.get('content-range')]).toEqual([
        206,
        `bytes ${from}-${whole.length - 1}/${whole.length}`,
      ]);
      expect((await answer.text()) === whole.slice(from)).toBe(true);
    }
    expect((await fetch(uri, { headers: { range: `bytes=${whole.length}-` } })).status).toBe(416);
  });

  it('an import ends with a cohort that is not available', async () => {
    const { client } = await startBench({ clock: { speed: 300 }, limits, jobs: { ...jobs, outcome: 400 } });
    const error = await failureOf(client.cohorts.import(csv(1)));
    expect(error).toMatchObject({ name: 'JobFailedError', kind: 'cohort', resource: { status: { id: 5 } } });
    expect(error).not.toHaveProperty('upload');
  });
});
