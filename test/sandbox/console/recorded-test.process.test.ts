import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { eventually } from '../../support/eventually.ts';
import { credentials } from '../../support/sandbox.ts';

/** Runs test files with vitest, as a user of the built package does. */
async function runVitest(sources: Readonly<Record<string, string>>): Promise<string> {
  // Within the repository, so that the package and vitest are found by their names.
  const folder = await mkdtemp(join('test', 'recorded-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, source] of Object.entries(sources)) await writeFile(join(folder, `${name}.test.ts`), source);
  await writeFile(join(folder, 'vitest.config.mjs'), 'export default {};\n');
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--root', folder, '--maxWorkers=1'];
  return new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined };
    execFile(process.execPath, args, { env }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
}

/** Clients that send each request once, and immediately. */
const options = { rateLimits: false, maxRetries: 0, maxRetryWait: 0 } as const;

/** A sandbox with a webhook endpoint, whose console is open. */
async function startSession() {
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(request.url === '/down' ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const sandbox = createSandbox({
    seed: 3,
    // Slow enough that no job ends while a busy machine sends the next request.
    clock: { speed: 2 },
    jobs: { duration: 30_000, devices: 5_000 },
    limits: { write: { limit: 12, interval: 60_000 } },
  });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  sandbox.webhooks.create({ url: `${receiverUrl}/down`, name: "It's down" });
  const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
  const { origin, searchParams } = new URL(consoleUrl);
  const authorization = `Bearer ${searchParams.get('token')}`;
  const act = async (path: string, body: object = {}) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    return response.json();
  };
  const connect = (token: string): AudienceClient => {
    const client = new AudienceClient({ baseUrl: url, token, ...options });
    onTestFinished(() => client.close());
    return client;
  };
  const exported = async () => (await fetch(`${origin}/recording.test.ts`, { headers: { authorization } })).text();
  const statuses = () => [...new Set(sandbox.log.map(({ status }) => status))].sort((x, y) => x - y);
  return { sandbox, account, url, receiverUrl, act, connect, exported, statuses };
}

const ignore = (): void => {};

/** A session with the work of a day. */
async function recordDay(): Promise<string> {
  const { sandbox, account, url, receiverUrl, act, connect, exported, statuses } = await startSession();
  const client = connect(account.token('api'));
  const other = connect((await client.auth.login(credentials)).token);
  const { id: audience_id } = await client.audiences.create(
    { name: "Bo's \u2028 <visitors>" },
    { idempotencyKey: 'a' },
  );
  await client.audiences.create({ name: 'other' }, { idempotencyKey: 'a' }).catch(ignore);
  await other.activations.create({ audience_id }).catch(ignore);
  await act('/api/jobs/finish', { kind: 'audience', id: audience_id, status: 104 });
  const activation = await other.activations.create({ audience_id, description: 'Now' });
  await act('/api/clock/mode', { speed: 4 });
  await act('/api/clock/advance', { ms: 40_000 });
  const { datastreams } = await client.activations.get(activation.id);
  await fetch(datastreams[0]?.results.uri ?? '', { headers: { range: 'bytes=5-' } });
  const data = new Blob(['email\n', 'a@example.com\n'.repeat(900)]);
  const { reference } = await client.uploads.upload({ kind: 'cohort', data });
  const cohort = await client.cohorts.create({ name: 'Customers', upload_reference: reference });
  await act('/api/faults', { on: 'usage.get', cut: 'before', times: 1 });
  await act('/api/faults', { on: 'usage.get', rate: 0.5, status: 503 });
  for (let count = 0; count < 12; count++) await client.usage.get().catch(ignore);
  await act('/api/webhooks', { url: `${receiverUrl}/up`, account: credentials.email });
  const failed = sandbox.webhooks.deliveries[0]?.eventId;
  await act('/api/webhooks/redeliver', { event: failed });
  const { token: mcp } = await act('/api/tokens', { kind: 'mcp' });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'audiences_list', arguments: {} } };
  const headers = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${mcp}`,
  };
  await fetch(`${url}/api/v2/mcp`, { method: 'POST', headers, body: JSON.stringify(message) });
  // More than the limit of a minute, while time stands still.
  await act('/api/clock/mode', { mode: 'manual' });
  await Promise.allSettled(Array.from({ length: 13 }, (_, at) => client.projects.create({ name: `P${at}` })));
  await act('/api/clock/advance', { ms: 60_000 });
  await act('/api/clock/mode', { speed: 4 });
  // 900 rows are enough to activate an audience made from the cohort, so that the rows of its file matter.
  const later = connect(account.token('api'));
  const { id: made } = await later.audiences.create({ name: 'Made', cohort_id: cohort.id });
  await act('/api/jobs/finish', { kind: 'audience', id: made, status: 104 });
  await later.activations.create({ audience_id: made });
  await act('/api/password', { password: 'another' });
  await client.audiences.list().catch(ignore);
  await client.auth.login(credentials).catch(ignore);
  expect(statuses()).toEqual([0, 200, 206, 401, 409, 422, 429, 503]);
  return exported();
}

/** A session that begins in the middle, and holds what is hard to repeat. */
async function recordOddities(): Promise<string> {
  const { sandbox, account, url, act, connect, exported, statuses } = await startSession();
  const client = connect(account.token('api'));
  await act('/api/faults', { on: '/nothing', status: 500 });
  await act('/api/faults', { on: 'webhooks.list', status: 503, times: 2 });
  await act('/api/limits', { read: { limit: 8, interval: 60_000 } });
  await client.webhooks.list().catch(ignore);
  await act('/api/recording/restart');

  // The second of two responses, a rule that is removed by its function, one that is removed by its id.
  for (let count = 0; count < 2; count++) await client.webhooks.list().catch(ignore);
  sandbox.faults.add({ on: 'projects.list', status: 502 })();
  await client.projects.list();
  await act('/api/faults/remove', { id: 1 });

  // Creates that rules refuse before their bodies are read.
  await act('/api/faults', { on: 'schedules.create', status: 503, times: 1 });
  await act('/api/faults', { on: 'schedules.create', rate: 0.5, status: 503, times: 3 });
  for (let count = 0; count < 6; count++) await client.schedules.create({ name: 'S' }).catch(ignore);

  // A create in flight, refused duplicates, and requests that overlap.
  const remove = sandbox.faults.add({ on: 'audiences.create', inFlight: 30_000, times: 1 });
  const first = client.audiences.create({ name: 'Once' }, { idempotencyKey: 'k' });
  await eventually(() => expect(client.audiences.create({ name: 'Once' }, { idempotencyKey: 'k' })).rejects.toThrow());
  remove();
  await first;
  await Promise.all(['A', 'B', 'C'].map((name) => client.audiences.create({ name })));

  // Bodies that are not text, credentials of a client, an address behind a proxy, an object as argument.
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${account.token('api')}`,
  };
  const send = (path: string, init: RequestInit) => fetch(`${url}${path}`, { method: 'POST', ...init });
  for (const body of ['\ufeff{"name":"x"}', new Uint8Array([123, 255, 125])])
    await send('/api/v2/projects/create', { headers, body });
  const form = new FormData();
  form.set('name', 'Customers');
  form.set('file', new Blob(['a\n'.repeat(50_000)]), 'customers.csv');
  await send('/api/v2/cohorts/create', {
    headers: { accept: headers.accept, authorization: headers.authorization },
    body: form,
  });
  const redirect = 'http://127.0.0.1:1/callback';
  const registered = await send('/oauth/register', { headers, body: JSON.stringify({ redirect_uris: [redirect] }) });
  const { client_id, client_secret } = await registered.json();
  const basic = { authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` };
  await send('/oauth/revoke', { headers: basic, body: new URLSearchParams({ token: 'x' }) });
  const query = new URLSearchParams({ client_id, response_type: 'code', code_challenge: 'x'.repeat(43) });
  query.set('code_challenge_method', 'S256');
  sandbox.oauth.consent(account, new URL(`${url}/oauth/authorize?${query}`));
  await send('/api/v2/auth/login', { headers: { ...headers, 'x-forwarded-for': '10.0.0.1' }, body: '{}' });

  expect(statuses()).toEqual([200, 201, 409, 422, 503]);
  // After a reset, ids and tokens are issued again.
  await act('/api/reset');
  await connect(account.token('api')).audiences.create({ name: 'Again' });
  return exported();
}

/** A session in which each kind of fault strikes, also with a client that gives up. */
async function recordFaults(): Promise<string> {
  const { sandbox, account, url, connect, exported } = await startSession();
  const client = connect(account.token('api'));
  const once = { times: 1, on: 'audiences.create' };
  for (const rule of [
    { ...once, cut: 'before' },
    { ...once, cut: 'after' },
    { ...once, cut: 'body' },
    { ...once, malformed: true },
    { ...once, status: 503, retryAfter: 1 },
    { ...once, delay: 20 },
    { ...once, delay: 20, cut: 'after' },
    { ...once, inFlight: 20, cut: 'after' },
  ] as const) {
    sandbox.faults.add(rule);
    await client.audiences.create({ name: JSON.stringify(rule) }).catch(ignore);
  }
  // The client gives up while the service is held up: before it acts, and while the create is in flight.
  for (const [rule, key] of [
    [{ delay: 60_000, on: 'usage.get', times: 1 }, undefined],
    [{ inFlight: 60_000, on: 'audiences.create', times: 1 }, 'held'],
  ] as const) {
    const { length } = sandbox.log;
    const remove = sandbox.faults.add(rule);
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const abandoned =
      key === undefined
        ? client.usage.get({}, { signal })
        : client.audiences.create({ name: 'A' }, { signal, idempotencyKey: key });
    const rejected = expect(abandoned).rejects.toThrow();
    await eventually(() => expect(sandbox.faults.list()).toEqual([]));
    giveUp.abort();
    await rejected;
    // The server learns of it before its next request.
    if (key === undefined) await eventually(() => expect(sandbox.log).toHaveLength(length + 1));
    await fetch(`${url}/api/v2/usage`, { headers: { accept: 'text/html' } });
    remove();
  }
  await eventually(() => expect(sandbox.log.at(-1)).toMatchObject({ status: 0, served: 200 }));
  expect(sandbox.log.map(({ status, served }) => served ?? status)).toEqual([
    0, 200, 200, 200, 503, 200, 200, 200, 0, 406, 406, 200,
  ]);
  return exported();
}

it('sessions exported as tests run green under vitest, and red if the sandbox responds with another status', async () => {
  const day = await recordDay();
  const oddities = await recordOddities();
  const faults = await recordFaults();
  expect(oddities).toMatch(/const request\d+ = send\(.*\n {2}await begun\(\);/);
  expect(faults.match(/toBe\(0\)/g)?.length).toBeGreaterThan(4);
  const output = await runVitest({ day, oddities, faults, red: day.replace('toBe(409)', 'toBe(200)') });
  expect(output).toMatch(/Tests +1 failed \| 3 passed/);
  expect(output).toContain('FAIL  red.test.ts');
  expect(output).toContain('expected 409 to be 200');
});
