import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { runProgram } from '../../support/run-program.ts';
import { credentials, startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

async function start(options: SandboxOptions = {}, where: { name?: string } = {}) {
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const token = sandbox.accounts.create(credentials).token('api');
  const { url, storageUrl, close } = await sandbox.listen(where);
  onTestFinished(close);
  return { sandbox, token, url, storageUrl };
}

/** Sends a request with headers and a local address that `fetch` does not allow. */
function send(url: string, options: { headers?: Record<string, string>; localAddress?: string; body?: string }) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const { body, ...rest } = options;
    const sent = request(url, { method: body === undefined ? 'GET' : 'POST', ...rest }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, text });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('a sandbox over HTTP', () => {
  it.each([
    ['evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['evil.example:80', 421],
    ['localhost:4010', 401],
    ['api.localhost', 401],
    ['127.0.0.1:1', 401],
    ['[::1]:1', 401],
  ])('a request with the Host %j returns %i, against DNS rebinding', async (host, status) => {
    const { url, storageUrl } = await start();
    const headers = { host, accept: 'application/json' };
    const response = await send(`${url}/api/v2/usage`, { headers });
    expect(response.status).toBe(status);
    if (status === 421) expect(response.text).toContain('pass it as `name` to `listen`');
    expect((await send(`${storageUrl}/results/1/a.csv`, { headers })).status).toBe(status === 421 ? 421 : 403);
  });

  it('a `name` is accepted in Host and used in URLs', async () => {
    const { url, storageUrl } = await start({}, { name: 'Sandbox.test' });
    expect(url).toMatch(/^http:\/\/Sandbox\.test:\d+$/);
    expect(storageUrl).toMatch(/^http:\/\/Sandbox\.test:\d+$/);
    const headers = { host: 'sandbox.test', accept: 'application/json' };
    expect((await send(`http://127.0.0.1:${new URL(url).port}/api/v2/usage`, { headers })).status).toBe(401);
  });

  it.each(['a b', 'evil/path', '', 'foo:80', 'user@host'])('`listen` refuses the name %j', async (name) => {
    await expect(createSandbox().listen({ name })).rejects.toThrow('must be a host name');
  });

  it('the log shows a path as sent, in one line, and no preflights', async () => {
    const { sandbox, url } = await start({ faults: [{ on: '*', status: 503 }] });
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
    await fetch(`${url}/api/v2/usage`, { method: 'OPTIONS', headers });
    await send(`${url}/x%20200%0A%E2%80%AE`, {});
    await send(`${url}/${'x'.repeat(9_000)}`, {});
    expect(sandbox.log.map(({ path, status }) => [path.slice(0, 30), path.length, status])).toEqual([
      ['/x%20200%0A%E2%80%AE', 20, 503],
      [`/${'x'.repeat(29)}`, 2_000, 503],
    ]);
  });

  it('a client that disconnects in the middle of its body is logged without a status, and its key is free', async () => {
    const { sandbox, url, token } = await start();
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'idempotency-key': 'k',
    };
    const path = `${url}/api/v2/projects/create`;
    const leaving = request(path, {
      method: 'POST',
      headers: { ...headers, 'content-length': '100', expect: '100-continue' },
    });
    leaving.on('error', () => {}).flushHeaders();
    await once(leaving, 'continue');
    leaving.write('{"name":');
    const duplicate = async () => (await fetch(path, { method: 'POST', headers, body: '{}' })).status;
    expect(await duplicate()).toBe(409);
    leaving.destroy();
    await expect.poll(() => sandbox.log.map(({ status }) => status)).toEqual([409, 0]);
    expect(await duplicate()).toBe(200);
  });

  it('a preflight to an unknown host is refused, too', async () => {
    const { url } = await start();
    const { status } = await new Promise<{ status: number }>((resolve, reject) => {
      const headers = { host: 'evil.example', origin: 'https://evil.example', 'access-control-request-method': 'GET' };
      const sent = request(`${url}/api/v2/usage`, { method: 'OPTIONS', headers }, (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0 });
      });
      sent.on('error', reject).end();
    });
    expect(status).toBe(421);
  });

  it('logins and mints count by the address of the client', async () => {
    const { url } = await start({ limits: { login: { limit: 1, interval: 60_000 } } });
    const headers = { accept: 'application/json', 'content-type': 'application/json' };
    const login = async (localAddress: string) =>
      (await send(`${url}/api/v2/auth/login`, { headers, localAddress, body: JSON.stringify(credentials) })).status;
    const statuses = [await login('127.0.0.1'), await login('127.0.0.1'), await login('127.0.0.2')];
    expect(statuses).toEqual([200, 429, 200]);
  });

  it('pages of any origin can call the API and read Retry-After', async () => {
    const { url, token } = await start({ limits: { read: { limit: 0, interval: 60_000 } } });
    const preflight = await fetch(`${url}/api/v2/audiences/create`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toBe('authorization,content-type,idempotency-key');
    const headers = { origin: 'https://app.example', accept: 'application/json', authorization: `Bearer ${token}` };
    const refused = await fetch(`${url}/api/v2/webhooks/index`, { headers });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After');
    expect(refused.headers.get('retry-after')).toBe('60');
  });

  it('`listen` warns if other machines can use the sandbox, and only then', async () => {
    const program = (host: string): string => `
      const { createSandbox } = await import('./src/sandbox/index.ts');
      const { url, close } = await createSandbox().listen({ host: '${host}' });
      console.log(url);
      await close();`;
    const run = (host: string) => runProgram(['--input-type=module', '-e', program(host)]);
    const open = await run('0.0.0.0');
    expect(open.stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(open.stderr).toContain('SandboxWarning: The sandbox listens on 0.0.0.0: other machines can use it.');
    expect((await run('127.0.0.1')).stderr).toBe('');
  });

  it('`listen` reports the port that is in use, and leaves none open', async () => {
    const { sandbox, url, storageUrl } = await start();
    const usedPort = Number(new URL(url).port);
    await expect(sandbox.listen({ port: usedPort })).rejects.toThrow(
      `EADDRINUSE: address already in use 127.0.0.1:${usedPort}`,
    );
    await expect(sandbox.listen({ storagePort: Number(new URL(storageUrl).port) })).rejects.toThrow('EADDRINUSE');
  });

  it('`listen` leaves global classes unchanged', async () => {
    const before = [globalThis.Request, globalThis.Response];
    await start();
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });

  it('each server has its own storage, which is also reachable in process', async () => {
    const { sandbox, token } = await start();
    const reserve = async (base: string): Promise<string> => {
      const headers = {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
      };
      const init = { method: 'POST', headers, body: '{"kind":"cohort"}' };
      return (await (await fetch(`${base}/api/v2/uploads/create`, init)).json()).data.url;
    };
    const put = async (url: string, send: typeof fetch): Promise<number> =>
      (await send(url, { method: 'PUT', body: 'a\n', headers: { 'content-length': '2' } })).status;
    const [first, second] = [await sandbox.listen(), await sandbox.listen()];
    onTestFinished(() => sandbox.close());
    const slots = [await reserve(first.url), await reserve(second.url)];
    expect(slots.map((url) => new URL(url).origin)).toEqual([first.storageUrl, second.storageUrl]);
    expect(await Promise.all(slots.map((url) => put(url, fetch)))).toEqual([200, 200]);
    await second.close();
    expect(await put(await reserve(first.url), fetch)).toBe(200);
    expect(await put(slots[0] ?? '', sandbox.fetch)).toBe(200);
  });

  it('a sandbox that is closed while it starts to listen leaves no server', async () => {
    const sandbox = createSandbox();
    const listening = sandbox.listen();
    await sandbox.close();
    await expect(listening).rejects.toThrow('The sandbox is closed.');
  });

  it('a closed sandbox sends no deliveries and retries none', async () => {
    let sent = 0;
    const deliver = (): Promise<Response> => {
      sent++;
      return new Promise(() => {});
    };
    const sandbox = createSandbox({ clock: { speed: 600_000 }, deliver });
    const account = sandbox.accounts.create(credentials);
    const { id } = sandbox.webhooks.create({ account, name: 'x', url: 'https://receiver.example/', events: [] });
    sandbox.webhooks.test(id);
    await expect.poll(() => sent).toBe(1);
    await sandbox.close();
    await expect.poll(() => sandbox.webhooks.deliveries).toHaveLength(1);
    sandbox.webhooks.test(id);
    await expect.poll(() => sandbox.now() - Date.now()).toBeGreaterThan(3_600_000);
    expect(sent).toBe(1);
  });

  it('a closed sandbox rejects pending and later requests, over HTTP and in process', async () => {
    const { sandbox, client, connect } = await startBench({ faults: [{ on: 'usage.get', delay: 60_000 }] });
    const pending = failureOf(client.usage.get(undefined, { maxRetries: 0 }));
    await expect.poll(() => sandbox.jobs.running).toEqual([]);
    await sandbox.close();
    expect(await pending).toMatchObject({ name: 'ConnectionError' });
    const inProcess = connect({ token: 'x', fetch: sandbox.fetch, maxRetries: 0 });
    expect(await failureOf(inProcess.usage.get())).toMatchObject({ name: 'ConnectionError' });
    await expect(sandbox.listen()).rejects.toThrow('The sandbox is closed.');
    await sandbox.close();
  });
});
