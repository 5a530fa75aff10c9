import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';

async function startConsole() {
  const sandbox = createSandbox({ start: 0 });
  onTestFinished(() => sandbox.close());
  const { consoleUrl = '' } = await sandbox.listen({ console: true });
  const { origin, searchParams } = new URL(consoleUrl);
  const authorization = `Bearer ${searchParams.get('token')}`;
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const init = { method, headers: { authorization, 'content-type': 'application/json', ...headers } };
    const response = await fetch(`${origin}${path}`, {
      ...init,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, data: await response.json() };
  };
  return { sandbox, origin, send };
}

describe('the endpoints of the console', () => {
  it('need the token of the run, and cannot be read by pages', async () => {
    const { origin, send } = await startConsole();
    expect((await fetch(`${origin}/api/state`)).status).toBe(401);
    const { status, headers } = await send('GET', '/api/state', undefined, { origin: 'https://evil.example' });
    expect({ status, cors: headers.get('access-control-allow-origin') }).toEqual({ status: 200, cors: null });
    expect((await fetch(`${origin}/api/state`, { method: 'OPTIONS' })).status).toBe(401);
  });

  it('two runs have different tokens; without `console`, nothing is served', async () => {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const urls = [await sandbox.listen({ console: true }), await sandbox.listen({ console: true })].map(
      ({ consoleUrl = '' }) => new URL(consoleUrl).searchParams.get('token'),
    );
    expect(new Set(urls).size).toBe(2);
    expect(await sandbox.listen()).not.toHaveProperty('consoleUrl');
  });

  it.each([
    ['POST', '/api/clock/advance', { ms: '5' }, '`ms` must be a number, not string.'],
    ['POST', '/api/clock/advance', { ms: -5 }, '`ms` of `advance` must be a number of milliseconds of 0 or more'],
    ['POST', '/api/clock/advance', [], 'The body must be a JSON object'],
    ['POST', '/api/jobs/finish', { kind: 'audience', id: 9, status: 104 }, 'No job of audience 9 is running.'],
    [
      'POST',
      '/api/faults',
      { on: 'usage.get', retryAfter: 'x', status: 429 },
      '`retryAfter` must be a number of 0 or more',
    ],
    ['POST', '/api/faults', { on: 'usage.get', statuss: 500 }, '`statuss` is not a field'],
    ['POST', '/api/faults', { rate: '1', status: 500 }, '`rate` must be a number from 0 to 1'],
    ['GET', '/api/nothing', undefined, 'The console has no endpoint GET /api/nothing.'],
  ])('%s %s with %j is refused with the reason', async (method, path, body, message) => {
    const { send } = await startConsole();
    const { status, data } = await send(method, path, body);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(data.message).toContain(message);
  });

  it('requests that delete take no body, also with its type', async () => {
    const { sandbox, send } = await startConsole();
    sandbox.faults.add({ status: 503 });
    expect((await send('DELETE', '/api/faults')).data).toMatchObject({ removed: 1 });
    expect((await send('DELETE', '/api/faults', { x: 1 })).data.message).toContain('`x` is not a field');
    expect((await send('DELETE', '/api/faults', {})).status).toBe(200);
  });

  it('refuse a body above 1 MB before it has arrived', async () => {
    const { origin, send } = await startConsole();
    expect((await send('POST', '/api/faults', { on: 'x'.repeat(1_000_000) })).status).toBe(413);
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${origin}/login`, { method: 'POST', headers: { 'content-length': '900000000' } });
      sent.on('error', reject).on('response', (response) => {
        resolve(response.statusCode);
        sent.destroy();
      });
      sent.write('email=');
    });
    expect(status).toBe(413);
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
    const init = { method: 'POST', body: endless, duplex: 'half' };
    const refused = await fetch(`${origin}/login`, init).then(
      (response) => response.status,
      () => 413,
    );
    expect(refused).toBe(413);
    const chunked = new Response('email=x&password=y').body;
    expect((await fetch(`${origin}/login`, Object.assign(init, { body: chunked }))).status).toBe(401);
  });

  it('advance the clock, finish jobs and add faults', async () => {
    const { sandbox, send } = await startConsole();
    const token = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' }).token('api');
    const api = (path: string, init: RequestInit = {}) =>
      sandbox.fetch(`http://localhost${path}`, {
        ...init,
        headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` },
      });
    const created = await api('/api/v2/audiences/create', { method: 'POST', body: '{"name":"x"}' });
    const [{ id }] = (await created.json()).data;
    await send('POST', '/api/clock/advance', { ms: 3_600_000 });
    expect(sandbox.now()).toBeGreaterThanOrEqual(3_600_000);
    expect((await send('GET', '/api/state')).data).toMatchObject({ jobs: [] });
    expect((await (await api(`/api/v2/audiences/${id}`)).json()).data[0].status.id).toBe(104);
    await send('POST', '/api/faults', { on: 'usage.get', status: 503, times: 1 });
    expect((await send('GET', '/api/faults')).data).toEqual([
      { id: 1, on: 'usage.get', status: 503, times: 1, remaining: 1 },
    ]);
    expect((await api('/api/v2/usage')).status).toBe(503);
    expect((await send('GET', '/api/faults')).data).toEqual([]);
  });
});
