import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ACCOUNT_ACTIONS } from '../../../src/sandbox/console/account-actions.ts';
import { OPERATOR_ACTIONS } from '../../../src/sandbox/console/operator-actions.ts';
import { ENDPOINTS, PAGES, SCRIPT, serveConsole, startConsole } from '../../support/console.ts';
import { credentials } from '../../support/sandbox.ts';

const ASSETS = ['/console.css', '/console.js', '/favicon.ico'];

/** Paths that only an operator may read. */
const OPERATOR_READS = [
  ...PAGES,
  '/requests/req_1',
  '/resources/1',
  '/endpoints/1',
  '/find?q=req_1',
  '/state.json',
  '/recording.test.ts',
  ...ENDPOINTS,
];

const OPERATOR_WRITES = [...OPERATOR_ACTIONS, ...ACCOUNT_ACTIONS].map(({ method, path }) => `${method} /api${path}`);
const WRITES = [...OPERATOR_WRITES, 'POST /login-as'];

/** Sends a request with any headers, `Host` too; returns its status. */
const statusOf = (origin: string, method: string, path: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers }, (response) => {
      resolve(response.statusCode);
      response.destroy();
    });
    sent.on('error', reject).end(method === 'POST' ? '{}' : undefined);
  });

/** Splits a write such as `POST /login`. */
const parts = (write: string): readonly [method: string, path: string] => {
  const [method = '', path = ''] = write.split(' ');
  return [method, path];
};

/** Serves a console with an operator and the owner of an account, who are logged in in the same browser. */
async function serveSessions() {
  const console = await serveConsole({ clock: 'manual', start: 0 });
  const { origin, token, sandbox } = console;
  const opened = await fetch(`${origin}/?token=${token}`);
  const body = new URLSearchParams({ account: credentials.email });
  const headers = { authorization: `Bearer ${token}` };
  const entered = await fetch(`${origin}/login-as`, { method: 'POST', headers, body, redirect: 'manual' });
  const [operator = '', owner = ''] = [opened, entered].map(
    ({ headers }) => headers.get('set-cookie')?.split(';')[0] ?? '',
  );
  const snapshot = () => JSON.stringify({ ...sandbox.save(), faults: sandbox.faults.list() });
  return { ...console, operator, owner, snapshot };
}

describe('attacks from the pages of another site', () => {
  it('a name that leads here by DNS rebinding reads and writes nothing: no page, endpoint, stream or asset', async () => {
    const { origin, operator, owner, snapshot, sandbox } = await serveSessions();
    const before = snapshot();
    const { port } = new URL(origin);
    const host = `evil.example:${port}`;
    const headers = {
      host,
      cookie: `${operator}; ${owner}`,
      origin: `http://${host}`,
      'sec-fetch-site': 'same-origin',
    };
    const reads = [...OPERATOR_READS, ...ASSETS, '/events', '/nothing'];
    for (const path of reads) expect([path, await statusOf(origin, 'GET', path, headers)]).toEqual([path, 421]);
    const json = { ...headers, 'content-type': 'application/json' };
    for (const write of WRITES) expect([write, await statusOf(origin, ...parts(write), json)]).toEqual([write, 421]);
    expect(snapshot()).toBe(before);
    const mounted = new Request('http://evil.example/', { headers: { host: 'evil.example' } });
    expect((await sandbox.console(mounted)).status).toBe(421);
  });

  it.each([
    [{ origin: 'https://evil.example' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'null' }],
  ])('a page with %j does no action and opens no stream with the cookies of its reader', async (from) => {
    const { origin, operator, owner, snapshot } = await serveSessions();
    const before = snapshot();
    const cookie = `${operator}; ${owner}`;
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
      const headers = { ...from, cookie, 'content-type': type };
      for (const write of WRITES)
        expect([write, await statusOf(origin, ...parts(write), headers)]).toEqual([write, 403]);
    }
    expect(await statusOf(origin, 'GET', '/events', { ...from, cookie })).toBe(403);
    expect(snapshot()).toBe(before);
  });

  it('a form of an old browser, which names no origin, does no action; neither does a link to one', async () => {
    const { origin, operator, owner, snapshot } = await serveSessions();
    const before = snapshot();
    const cookie = `${operator}; ${owner}`;
    for (const write of OPERATOR_WRITES) {
      const [method, path] = parts(write);
      const asForm = await statusOf(origin, 'POST', path, { cookie, 'content-type': 'text/plain' });
      expect([write, asForm]).toEqual([write, method === 'POST' ? 400 : expect.any(Number)]);
      await statusOf(origin, 'GET', path, { cookie });
    }
    expect(snapshot()).toBe(before);
  });
});

describe('sessions of others', () => {
  it('the owner of an account reads and does nothing of an operator', async () => {
    const { origin, owner, snapshot, token } = await serveSessions();
    const before = snapshot();
    const refused = async (headers: Record<string, string>) => {
      for (const path of [...OPERATOR_READS, '/events'])
        expect([path, await statusOf(origin, 'GET', path, headers)]).toEqual([path, 401]);
      const json = { ...headers, 'content-type': 'application/json' };
      for (const write of WRITES) expect([write, await statusOf(origin, ...parts(write), json)]).toEqual([write, 401]);
    };
    await refused({ cookie: owner });
    // Neither in place of the operator's cookie, nor as a token, nor the token as a cookie.
    const value = owner.split('=')[1] ?? '';
    const { operator } = await serveSessions();
    await refused({ cookie: `${operator.split('=')[0]}=${value}`, authorization: `Bearer ${value}` });
    await refused({ cookie: `${operator.split('=')[0]}=${token}` });
    expect(snapshot()).toBe(before);
  });

  it('a session of another run is not valid, for an operator and for an account', async () => {
    const { origin, snapshot } = await serveSessions();
    const other = await serveSessions();
    const before = snapshot();
    const cookie = `${other.operator}; ${other.owner}`;
    const authorization = `Bearer ${other.token}`;
    for (const path of [...OPERATOR_READS, '/events'])
      expect([path, await statusOf(origin, 'GET', path, { cookie, authorization })]).toEqual([path, 401]);
    const headers = { cookie, authorization, 'content-type': 'application/json' };
    for (const write of OPERATOR_WRITES)
      expect([write, await statusOf(origin, ...parts(write), headers)]).toEqual([write, 401]);
    expect(snapshot()).toBe(before);
  });
});

describe('markup that others have sent', () => {
  it('is text on every page, in every panel and in the notices', async () => {
    const { api, act, page, sandbox } = await startConsole({
      deliver: async () => new Response(SCRIPT, { status: 500, headers: { 'content-length': String(SCRIPT.length) } }),
    });
    const word = SCRIPT.replaceAll(' ', '');
    await act('POST /api/accounts', { email: `"${word}"@x`, password: 'x', company: SCRIPT });
    const { id } = sandbox.webhooks.create({ url: `https://example.com/?${word}`, name: SCRIPT });
    const body = { name: SCRIPT, description: SCRIPT, [SCRIPT]: SCRIPT };
    const audience = (await (await api('POST', '/api/v2/audiences/create', body)).json()).data[0].id;
    const finished = await act('POST /api/jobs/finish', {
      kind: 'audience',
      id: audience,
      status: 107,
      reason: SCRIPT,
    });
    expect(finished.data.notice).not.toContain('<');
    await api('POST', '/api/v2/cohorts/create', body);
    await api('POST', '/api/v2/projects/create', body, { 'idempotency-key': SCRIPT });
    await api('POST', '/api/v2/audiences/create', { ...body, filters: { [SCRIPT]: 1 } });
    await api('GET', `/api/v2/${encodeURIComponent(SCRIPT)}?${word}`, undefined, { accept: SCRIPT });
    await api('GET', '/api/v2/usage', undefined, { accept: SCRIPT, 'x-test': SCRIPT });
    sandbox.faults.add({ on: `GET /${SCRIPT}*`, status: 500 });
    sandbox.jobs.next('audience', { status: 107, reason: SCRIPT });
    await act('POST /api/clock/advance', { ms: 0 });
    const { eventId } = sandbox.webhooks.deliveries[0] ?? {};
    const resources = [...(await page('/resources?kind=')).matchAll(/href="(\/resources\/\d+)"/g)].map(
      ([, path]) => path,
    );
    const paths = [
      ...PAGES,
      ...sandbox.log.map((entry) => `/requests/${entry.id}`),
      ...resources,
      '/resources?kind=projects',
      `/endpoints/${id}`,
      `/deliveries?event=${eventId}&to=${id}`,
    ];
    const texts = await Promise.all(paths.map(async (path = '') => [path, await page(path)] as const));
    for (const [path, text] of texts)
      expect([path, /<script(?! src="[^"]*" defer>)|<img/.exec(text)?.[0]]).toEqual([path, undefined]);
    expect(resources.length).toBeGreaterThan(0);
    expect(texts.filter(([, text]) => text.includes('&lt;script&gt;')).length).toBeGreaterThan(12);
  });
});
