import { onTestFinished } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { credentials } from './sandbox.ts';

/** Paths of the operator's pages. */
export const PAGES = [
  '/start',
  '/requests',
  '/deliveries',
  '/jobs',
  '/clock',
  '/faults',
  '/limits',
  '/accounts',
  '/session',
  '/resources',
];

/** Paths of an operator that respond with JSON. */
export const ENDPOINTS = [
  '/api/state',
  '/api/requests',
  '/api/deliveries',
  '/api/jobs/next',
  '/api/faults',
  '/api/accounts',
];

/** Markup as an attacker would store it. */
export const SCRIPT = '<script>alert(1)</script><img src=x onerror=alert(2)>';

/** Starts a sandbox whose console is called in process, by its operator. */
export async function startConsole(options: SandboxOptions = {}) {
  const sandbox = createSandbox({
    clock: 'manual',
    start: 0,
    deliver: async () => new Response('thanks', { headers: { 'content-length': '6' } }),
    ...options,
  });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  const token = account.token('api');
  const request = (path: string, init: RequestInit = {}) =>
    sandbox.console(new Request(`http://localhost${path}`, { redirect: 'manual', ...init }));
  const page = async (path: string) => (await request(path)).text();
  /** Does an action by its endpoint. */
  const act = async (path: string, body: unknown = {}) => {
    const [method = '', target = ''] = path.split(' ');
    const hasBody = method === 'POST';
    const headers = { 'content-type': 'application/json' };
    const response = await request(target, { method, ...(hasBody && { headers, body: JSON.stringify(body) }) });
    return { status: response.status, data: await response.json() };
  };
  const api = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    sandbox.fetch(`http://localhost${path}`, {
      method,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const createAudience = async (name = 'Visitors'): Promise<number> =>
    (await (await api('POST', '/api/v2/audiences/create', { name })).json()).data[0].id;
  // The recording begins with the first request.
  await request('/');
  return { sandbox, account, token, request, page, act, api, createAudience };
}

/** Serves the console over HTTP. */
export async function serveConsole(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  onTestFinished(() => sandbox.close());
  sandbox.accounts.create(credentials);
  const { consoleUrl = '', url } = await sandbox.listen({ console: true });
  const { origin, searchParams } = new URL(consoleUrl);
  return { sandbox, url, origin, consoleUrl, token: searchParams.get('token') ?? '' };
}
