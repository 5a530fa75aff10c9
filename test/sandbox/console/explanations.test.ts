import { describe, expect, it } from 'vitest';
import { startConsole } from '../../support/console.ts';

const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, '').replaceAll('&#39;', "'");
const mainOf = (page: string): string => page.split('<main')[1] ?? '';

describe('the page of a request', () => {
  it.each([
    [
      'cut',
      { cut: 'after' },
      'In the client of this package, this attempt fails with a ConnectionError. A later request has the same key: req_2, status 200.',
    ],
    [
      '5xx',
      { status: 503 },
      'In the client of this package, this attempt fails with a ServerError. A later request has the same key: req_2, status 200.',
    ],
  ] as const)(
    'leads from a lost response (%s) to the retry, and the retry to what was created',
    async (_, rule, text) => {
      const { api, page, sandbox } = await startConsole();
      sandbox.faults.add({ ...rule, times: 1 });
      const key = { 'idempotency-key': 'k' };
      const create = () => api('POST', '/api/v2/audiences/create', { name: 'Once' }, key).catch(() => undefined);
      await create();
      expect(textOf(await page('/requests/req_1'))).toContain('sends the request again if that is safe, or throws a ');
      await create();
      expect(textOf(await page('/requests/req_1'))).toContain(text);
      expect(await page('/requests/req_1')).toContain('href="/requests/req_2"');
      if (!('cut' in rule)) return;
      const [, replay = ''] = (await page('/requests')).split('<tbody');
      expect(textOf(replay)).toMatch(/returned Once audience \d+ replayed/);
      expect(textOf(await page('/requests/req_2'))).toMatch(/Resultreturned Once audience/);
      // A rule that is used up stays listed.
      expect(textOf(await page('/faults'))).toMatch(/response lost: cut after1used 1 of 1/);
      expect(textOf(await page('/faults'))).not.toContain('No faults');
      await sandbox.faults.remove(1);
      expect(textOf(await page('/faults'))).toContain('No faults');
    },
  );

  it('a 409 leads to the request that owns the key, or says that it may still be in flight', async () => {
    const { api, page, sandbox } = await startConsole();
    const create = (name: string) => api('POST', '/api/v2/projects/create', { name }, { 'idempotency-key': 'k' });
    const remove = sandbox.faults.add({ inFlight: 60_000, times: 1 });
    const first = create('One');
    expect((await create('One')).status).toBe(409);
    const inFlight = textOf(await page('/requests/req_1'));
    expect(inFlight).toContain("throws a ConflictError with outcome: 'unknown'.");
    expect(inFlight).toContain('When the earlier request has ended, repeat this request with the same key.');
    remove();
    await first;
    // The earlier request ended later, but it is not a repetition.
    expect(textOf(await page('/requests/req_1'))).not.toContain('A later request');
    await create('Other');
    const refused = await page('/requests/req_3');
    expect(textOf(refused)).toMatch(/Until 2 Jan, 00:00:00, the key belongs to req_2: use another key\./);
    expect(refused).toContain('href="/requests/req_2"');
  });

  it('names the error of the client: after a 401, 408 or OAuth error, too', async () => {
    const { api, page, sandbox } = await startConsole();
    await api('GET', '/api/v2/usage', undefined, { authorization: 'Bearer x' });
    await api('POST', '/api/v2/auth/login', { email: 'no@example.com', password: 'x' });
    await api('POST', '/oauth/token', {});
    sandbox.faults.add({ status: 408, times: 1 });
    await api('POST', '/api/v2/projects/create', {});
    for (const [id, text] of [
      ['req_1', 'sends the request again if it can get a new token, or throws an AuthenticationError.'],
      ['req_2', 'The client of this package throws an AuthenticationError.'],
      ['req_3', 'The client of this package throws an OAuthError.'],
      ['req_4', "sends the request again if that is safe, or throws an ApiError with outcome: 'unknown'."],
    ])
      expect(textOf(await page(`/requests/${id}`))).toContain(text);
  });

  it('warns that a repetition creates another resource once the key has expired, and says what the numbers count', async () => {
    const { api, page, sandbox } = await startConsole();
    const create = () => api('POST', '/api/v2/audiences/create', { name: 'Once' }, { 'idempotency-key': 'k' });
    await create();
    const warning = 'The idempotency key has expired: if you send the request again, it creates another resource.';
    const warns = async (id: string) => textOf(await page(`/requests/${id}`)).includes(warning);
    await sandbox.advance(86_399_000);
    expect(await warns('req_1')).toBe(false);
    await sandbox.advance(1_000);
    expect(await warns('req_1')).toBe(true);
    await create();
    expect([await warns('req_1'), await warns('req_2')]).toEqual([false, false]);
    await create();
    const { createdId } = sandbox.log[1] ?? {};
    expect(textOf(await page('/requests/req_3'))).toContain(`Resultreturned Once audience ${createdId}`);
    const text = textOf(await page('/requests/req_2'));
    expect(text).toMatch(/Bucket write1 of \d+ used/);
    expect(text).toMatch(/Builds\d+ of \d+ used in an hour, \d+ of \d+ in a day/);
  });

  it('says that a body was cut, and shows sizes in bytes', async () => {
    const { api, page, sandbox } = await startConsole();
    sandbox.faults.add({ cut: 'body', times: 1 });
    await api('GET', '/api/v2/usage').catch(() => {});
    expect(textOf(await page('/requests/req_1'))).toContain('The response was cut in the middle of its body.');
    const response = await api('POST', '/api/v2/projects/create', { name: 'äöü' });
    const length = (await response.arrayBuffer()).byteLength;
    expect(textOf(await page('/requests/req_2'))).toContain(`Body, ${length} bytes`);
  });

  it('says that a resource belongs to another account', async () => {
    const { account, api, page, createAudience, sandbox } = await startConsole();
    const id = await createAudience();
    const bo = sandbox.accounts.create({ email: 'bo@example.com', password: 'x' });
    await api('GET', `/api/v2/audiences/${id}`, undefined, { authorization: `Bearer ${bo.token('api')}` });
    expect(textOf(await page('/requests/req_2'))).toContain(
      `Audience ${id} belongs to ${account.email}, but the token belongs to bo@example.com.`,
    );
  });

  it('does not offer to repeat an upload, whose file is not kept', async () => {
    const { act, api, page, sandbox } = await startConsole();
    const reserved = await api('POST', '/api/v2/uploads/create', { kind: 'cohort' });
    const { url } = (await reserved.json()).data;
    await sandbox.fetch(url, { method: 'PUT', body: 'a\nb\n' });
    const text = await page('/requests/req_2');
    expect(text).not.toContain('id="curl"');
    expect(text).not.toContain('>Send again<');
    expect(text).toContain('Upload the file again.');
    expect((await act('POST /api/requests/resend', { id: 'req_2' })).data.message).not.toContain('curl');
    expect(await page('/requests/req_1')).not.toContain('Files, and bytes');
  });

  it('leads from a full budget to the form that changes it', async () => {
    const { api, page } = await startConsole({ limits: { buildsPerHour: 1 } });
    for (let count = 0; count < 2; count++) await api('POST', '/api/v2/audiences/create', {});
    expect(await page('/requests/req_2')).toContain('href="/limits#budget"');
    const limits = await page('/limits');
    expect(limits).toContain('id="budget"');
    expect(textOf(limits)).toContain('1 of 1, 1 free in 1 h, all free at 01:00:00');
  });

  it('marks half of a response as failed in the list', async () => {
    const { api, page, sandbox } = await startConsole();
    sandbox.faults.add({ malformed: true });
    await api('GET', '/api/v2/audiences/index');
    expect(mainOf(await page('/requests'))).toContain('<span class="badge bad">200, half</span>');
  });
});

describe('the page of a resource', () => {
  it('says that the client throws an error only if the job has not completed', async () => {
    const { createAudience, page, sandbox } = await startConsole();
    for (const [status, text] of [
      [104, 'The API does not show this reason.'],
      [107, 'A client that waits for the job throws a JobNeedsInfoError.'],
      [422, 'A client that waits for the job throws a JobFailedError.'],
    ] as const) {
      const id = await createAudience();
      sandbox.jobs.finish('audience', id, status, 'Why');
      const shown = textOf(await page(`/resources/${id}`));
      expect(shown).toContain(text);
      expect(shown.includes('A client that waits')).toBe(status !== 104);
    }
  });

  it('counts a poll without a response as no success, and repeats no name', async () => {
    const { api, createAudience, page, sandbox } = await startConsole();
    const id = await createAudience('');
    await api('GET', `/api/v2/audiences/${id}`);
    sandbox.faults.add({ cut: 'before', times: 1 });
    await api('GET', `/api/v2/audiences/${id}`).catch(() => {});
    expect(textOf(await page(`/resources/${id}`))).toContain('1 successful poll');
    for (const path of ['/resources', '/jobs', '/requests', `/resources/${id}`])
      expect(textOf(await page(path))).not.toMatch(new RegExp(`audience ${id}\\s+audience ${id}`));
    await api('POST', '/api/v2/estimates/create', {});
    expect(textOf(await page('/resources?kind=estimates'))).not.toContain('0 devices');
  });
});

describe('an action', () => {
  it('names only the limits that it changes', async () => {
    const { act, sandbox } = await startConsole();
    const minute = (limit: number) => ({ limit, interval: 60_000 });
    const { data } = await act('POST /api/limits', { read: minute(5), write: minute(30), mcp: minute(120) });
    expect(data).toMatchObject({
      notice: 'Changed limits: read.',
      typescript: 'sandbox.setLimits({ read: { limit: 5, interval: 60000 } });',
    });
    await sandbox.advance(0);
  });

  it('a reset keeps the rate limits, also of tokens that exist', async () => {
    const { act, api } = await startConsole();
    await api('GET', '/api/v2/usage');
    await act('POST /api/recording/restart');
    await act('POST /api/limits', { read: { limit: 1, interval: 60_000 } });
    await act('POST /api/reset');
    expect((await api('GET', '/api/v2/usage')).status).toBe(429);
  });

  it('says why it was refused', async () => {
    const { act, createAudience, request, sandbox } = await startConsole();
    const id = await createAudience();
    await sandbox.advance(3_600_000);
    expect((await act('POST /api/jobs/finish', { kind: 'audience', id, status: 104 })).data.message).toBe(
      `No job of audience ${id} is running. Audience ${id} has the status 104 Completed.`,
    );
    const headers = { 'content-type': 'application/json' };
    for (const body of ['name,id', '{"version":"1.0.0"}']) {
      const loaded = await request('/api/state', { method: 'POST', headers, body });
      expect((await loaded.json()).message).toContain('This file is not a saved state, ');
    }
  });
});
