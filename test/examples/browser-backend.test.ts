import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createBackend } from '../../examples/browser/server/backend.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { listenForTest } from '../support/loopback.ts';

it('complains of what fails, not of pages that are left', async () => {
  const complain = vi.spyOn(console, 'error').mockReturnValue();
  const credentials = { email: 'ada@example.com', password: 'correct horse' };
  const sandbox = createSandbox({ faults: [{ on: 'GET /audiences/index', delay: 600_000 }] });
  sandbox.accounts.create(credentials);
  const service = await sandbox.listen();
  onTestFinished(() => service.close());
  const backend = createBackend(service.url);
  const server = createServer((request, response) => backend(request, response, () => response.end()));
  const url = await listenForTest(server);
  const signedIn = await fetch(`${url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(credentials),
  });
  const cookie = (signedIn.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const { token } = await (await fetch(`${url}/token`, { headers: { cookie } })).json();
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const list = (init?: RequestInit): Promise<Response> => fetch(`${url}/api/v2/audiences/index`, { headers, ...init });

  const page = new AbortController();
  const left = list({ signal: page.signal }).catch((error: Error) => error.name);
  const [, response] = await once(server, 'request');
  page.abort();
  expect(await left).toBe('AbortError');
  await once(response, 'close');
  await setImmediate();
  expect(complain).not.toHaveBeenCalled();

  await service.close();
  expect((await list()).status).toBe(502);
  expect(complain).toHaveBeenCalledOnce();
});
