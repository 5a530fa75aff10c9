import { describe, expect, it } from 'vitest';
import { shownCall } from '../../../src/sandbox/console/shown-call.ts';
import { ENDPOINTS, PAGES, startConsole } from '../../support/console.ts';

const CANARY = /canary\w*/i;

/** Names of credentials, each with a value that must not be seen anywhere. */
const NAMES = [
  'password',
  'api_key',
  'apiKey',
  'private_key',
  'secret_access_key',
  'clientSecret',
  'access_token',
  'credentials',
  'passphrase',
  'connection_string_secret',
];

const secrets = Object.fromEntries(NAMES.map((name, index) => [name, `canary${index}`]));
const nested = { ...secrets, credentials: { user: 'canaryA', list: ['canaryB', { deep: 'canaryC' }] } };

describe('credentials in every field', () => {
  it('are on no page, in no endpoint and in no export', async () => {
    const { sandbox, api, act, page, request, account } = await startConsole({
      deliver: async () => Response.json(nested, { status: 500 }),
    });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/?api_key=canary&x=1', name: 'Mine' });
    const paths = [
      '/api/v2/audiences/create',
      '/api/v2/activations/create',
      '/api/v2/nothing',
      '/api/v2/auth/login',
      '/api/v2/mcp',
    ];
    const query = new URLSearchParams(secrets).toString();
    const headers = {
      'private-key': 'canary',
      'x-api-key': 'canary',
      cookie: 'session=canary',
      'x-auth': 'canary',
      referer: `http://localhost/?${query}`,
    };
    for (const path of paths) {
      await api('POST', path, { name: 'x', ...nested }, { ...headers, 'idempotency-key': path });
      await api('POST', `${path}?${query}`, { name: 'x', more: JSON.stringify(nested) }, headers);
      await api('POST', path, nested, { accept: 'text/html', ...headers });
      const form = new FormData();
      for (const [name, value] of Object.entries(secrets)) form.set(name, value);
      for (const body of [new URLSearchParams(secrets), form, `${JSON.stringify(nested).slice(0, -3)}`])
        await sandbox.fetch(`http://localhost${path}`, {
          method: 'POST',
          headers: { accept: 'application/json', ...headers },
          body,
        });
    }
    // One that is accepted, so that the service keeps what it was made of.
    const audience = (await (await api('POST', '/api/v2/audiences/create', { name: 'y' })).json()).data[0].id;
    sandbox.jobs.finish('audience', audience, 104);
    await api(
      'POST',
      '/api/v2/activations/create',
      { audience_id: audience, ...nested, password: undefined },
      { 'idempotency-key': 'k' },
    );
    sandbox.webhooks.test(id);
    await sandbox.advance(60_000);
    await act('POST /api/accounts', { email: 'bo@example.com', password: 'canary' });
    await act('POST /api/webhooks/update', { id, url: 'https://example.com/?private_key=canary&y=1' });
    await act('POST /api/password', { password: 'canary-2', account: 'bo@example.com' });
    await act('POST /api/requests/resend', { id: sandbox.log[0]?.id });
    const { eventId } = sandbox.webhooks.deliveries[0] ?? {};
    const list = (await page('/resources')) + (await page('/resources?kind=activations'));
    const resources = [...list.matchAll(/href="\/resources\/(\d+)"/g)].map(([, one]) => one);
    expect(resources.length).toBeGreaterThan(3);
    const shown = [
      ...PAGES,
      '/requests?q=audiences',
      '/resources?kind=activations',
      ...ENDPOINTS,
      `/endpoints/${id}`,
      ...resources.map((one) => `/resources/${one}`),
      `/deliveries?event=${eventId}&to=${id}`,
      ...sandbox.log.map((entry) => `/requests/${entry.id}`),
    ];
    expect(shown.length).toBeGreaterThan(50);
    for (const path of shown) expect([path, CANARY.exec(await page(path))?.[0]]).toEqual([path, undefined]);
    // The export needs the passwords of the sandbox, and has the address of the receiver.
    const source = (await page('/recording.test.ts')).replaceAll(/https:\/\/example\.com[^'"\\]*/g, '');
    const own = /canary[06]\b|password: 'canary'|canary-2|"canary"/g;
    expect(CANARY.exec(source.replaceAll(own, ''))?.[0]).toBeUndefined();
    const token = account.token('mcp').slice(-20);
    for (const path of shown) expect(await page(path)).not.toContain(token);
    expect((await request('/state.json')).status).toBe(200);
  });
});

describe('a call in source code', () => {
  it('hides all that a secret field holds, but not whether one is set', () => {
    const options = { ...nested, tokens: ['canaryD'], pin: 1234, deliveryCredentials: true };
    const shown = shownCall('sandbox.call', [options]);
    expect(shown).not.toMatch(CANARY);
    expect(shown).not.toMatch(/user|deep|1234/);
    expect(shown).toContain('credentials: process.env.CREDENTIALS!, passphrase');
    expect(shown).toContain('deliveryCredentials: true');
  });
});

/** A text in which the value of a secret field stands. */
const text = (name: string): string => `${name} {"password":"canary-${name}"} token=canary-${name}`;
const address = (host: string): string => `https://${host}/hooks?x=1&api_key=canary-${host}#token=canary-${host}`;

describe('an action with credentials in every field', () => {
  it.each<[action: string, typescript: string, body: (ids: { id: number; event: string }) => object]>([
    [
      'webhooks',
      "url: 'https://example.com/hooks?x=1&api_key=…",
      () => ({ url: address('example.com'), name: text('name') }),
    ],
    [
      'webhooks/update',
      "url: 'https://example.org/hooks?x=1&api_key=…', events: ['cohort.failed']",
      ({ id }) => ({ id, name: text('name'), url: address('example.org'), events: ['cohort.failed'] }),
    ],
    ['webhooks/update', '', ({ id }) => ({ id, url: address('example.org'), events: [text('events')] })],
    ['webhooks/test', 'sandbox.webhooks.test(', ({ id }) => ({ id })],
    ['webhooks/redeliver', 'sandbox.webhooks.redeliver(', ({ event }) => ({ event })],
    ['webhooks/redeliver', '', () => ({ event: text('event') })],
    ['webhooks/delete', 'sandbox.webhooks.delete(', ({ id }) => ({ id })],
    ['faults', "on: 'GET /canaries/", () => ({ on: `GET /canaries/?${text('on')}`, status: 503 })],
    ['faults', '', () => ({ on: text('on'), status: 503, [text('field')]: text('value') })],
    [
      'jobs/next',
      "sandbox.jobs.next('audience'",
      () => ({ kind: 'audience', status: 107, reason: text('reason'), duration: 1 }),
    ],
    [
      'accounts',
      'password: process.env.PASSWORD!',
      () => ({ email: 'eve@example.com', password: 'canary-password', company: text('company') }),
    ],
    ['budget', 'sandbox.companies.get(', () => ({ company: text('existing'), buildsPerHour: 3 })],
  ])('%s shows none, neither in the notice nor in its code: %s', async (action, typescript, bodyOf) => {
    const { sandbox, api, act, page } = await startConsole();
    sandbox.companies.create({ name: text('existing') });
    await api('POST', '/api/v2/projects/create', { name: 'x' });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    await sandbox.advance(0);
    const body = bodyOf({ id, event: sandbox.webhooks.deliveries[0]?.eventId ?? '' });
    const { status, data } = await act(`POST /api/${action}`, body);
    expect([data, status === 200]).toEqual([data, typescript !== '']);
    expect(data.typescript ?? '').toContain(typescript);
    expect(JSON.stringify(data)).not.toMatch(/canary-/);
    expect(await page('/session')).not.toMatch(/canary-/);
  });
});
