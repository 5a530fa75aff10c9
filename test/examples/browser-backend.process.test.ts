import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createBackend } from '../../examples/browser/server/backend.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { listenForTest } from '../support/loopback.ts';

const email = 'ada@example.com';
const password = 'correct horse';

/** Starts a backend in front of a sandbox with one account. */
async function startBackend(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  const account = sandbox.accounts.create({ email, password });
  const service = await sandbox.listen();
  onTestFinished(() => service.close());
  const backend = createBackend(service.url);
  const server: Server = createServer((request, response) => backend(request, response, () => response.end()));
  const url = await listenForTest(server);
  const signIn = (secret: string): Promise<Response> =>
    fetch(`${url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: secret }),
    });
  const cookie = ((await signIn(password)).headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
  const issueToken = (): Promise<Response> => fetch(`${url}/token`, { headers: { cookie } });
  const { token } = await (await issueToken()).json();
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const list = (init?: RequestInit): Promise<Response> => fetch(`${url}/api/v2/audiences/index`, { headers, ...init });
  return { account, service, server, signIn, issueToken, list };
}

it('the server of examples/browser logs failures, and not pages that have disconnected', async () => {
  const complain = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => complain.mockRestore());
  const { service, server, list } = await startBackend({ faults: [{ on: 'GET /audiences/index', delay: 600_000 }] });

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

it('the server of examples/browser ends the session of an account that the service refuses, and verifies its next sign-in', async () => {
  const { account, signIn, issueToken, list } = await startBackend();
  expect((await list()).status).toBe(200);
  const changed = account.changePassword();
  expect((await list()).status).toBe(401);
  expect((await issueToken()).status).toBe(401);
  expect((await signIn(password)).status).toBe(401);
  expect((await signIn(changed)).status).toBe(200);
});
