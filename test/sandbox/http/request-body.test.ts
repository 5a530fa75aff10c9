import { describe, expect, it } from 'vitest';
import { createAccount } from '../../../src/sandbox/admin/account-admin.ts';
import { FilePart } from '../../../src/sandbox/http/request-body.ts';
import type { FieldErrors } from '../../../src/sandbox/http/responses.ts';
import { createService } from '../../../src/sandbox/service.ts';
import { readFile } from '../../../src/sandbox/storage/upload-slots.ts';
import { credentials, startSandbox } from '../support/sandbox-calls.ts';

/** Starts a sandbox, and sends it form bodies. */
function start() {
  const api = startSandbox();
  const send = async (path: string, form: FormData | string, headers: Record<string, string> = {}) => {
    const response = await api.sandbox.fetch(`http://sandbox/api/v2/${path}`, {
      method: 'POST',
      headers: { accept: 'application/json', authorization: `Bearer ${api.token}`, ...headers },
      body: form,
    });
    return { status: response.status, body: await response.json() };
  };
  return { ...api, send };
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

describe('a multipart body', () => {
  it('a multipart body holds the file of a cohort or of points of interest', async () => {
    const { send, sandbox, call, token } = start();
    const created = await send('cohorts/create', formOf({ name: 'Form', file: new Blob(['eid\n1\n2\n3']) }));
    expect(created).toMatchObject({ status: 200, body: { data: [{ name: 'Form' }] } });
    const { id } = created.body.data[0];
    sandbox.jobs.finish('cohort', id, 4);
    expect((await call('GET', `/api/v2/cohorts/${id}`, { token })).body.data[0].total_eids).toBe(3);
    const places = await send('poi_submissions/create', formOf({ file: new Blob(['a\nb\n']) }));
    expect(places).toMatchObject({ status: 200, body: { data: [{ rows: 2 }] } });
  });

  it('multipart fields are read like JSON fields, and JSON objects and arrays in them are parsed', async () => {
    const { send } = start();
    const project = (await send('projects/create', formOf({ name: '[P' }))).body.data[0];
    expect(project.name).toBe('[P');
    const dataset = JSON.stringify([
      { analysis_type: 'AffinityTransactions', start_date: '2026-01-01', end_date: '2026-02-01' },
    ]);
    const { body } = await send('audiences/create', formOf({ name: '12', project_id: String(project.id), dataset }));
    expect(body.data[0]).toMatchObject({ name: '12', project: { id: project.id }, dataset: JSON.parse(dataset) });
  });

  it('a multipart file that is a string is a 422', async () => {
    const { send } = start();
    const text = await send('cohorts/create', formOf({ file: 'text' }));
    expect(text.body.errors).toEqual({ file: ['The file field must contain a file.'] });
  });

  it('a multipart file of points of interest has at most 50 MiB', () => {
    const service = createService({}, { runTask() {}, endJob() {} });
    const account = createAccount(service, credentials);
    const errorsAt = (size: number): FieldErrors => {
      const errors: FieldErrors = {};
      readFile(service, account, { file: new FilePart({ size, lines: 1 }) }, 'poi_submission', errors);
      return errors;
    };
    expect(errorsAt(50 * 2 ** 20)).toEqual({});
    expect(errorsAt(50 * 2 ** 20 + 1)).toEqual({
      file: ['The file must have at most 52428800 bytes, not 52428801.'],
    });
  });

  it('multipart bodies under an idempotency key are compared byte by byte', async () => {
    const { send } = start();
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'idempotency-key': 'k' };
    const form = (name: string): string =>
      `--b\r\ncontent-disposition: form-data; name="name"\r\n\r\n${name}\r\n--b--\r\n`;
    const first = await send('audiences/create', form('one'), headers);
    expect((await send('audiences/create', form('one'), headers)).body).toEqual(first.body);
    expect((await send('audiences/create', form('two'), headers)).status).toBe(409);
  });
});

describe('any other body', () => {
  it.each([
    ['text/plain', '{"name":"x"}'],
    ['application/x-www-form-urlencoded', 'name=x'],
    ['application/json', '[1]'],
    ['application/json', '{"name":'],
    ['multipart/form-data; boundary=b', 'no form'],
  ])('a body of type %s is a 422: %s', async (type, body) => {
    const { send } = start();
    expect(await send('audiences/create', body, { 'content-type': type })).toMatchObject({
      status: 422,
      body: { errors: { body: [expect.stringContaining('JSON object')] } },
    });
  });
});

it('a JSON body of more than 8 MiB is a 413, and nothing is created', async () => {
  const { sandbox, token, call } = startSandbox();
  const create = (length: number) => {
    const headers = {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ name: '' }).replace('""', () => `"${'x'.repeat(length)}"`);
    return sandbox.fetch('http://sandbox/api/v2/projects/create', { method: 'POST', headers, body });
  };
  const rows = async () => (await call('GET', '/api/v2/projects/index', { token })).body.data;
  const before = await rows();
  const empty = JSON.stringify({ name: '' }).length;
  const response = await create(8 * 2 ** 20 - empty + 1);
  expect(await response.json()).toMatchObject({
    status: 'error',
    code: 413,
    message: expect.stringContaining('8388608'),
  });
  expect(await rows()).toEqual(before);
  expect((await create(8 * 2 ** 20 - empty)).status).toBe(200);
});
