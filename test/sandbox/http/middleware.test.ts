import { request as httpRequest } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { startConsole } from '../../support/console.ts';
import { quickly } from '../../support/quickly.ts';
import { credentials } from '../../support/sandbox.ts';

const CREATE = '/api/v2/audiences/create';

/** Serves a sandbox; its console is open. */
async function serve(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    authorization: `Bearer ${account.token('api')}`,
  };
  return { sandbox, url, consoleUrl, headers };
}

describe('the log shows what the client has received', () => {
  it('no response, and what the service has done, when a response was cut', async () => {
    const { sandbox, url, headers } = await serve({ faults: [{ on: 'audiences.create', cut: 'after', times: 1 }] });
    await expect(fetch(`${url}${CREATE}`, { method: 'POST', headers, body: '{}' })).rejects.toThrow();
    await fetch(`${url}${CREATE}`, { method: 'POST', headers, body: '{}' });
    expect(sandbox.log[0]).toMatchObject({ status: 0, served: 200, fault: 'cut after' });
    expect(sandbox.log[1]).toMatchObject({ status: 200 });
    expect(sandbox.log[1]).not.toHaveProperty('served');
  });

  it('no response to a client that was gone', async () => {
    const { sandbox, url, headers } = await serve();
    const remove = sandbox.faults.add({ on: 'audiences.create', inFlight: 60_000, times: 1 });
    const signal = AbortSignal.timeout(50);
    const keyed = { ...headers, 'idempotency-key': 'k' };
    await expect(fetch(`${url}${CREATE}`, { method: 'POST', headers: keyed, body: '{}', signal })).rejects.toThrow();
    // The server learns of it before its next request.
    await fetch(`${url}/api/v2/usage`, { headers });
    remove();
    await expect.poll(() => sandbox.log.find(({ path }) => path === CREATE)).toMatchObject({ status: 0, served: 200 });
  });
});

describe('the body of a request that is refused before it is read', () => {
  it.each<[string, SandboxOptions, Record<string, string>]>([
    ['429', { limits: { write: { limit: 0, interval: 60_000 } } }, {}],
    ['401', {}, { authorization: 'Bearer nothing' }],
    ['406', {}, { accept: 'text/html' }],
    ['503', { faults: [{ on: 'audiences.create', status: 503 }] }, {}],
  ])('is kept: %s', async (status, options, more) => {
    const { sandbox, api, page } = await startConsole(options);
    expect((await api('POST', CREATE, { name: 'Kept visitors' }, more)).status).toBe(Number(status));
    expect(await page(`/requests/${sandbox.log[0]?.id}`)).toContain('Kept visitors');
  });

  it('is kept over HTTP, too', async () => {
    const { sandbox, url, headers, consoleUrl } = await serve({ faults: [{ status: 503 }] });
    await fetch(`${url}${CREATE}`, { method: 'POST', headers, body: '{"name":"Kept visitors"}' });
    const { origin, searchParams } = new URL(consoleUrl);
    const authorization = `Bearer ${searchParams.get('token')}`;
    const page = await fetch(`${origin}/requests/${sandbox.log[0]?.id}`, { headers: { authorization } });
    expect(await page.text()).toContain('Kept visitors');
  });

  it('delays the response by a second if it does not arrive, and not at all if it is long', () =>
    quickly(async () => {
      const { url, headers } = await serve({ faults: [{ status: 503 }] });
      for (const length of ['100', '5000000']) {
        const start = performance.now();
        const status = await new Promise((resolve, reject) => {
          const sent = httpRequest(`${url}${CREATE}`, {
            method: 'POST',
            headers: { ...headers, 'content-length': length },
          });
          sent.on('response', (response) => {
            resolve(response.statusCode);
            sent.destroy();
          });
          sent.on('error', reject);
          sent.write('{"name":');
        });
        expect([status, performance.now() - start]).toEqual([503, length === '100' ? 1_000 : 0]);
      }
    }));
});
