import { stripTypeScriptTypes } from 'node:module';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { startConsole } from '../../support/console.ts';
import { credentials } from '../../support/sandbox.ts';

/** Creates asynchronous functions from their source. */
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;

const URL_OF_RECEIVER = 'https://example.com/webhooks';

/** Returns the address at which a new OAuth client asks for consent. */
async function authorizeUrl(sandbox: Sandbox): Promise<string> {
  const body = JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/'], token_endpoint_auth_method: 'none' });
  const headers = { accept: 'application/json', 'content-type': 'application/json' };
  const registered = await sandbox.fetch('http://localhost/oauth/register', { method: 'POST', headers, body });
  const query = new URLSearchParams({
    client_id: (await registered.json()).client_id,
    response_type: 'code',
    redirect_uri: 'http://127.0.0.1:1/',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    again: '1',
  });
  return `http://localhost/oauth/authorize?${query}`;
}

describe('an action by its endpoint', () => {
  it.each<[action: string, body: object, typescript: string, then: object]>([
    ['POST /api/clock/advance', { ms: 600_000 }, 'await sandbox.advance(600000);', { now: '1970-01-01T00:10:00.000Z' }],
    ['POST /api/clock/next', {}, 'await sandbox.advance(60000);', { now: '1970-01-01T00:01:00.000Z' }],
    ['POST /api/clock/mode', { mode: 'manual' }, "sandbox.setClock('manual');", { mode: 'manual' }],
    ['POST /api/clock/mode', { speed: 60 }, 'sandbox.setClock({ speed: 60 });', { speed: 60 }],
    [
      'POST /api/jobs/finish',
      { kind: 'audience', id: 4, status: 107, reason: "It's empty" },
      "sandbox.jobs.finish('audience', 4, 107, 'It\\'s empty');",
      { status: 107 },
    ],
    [
      'POST /api/jobs/next',
      { kind: 'cohort', status: 422, duration: 5 },
      "sandbox.jobs.next('cohort', { status: 422, duration: 5 });",
      {},
    ],
    ['DELETE /api/jobs/next', {}, 'sandbox.jobs.clearNext();', {}],
    [
      'POST /api/faults',
      { on: 'usage.get', status: 503, times: 2 },
      "sandbox.faults.add({ on: 'usage.get', status: 503, times: 2 });",
      { id: 2 },
    ],
    ['POST /api/faults/remove', { id: 1 }, 'sandbox.faults.remove(1);', {}],
    ['DELETE /api/faults', {}, 'sandbox.faults.clear();', {}],
    [
      'POST /api/limits',
      { read: { limit: 5, interval: 1000 } },
      'sandbox.setLimits({ read: { limit: 5, interval: 1000 } });',
      {},
    ],
    [
      'POST /api/accounts',
      { email: 'bo@example.com', password: 'x', company: 'Other' },
      "sandbox.accounts.create({ email: 'bo@example.com', password: process.env.PASSWORD!, company: 'Other' });",
      { email: 'bo@example.com' },
    ],
    [
      'POST /api/budget',
      { company: 'Example Company', buildsPerHour: 3 },
      "sandbox.companies.get('Example Company').setBuildBudget({ buildsPerHour: 3 });",
      {},
    ],
    ['POST /api/reset', {}, 'sandbox.restore(state /* of sandbox.save() */);', {}],
    [
      'POST /api/tokens',
      { kind: 'mcp' },
      `sandbox.accounts.get('${credentials.email}').token('mcp');`,
      { token: expect.stringMatching(/^\d+\|/) },
    ],
    ['POST /api/tokens/revoke', { id: 3 }, `sandbox.accounts.get('${credentials.email}').revokeToken(3);`, {}],
    [
      'POST /api/password',
      { password: 'new' },
      `sandbox.accounts.get('${credentials.email}').changePassword(process.env.PASSWORD!);`,
      { changed: true },
    ],
    [
      'POST /api/webhooks',
      { url: URL_OF_RECEIVER, events: ['cohort.failed'] },
      `sandbox.webhooks.create({ account: sandbox.accounts.get('${credentials.email}'), url: '${URL_OF_RECEIVER}', events: ['cohort.failed'] });`,
      { id: expect.any(Number), secret: expect.stringMatching(/^whsec_/) },
    ],
    [
      'POST /api/webhooks/update',
      { id: 5, name: 'Other', url: 'https://example.com/other', events: ['cohort.failed'] },
      "sandbox.webhooks.update(5, { name: 'Other', url: 'https://example.com/other', events: ['cohort.failed'] });",
      {},
    ],
    [
      'POST /api/webhooks/rotate',
      { id: 5 },
      'sandbox.webhooks.rotate(5);',
      { secret: expect.stringMatching(/^whsec_/) },
    ],
    ['POST /api/webhooks/pause', { id: 5 }, 'sandbox.webhooks.pause(5);', {}],
    ['POST /api/webhooks/resume', { id: 5 }, 'sandbox.webhooks.resume(5);', {}],
    ['POST /api/webhooks/test', { id: 5 }, 'sandbox.webhooks.test(5);', {}],
    ['POST /api/webhooks/delete', { id: 5 }, 'sandbox.webhooks.delete(5);', {}],
  ])('%s with %j does what it shows: %s', async (action, body, typescript, then) => {
    const { act, createAudience, sandbox } = await startConsole();
    expect(await createAudience()).toBe(4);
    sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    sandbox.faults.add({ on: '/nothing', status: 500 });
    const { status, data } = await act(action, body);
    expect({ status, data }).toMatchObject({ status: 200, data: { typescript, notice: expect.any(String), ...then } });
    expect(data).not.toHaveProperty('password');

    // The same in a program, pasted: another sandbox gets into the same state.
    const twin = await startConsole();
    const state = twin.sandbox.save();
    await twin.createAudience();
    twin.sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    twin.sandbox.faults.add({ on: '/nothing', status: 500 });
    vi.stubEnv('PASSWORD', Object(body).password);
    onTestFinished(() => void vi.unstubAllEnvs());
    await new AsyncFunction('sandbox', 'state', stripTypeScriptTypes(data.typescript))(twin.sandbox, state);
    for (const one of [sandbox, twin.sandbox]) await one.advance(0);
    const stateOf = (one: Sandbox) => ({ ...one.save(), faults: one.faults.list() });
    // A clock that runs is at another time.
    if (!('speed' in body)) expect(stateOf(twin.sandbox)).toEqual(stateOf(sandbox));
  });

  it('redelivers an event, with its id and body, to each endpoint', async () => {
    const bodies: string[] = [];
    const { act, createAudience, sandbox } = await startConsole({
      async deliver(request) {
        bodies.push(await request.text());
        return new Response(null);
      },
    });
    const one = sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    sandbox.jobs.finish('audience', await createAudience(), 104);
    await sandbox.advance(0);
    const event = sandbox.webhooks.deliveries[0]?.eventId;
    const { data } = await act('POST /api/webhooks/redeliver', { event });
    expect(data.typescript).toBe(`sandbox.webhooks.redeliver('${event}');`);
    await sandbox.advance(0);
    expect(new Set(bodies).size).toBe(1);
    expect(sandbox.webhooks.deliveries).toMatchObject(Array(4).fill({ eventId: event, attempt: 1, status: 200 }));
    sandbox.webhooks.pause(one.id);
    await act('POST /api/webhooks/redeliver', { event });
    await sandbox.advance(0);
    expect(sandbox.webhooks.deliveries).toHaveLength(5);
    expect(await act('POST /api/webhooks/redeliver', { event: 'evt_other' })).toMatchObject({
      status: 400,
      data: { message: 'The log of deliveries has no event "evt_other".' },
    });
  });

  it('sends a request again, with its key or with a new one', async () => {
    const { act, api, sandbox } = await startConsole();
    await api('POST', '/api/v2/projects/create', { name: 'Once' }, { 'idempotency-key': 'k' });
    const id = sandbox.log[0]?.id;
    expect((await act('POST /api/requests/resend', { id })).data).toMatchObject({ id: 'req_2', status: 200 });
    expect(sandbox.log[1]).toMatchObject({ status: 200, replayed: true });
    expect((await act('POST /api/requests/resend', { id, key: 'new' })).data.notice).toBe('Sent as req_3: 200.');
    expect(sandbox.log[2]).not.toHaveProperty('replayed');
    sandbox.faults.add({ cut: 'before', times: 1 });
    expect((await act('POST /api/requests/resend', { id })).data).toMatchObject({ id: 'req_4', status: 0 });
    expect((await act('POST /api/requests/resend', { id: 'req_99' })).status).toBe(404);
    sandbox.faults.clear();
    await api('GET', '/api/v2/audiences/99');
    const { id: refused } = sandbox.log.at(-1) ?? {};
    expect((await act('POST /api/requests/resend', { id: refused })).data.notice).toBe(
      'Sent as req_6: 404, Audience not found.',
    );
  });

  it('an advance says what it did: jobs by outcome, deliveries, and endpoints that were switched off', async () => {
    const { act, createAudience, sandbox, page } = await startConsole({
      deliver: async ({ url }) => new Response(null, { status: url.endsWith('/down') ? 500 : 204 }),
    });
    sandbox.webhooks.create({ url: 'https://example.com/up', name: 'Up' });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/down', name: 'Down' });
    for (let count = 0; count < 3; count++) await createAudience();
    sandbox.jobs.next('audience', 107);
    await createAudience();
    expect((await act('POST /api/clock/next')).data.notice).toMatch(/^Advanced to .*: nothing ended; the next event/);
    const { data } = await act('POST /api/clock/advance', { ms: 550_000 });
    expect(data).toMatchObject({
      jobs: { ended: 4, completed: 3, needsInfo: 1, failed: 0 },
      deliveries: { succeeded: 4, failed: 4 },
      disabled: [],
    });
    expect(data.notice).toContain(
      'Advanced to 1970-01-01 00:10:10: 4 jobs ended (3 completed, 1 Additional Info), 4 delivery attempts succeeded, 4 failed; the next event',
    );
    for (let count = 0; count < 16; count++) sandbox.webhooks.test(id);
    const later = await act('POST /api/clock/advance', { ms: 86_400_000 });
    expect(later.data).toMatchObject({ jobs: { ended: 0 }, disabled: ['Down'] });
    expect(later.data.notice).toContain('Down was switched off; nothing is due.');
    // The chart and the text count the same attempts.
    expect(later.data.notice).toContain('116 delivery attempts failed');
    expect(await page('/clock')).toMatch(
      /aria-label="120 delivery attempts failed, 20 deliveries gave up, Down was switched off"/,
    );
    await act('POST /api/webhooks/resume', { id });
    expect(await page('/clock')).toContain('20 deliveries gave up, Down was resumed"');
  });

  it('loads a state, and records again from there', async () => {
    const { act, createAudience, sandbox, page } = await startConsole();
    await createAudience();
    const state = JSON.parse(await page('/state.json'));
    sandbox.accounts.create({ email: 'gone@example.com', password: 'x' });
    expect((await act('POST /api/state', state)).data.notice).toMatch(/^The state is replaced: 1 accounts?\./);
    expect(sandbox.accounts.list()).toHaveLength(1);
    expect(await page('/session')).toContain('0 steps');
    // An open page shows the new beginning.
    expect(await page('/session')).toMatch(/data-live>The test starts.*data-live>A reset restores/s);
    expect((await act('POST /api/state', { ...state, version: 9 })).status).toBe(400);
    const damaged = JSON.parse(JSON.stringify(state), (key, value) => (key === 'log' ? undefined : value));
    const refused = await act('POST /api/state', damaged);
    expect(refused).toMatchObject({ status: 400, data: { message: expect.stringContaining('Nothing was changed.') } });
    expect(sandbox.accounts.list()).toHaveLength(1);
    await createAudience();
    expect((await act('POST /api/recording/restart')).data.notice).toContain('The recording starts again');
    expect(await page('/session')).toContain('0 steps');
  });

  it('loads a state that is longer than any body of the API may be', async () => {
    const { act, api, sandbox } = await startConsole({ limits: { write: { limit: 1e6, interval: 1 } } });
    for (let count = 0; count < 10; count++)
      await api('POST', '/api/v2/projects/create', { name: `${count}${'x'.repeat(900_000)}` });
    const state = sandbox.save();
    expect(JSON.stringify(state).length).toBeGreaterThan(8 * 2 ** 20);
    expect((await act('POST /api/state', state)).data.message ?? '').toBe('');
    expect((await (await api('GET', '/api/v2/projects/index')).json()).data).toHaveLength(10);
  });

  it('a redelivery is manual, and the page shows whether an endpoint was paused or disabled', async () => {
    const { act, page, sandbox } = await startConsole({ deliver: async () => new Response(null, { status: 500 }) });
    const { id } = sandbox.webhooks.create({ url: URL_OF_RECEIVER, name: 'Down' });
    sandbox.webhooks.test(id);
    await sandbox.advance(0);
    const { eventId = '' } = sandbox.webhooks.deliveries[0] ?? {};
    await act('POST /api/webhooks/redeliver', { event: eventId });
    await sandbox.advance(60_000);
    const attempts = sandbox.webhooks.deliveries.map(({ attempt, manual = false }) => [attempt, manual]);
    expect(attempts.sort()).toEqual([
      [1, false],
      [1, true],
      [2, true],
    ]);
    const list = await page('/deliveries');
    // Its retries are automatic.
    const marks = (await page(`/deliveries?event=${eventId}&to=${id}`)).match(/<b>Attempt \d|>manual</g);
    expect(marks).toEqual(['<b>Attempt 1', '<b>Attempt 2', '>manual<', '<b>Attempt 3']);
    // The list shows the time of the first attempt, by which it is ordered.
    expect(list).toMatch(/data-label="First at"><time[^>]*>00:00:00</);
    await act('POST /api/webhooks/pause', { id });
    expect(await page('/deliveries')).toContain('>Paused</span>');
    await act('POST /api/webhooks/resume', { id });
    for (let count = 0; count < 20; count++) sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    const text = await page('/deliveries');
    expect(text).toContain('Switched off');
    const opened = await page(`/deliveries?event=${eventId}&to=${id}`);
    expect(opened).toContain('is switched off: a redelivery does not reach it.');
    expect(opened).toMatch(/<button aria-label="Resume Down">Resume<.*<button class="" disabled>Redeliver</s);
    const { data } = await act('POST /api/webhooks/resume', { id });
    expect(data).toMatchObject({
      notice: 'Down is active again. 21 earlier deliveries gave up.',
      link: [`/deliveries?state=failed&q=endpoint:${id}`, 'Show the deliveries'],
    });
    expect(await page(data.link[0])).toContain('1–21 of 21');
    expect(text).not.toContain('>Paused</span>');
  });

  it('a redelivery replaces the attempts that wait: after its success, no other one follows', async () => {
    const statuses = [500, 204];
    const { act, page, createAudience, sandbox } = await startConsole({
      deliver: async () => new Response(null, { status: statuses.shift() ?? 500 }),
    });
    const { id } = sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    const audience = await createAudience();
    sandbox.jobs.finish('audience', audience, 104);
    await sandbox.advance(0);
    const { eventId: event } = sandbox.webhooks.deliveries[0] ?? {};
    const pages = async () => {
      const paths = [`/deliveries?event=${event}&to=${id}`, `/resources/${audience}`];
      return (await Promise.all(paths.map(page))).map((text) => text.replaceAll(/<[^>]*>/g, ''));
    };
    // Both pages count in the same words.
    for (const text of await pages()) expect(text).toMatch(/1 attempt failed(?:\.|, next)/);
    const redelivered = await act('POST /api/webhooks/redeliver', { event });
    expect(redelivered.data.notice).toBe('A redelivery to Webhook has started. Its attempts show whether it succeeds.');
    await sandbox.advance(0);
    const after = await pages();
    for (const text of after) expect(text).toContain('1 attempt failed, then delivered');
    expect(after[0]).not.toContain('Next attempt');
    expect(after[0]).toMatch(/Webhook2 204.*Attempt 2.*manual/s);
    expect(await page('/clock?list=past')).toContain('Attempt 2 to Webhook: audience.completed');
    expect(await page('/clock')).toContain('Nothing is due');
    await sandbox.advance(9 * 3_600_000);
    expect(sandbox.webhooks.deliveries).toMatchObject([{ status: 500 }, { status: 204, manual: true }]);
    expect(sandbox.webhooks.deliveries[0]).not.toHaveProperty('retryAt');
  });

  it('an attempt that is in flight when its event is redelivered is not repeated, and counts as no failure', async () => {
    const responses: ((status: number) => void)[] = [];
    const { act, sandbox } = await startConsole({
      deliver: () =>
        new Promise<Response>((resolve) => {
          responses.push((status) => resolve(new Response(null, { status })));
        }),
    });
    const { id } = sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    sandbox.webhooks.test(id);
    await expect.poll(() => responses.length).toBe(1);
    responses[0]?.(500);
    await sandbox.advance(0);
    const event = sandbox.webhooks.deliveries[0]?.eventId;
    const advanced = sandbox.advance(60_000);
    await expect.poll(() => responses.length).toBe(2);
    await act('POST /api/webhooks/redeliver', { event });
    await expect.poll(() => responses.length).toBe(3);
    for (const respond of responses) respond(500);
    await advanced;
    const shown = sandbox.webhooks.deliveries.map(({ attempt, manual = false, retryAt }) => [attempt, manual, retryAt]);
    expect(shown).toEqual([
      [1, false, 60_000],
      [2, false, undefined],
      [1, true, 120_000],
    ]);
  });

  it('a redelivery that fails is attempted six times', async () => {
    const { act, sandbox } = await startConsole({ deliver: async () => new Response(null, { status: 500 }) });
    const { id } = sandbox.webhooks.create({ url: URL_OF_RECEIVER });
    sandbox.webhooks.test(id);
    await sandbox.advance(9 * 3_600_000);
    await act('POST /api/webhooks/redeliver', { event: sandbox.webhooks.deliveries[0]?.eventId });
    await sandbox.advance(9 * 3_600_000);
    expect(sandbox.webhooks.deliveries.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]);
    const last = sandbox.webhooks.deliveries.map(({ at, retryAt }) => retryAt !== undefined && retryAt > at);
    expect(last).toEqual([true, true, true, true, true, false, true, true, true, true, true, false]);
  });

  it('advances to the next task that has an effect, and skips the tasks of ended jobs', async () => {
    const { act, createAudience, sandbox } = await startConsole();
    sandbox.jobs.finish('audience', await createAudience(), 104);
    expect((await act('POST /api/clock/next')).status).toBe(400);
    await sandbox.advance(30_000);
    await createAudience();
    await act('POST /api/clock/next');
    expect(sandbox.now()).toBe(90_000);
  });

  it('the function that removes a rule removes it also after rules were numbered again', async () => {
    const { act, sandbox } = await startConsole();
    const first = sandbox.faults.add({ on: '/a', status: 500 });
    const second = sandbox.faults.add({ on: '/b', status: 500 });
    sandbox.faults.add({ on: '/c', status: 500 });
    first();
    await act('POST /api/recording/restart');
    second();
    second();
    expect((await act('GET /api/faults')).data).toMatchObject([{ id: 2, on: '/c' }]);
  });

  it('queues outcomes, and removes them', async () => {
    const { act, createAudience, sandbox } = await startConsole();
    await act('POST /api/jobs/next', { kind: 'audience', status: 107, reason: 'Queued', duration: 60_000 });
    await act('POST /api/jobs/next', { kind: 'audience', status: 422 });
    expect((await act('GET /api/jobs/next')).data).toMatchObject([{ kind: 'audience' }, { outcome: { status: 422 } }]);
    await createAudience();
    await act('DELETE /api/jobs/next');
    await createAudience();
    await sandbox.advance(3_600_000);
    expect(sandbox.jobs.reason('audience', 4)).toBe('Queued');
    expect(sandbox.jobs.reason('audience', 5)).toBeUndefined();
  });

  it('reads what the actions change', async () => {
    const { act, createAudience, sandbox } = await startConsole();
    await createAudience();
    sandbox.faults.add({ on: 'usage.get', status: 503, times: 1 });
    expect((await act('GET /api/state')).data).toMatchObject({ clock: 'manual', requests: 1, jobs: [{ id: 4 }] });
    expect((await act('GET /api/requests')).data).toMatchObject([{ id: 'req_1', status: 200 }]);
    expect((await act('GET /api/faults')).data).toMatchObject([{ id: 1, remaining: 1 }]);
    expect((await act('GET /api/accounts')).data).toEqual([{ email: credentials.email, company: 'Example Company' }]);
    expect((await act('GET /api/deliveries')).data).toEqual([]);
  });

  it.each([
    ['POST /api/clock/next', {}, 'Nothing is due'],
    ['POST /api/clock/next', { ms: 5 }, '`ms` is not a field of this action: it takes none.'],
    ['POST /api/jobs/next', { kind: 'audience', status: 104, durationn: 5 }, 'use kind, status, reason, duration'],
    ['POST /api/faults', { on: 'usage', status: 503 }, 'Did you mean "usage.get"?'],
    ['POST /api/faults', { on: 'audience.create', status: 503 }, 'Did you mean "audiences.create"?'],
    ['POST /api/faults', { on: 'audiences.craete', status: 503 }, 'Did you mean "audiences.create"?'],
    ['POST /api/clock/mode', { mode: 'fast' }, "`clock` must be 'real', 'manual' or { speed }"],
    ['POST /api/clock/mode', { mode: null }, '`clock.speed` must be a number above 0'],
    ['POST /api/clock/mode', { speed: -1 }, '`clock.speed` must be a number above 0'],
    ['POST /api/jobs/next', { kind: 'audience', status: 104, duration: -1 }, 'must be a number of milliseconds from 0'],
    ['POST /api/jobs/next', { kind: 'audience', status: 104, duration: 1e300 }, 'to 100 years'],
    ['POST /api/clock/advance', { ms: 1e15 }, 'before the year 9000'],
    ['POST /api/faults', { on: ['*'], status: 500 }, '`on` must be an operation'],
    ['POST /api/faults', { malformed: 'x' }, '`malformed` must be true or false'],
    ['POST /api/limits', { claimWindow: 1e300 }, '`limits.claimWindow` must be a number of milliseconds'],
    ['POST /api/webhooks', { url: 'https://example.com', events: 'cohort.failed' }, '`events` must be an array'],
    ['POST /api/limits', { reed: 5 }, '`limits.reed` is not a limit'],
    ['POST /api/limits', { read: 5 }, '`limits.read` must be { limit, interval }'],
    ['POST /api/accounts', { email: 'x', password: 'y' }, '`email` must be an email address'],
    ['POST /api/tokens', { kind: 'other' }, '`kind` of a token must be one of login, api, mcp'],
    ['POST /api/tokens', { account: null, kind: 'api' }, '`account` must be the email of an account.'],
    ['POST /api/accounts', { email: 'a@b', password: 'x', deliveryCredentials: 'yes' }, 'must be true or false'],
    ['POST /api/tokens', { account: 'no@example.com', kind: 'api' }, 'The account no@example.com does not exist.'],
    ['POST /api/webhooks', { url: 'x' }, '`url` must be an http(s) URL'],
    ['POST /api/webhooks/rotate', { id: 99 }, 'The webhook endpoint 99 does not exist.'],
    ['POST /api/faults/remove', { id: 99 }, 'The fault rule 99 does not exist.'],
  ])('%s with %j is refused with the reason', async (action, body, message) => {
    const { act } = await startConsole();
    const { status, data } = await act(action, body);
    expect(status).toBe(400);
    expect(data.message).toContain(message);
  });

  it.each([
    ['POST /api/faults', { on: 'usage', status: 503 }, 'on'],
    ['POST /api/faults', { status: 200 }, 'status'],
    ['POST /api/faults', { retryAfter: 5, cut: 'after' }, 'retryAfter'],
    ['POST /api/clock/advance', { ms: 'x' }, 'ms'],
    ['POST /api/faults', {}, undefined],
    ['POST /api/jobs/next', { kind: 'x', status: 104 }, 'kind'],
    ['POST /api/jobs/next', { kind: 'audience', status: 7 }, 'status'],
    ['POST /api/jobs/next', { kind: 'audience', status: 104, duration: -1 }, 'duration'],
    ['POST /api/clock/mode', { mode: 'fast' }, 'mode'],
    ['POST /api/limits', { claimWindow: 1e300 }, 'claimWindow'],
    ['POST /api/accounts', { email: credentials.email, password: 'y' }, 'email'],
    ['POST /api/budget', { company: 'Other', buildsPerHour: 1 }, 'company'],
    ['POST /api/budget', { company: 'Example Company', buildsPerDay: -1 }, 'buildsPerDay'],
    ['POST /api/password', { password: '' }, 'password'],
    ['POST /api/tokens', { account: 'no@example.com', kind: 'api' }, 'account'],
    ['POST /api/tokens', { kind: 'other' }, 'kind'],
    ['POST /api/tokens/revoke', { id: 99 }, 'id'],
    ['POST /api/connections/revoke', { id: 99 }, 'id'],
    ['POST /api/webhooks', { url: 'https://example.com', events: ['x'] }, 'events'],
    ['POST /api/webhooks/rotate', { id: 99 }, 'id'],
    ['POST /api/webhooks/redeliver', { event: 'evt_x' }, 'event'],
    ['POST /api/faults/remove', { id: 99 }, 'id'],
    ['POST /api/requests/resend', { id: 'req_9' }, 'id'],
    ['POST /api/accounts', { email: 'x', password: 'y' }, 'email'],
    ['POST /api/webhooks', { url: 'x' }, 'url'],
    ['POST /api/limits', { reed: 5 }, 'reed'],
    ['POST /api/clock/mode', { speed: -1 }, 'speed'],
    ['POST /api/clock/next', { ms: 5 }, 'ms'],
  ])('%s with %j is refused with the field that is wrong: %s', async (action, body, field) => {
    const { act } = await startConsole();
    expect((await act(action, body)).data.field).toBe(field);
  });

  it('a reset returns to the state in which the console was opened: its tokens are valid, the rest is gone', async () => {
    const { act, api, createAudience, sandbox, account } = await startConsole();
    await createAudience();
    sandbox.accounts.create({ email: 'bo@example.com', password: 'x' });
    await sandbox.advance(5_000);
    await act('POST /api/reset');
    expect(sandbox.accounts.list()).toEqual([account]);
    expect(sandbox.jobs.running).toEqual([]);
    expect(sandbox.log).toEqual([]);
    expect(sandbox.now()).toBe(5_000);
    expect((await (await api('GET', '/api/v2/audiences/index')).json()).data).toEqual([]);
    expect(await createAudience()).toBe(4);
  });

  it('a reset ends sessions, and cuts a create in flight, which starts nothing', async () => {
    const { act, api, request, sandbox } = await startConsole();
    const body = new URLSearchParams({ account: credentials.email });
    const entered = await request('/login-as', { method: 'POST', body });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/accounts']);
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    const consent = async () => (await sandbox.fetch(await authorizeUrl(sandbox), { headers: { cookie } })).text();
    expect(await consent()).toContain(`for ${credentials.email}`);
    sandbox.faults.add({ inFlight: 60_000 });
    const create = api('POST', '/api/v2/audiences/create', {}, { 'idempotency-key': 'k' }).catch(() => 'cut');
    await request('/');
    await act('POST /api/reset');
    await act('DELETE /api/faults');
    expect(await create).toBe('cut');
    expect(sandbox.jobs.running).toEqual([]);
    expect(await consent()).toContain('Log in');
  });

  it('a closed sandbox has no console', async () => {
    const { request, sandbox } = await startConsole();
    await sandbox.close();
    await expect(request('/')).rejects.toThrow('The sandbox is closed.');
  });

  it('an advance by years lets other events happen', async () => {
    const { api, sandbox, createAudience } = await startConsole({ jobs: { duration: 0 } });
    const audience_id = await createAudience();
    await api('POST', '/api/v2/schedules/create', { audience_id, interval_hours: 1 });
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await sandbox.advance(365 * 86_400_000);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(2);
  });

  it('a clock that is paused, and runs again, shows the time in between', async () => {
    const { act, sandbox } = await startConsole({ clock: 'real' });
    await act('POST /api/clock/mode', { mode: 'manual' });
    const paused = sandbox.now();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(sandbox.now()).toBe(paused);
    await act('POST /api/clock/mode', { speed: 1_000 });
    await expect.poll(() => sandbox.now()).toBeGreaterThan(paused + 1_000);
  });

  it('limits that are changed apply to tokens that exist, also after a state was loaded', async () => {
    const { act, api, sandbox } = await startConsole();
    expect((await api('GET', '/api/v2/audiences/index')).status).toBe(200);
    const state = sandbox.save();
    await act('POST /api/limits', { read: { limit: 1, interval: 60_000 } });
    expect((await api('GET', '/api/v2/audiences/index')).status).toBe(429);
    await act('POST /api/state', state);
    expect((await api('GET', '/api/v2/audiences/index')).status).toBe(429);
  });
});
