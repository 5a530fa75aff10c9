import { describe, expect, it } from 'vitest';
import { startConsole } from '../../support/console.ts';

const textOf = (page: string): string =>
  page
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ');

describe('the clock', () => {
  it('sorts what happened by time, also an attempt that ended late', async () => {
    const receiver = Promise.withResolvers<Response>();
    const { createAudience, page, sandbox } = await startConsole({
      clock: 'real',
      deliver: () => receiver.promise,
    });
    sandbox.webhooks.test(sandbox.webhooks.create({ url: 'https://example.com/' }).id);
    await page('/clock');
    for (let count = 0; count < 3; count++) sandbox.jobs.finish('audience', await createAudience(), 104);
    receiver.resolve(new Response(null));
    await sandbox.advance(0);
    const past = (await page('/clock?list=past')).split('Past events, newest first')[1] ?? '';
    expect(past).toContain('webhook.test');
    const times = [...past.matchAll(/<time class="num" datetime="([^"]+)"/g)].map(([, time]) => time ?? '');
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('counts a running job once, although its steps are due, too', async () => {
    const { createAudience, page } = await startConsole();
    await createAudience();
    expect(await page('/clock')).toContain('aria-label="1 due"');
  });

  it('draws the deletion of an upload after it has happened', async () => {
    const { act, api, page } = await startConsole();
    await api('POST', '/api/v2/uploads/create', { kind: 'cohort' });
    await act('POST /api/clock/next');
    expect(await page('/clock')).toContain('aria-label="1 done"');
  });
});

describe('merged marks', () => {
  it('name the first and the last time, and how many failed, and are drawn from the first to the last', async () => {
    const { api, createAudience, page, sandbox } = await startConsole();
    const ids = [await createAudience(), await createAudience(), await createAudience()];
    for (const [index, id] of ids.entries()) {
      sandbox.jobs.finish('audience', id, index === 1 ? 400 : 104);
      await sandbox.advance(60_000);
    }
    await createAudience();
    const text = await page('/clock?span=day');
    expect(text).toContain(
      '<title>3 from 1 Jan, 00:00:00 to 1 Jan, 00:02:00 (2 completed, 1 failed), among them: 00:01:00: ',
    );
    expect(text).toMatch(/<line class="bad bar" x1="49\.81%" x2="49\.94%"/);

    const [, id] = ids;
    await api('GET', `/api/v2/audiences/${id}`);
    await sandbox.advance(60_000);
    await api('GET', `/api/v2/audiences/${id}`);
    await sandbox.advance(86_400_000);
    expect(await page(`/resources/${id}`)).toContain('2 from 1 Jan, 00:03:00 to 1 Jan, 00:04:00 (2 succeeded)');
  });
});

describe('a request', () => {
  it('has a link to a newer request, which an update adds', async () => {
    const { api, page } = await startConsole();
    await api('GET', '/api/v2/usage');
    const near = async () => (await page('/requests/req_1')).split('id="near" data-live')[1]?.split('</section>')[0];
    expect(await near()).not.toContain('Newer');
    await api('GET', '/api/v2/usage');
    expect(await near()).toContain('Newer');
  });

  it('shows its idempotency key, also after a state was loaded', async () => {
    const { act, api, page, sandbox } = await startConsole();
    await api('POST', '/api/v2/projects/create', { name: 'x' }, { 'idempotency-key': 'key-of-x' });
    await act('POST /api/state', sandbox.save());
    const text = await page('/requests/req_1');
    expect(textOf(text)).toContain('Idempotency keykey-of-x');
    expect(text).toContain('href="/requests?q=key:key-of-x&repeats=all"');
  });

  it('names the account whose token its command needs, if there are several', async () => {
    const { api, page, sandbox } = await startConsole();
    const authorization = `Bearer ${sandbox.accounts.create({ email: 'bo@example.com', password: 'x' }).token('api')}`;
    await api('GET', '/api/v2/usage', undefined, { authorization });
    expect(textOf(await page('/requests/req_1'))).toContain('AUDIENCE_TOKEN, with a token of bo@example.com');
    const { api: alone, page: pageOf } = await startConsole();
    await alone('GET', '/api/v2/usage');
    expect(textOf(await pageOf('/requests/req_1'))).not.toContain('with a token of');
  });

  it('says nothing about a body that it cannot have', async () => {
    const { api, page } = await startConsole({ limits: { logLength: 1 } });
    for (let count = 0; count < 3; count++) await api('GET', '/api/v2/usage');
    expect(textOf(await page('/requests/req_3'))).not.toContain('There is no body');
    expect(textOf(await page('/requests'))).toContain('Only the last of 3 requests is kept.');
  });
});

describe('the session', () => {
  it('says that a reset leaves no requests, as it does', async () => {
    const { act, api, page } = await startConsole();
    await api('GET', '/api/v2/usage');
    await act('POST /api/recording/restart');
    expect(textOf(await page('/session'))).toMatch(/A reset restores the state of [\d:]+, without its requests\./);
    const { data } = await act('POST /api/reset');
    expect(data.notice).toContain('without its requests');
    expect(textOf(await page('/requests'))).toContain('The earlier requests are not kept.');
  });
});

describe('accounts', () => {
  it('both dialogs with an account choose the same one, and each account issues its own tokens', async () => {
    const { page, sandbox } = await startConsole();
    sandbox.accounts.create({ email: 'bo@example.com', password: 'x' });
    const chosen = async (path: string) =>
      /<select name="account"[^>]*><option value="([^"]+)"/.exec(await page(path))?.[1];
    expect(await chosen('/accounts')).toBe('bo@example.com');
    expect(await chosen('/deliveries')).toBe('bo@example.com');
    expect(await page('/accounts')).toMatch(
      /data-open="issue" aria-label="Issue a token of ada@example.com" data-values="[^"]*ada@example.com/,
    );
  });
});

describe('an audience', () => {
  it('says in words whether it can be activated, and nothing before its job has ended', async () => {
    const { createAudience, page, sandbox } = await startConsole();
    const id = await createAudience();
    expect(textOf(await page(`/resources/${id}`))).not.toContain('activated');
    sandbox.jobs.finish('audience', id, 104);
    expect(textOf(await page(`/resources/${id}`))).toMatch(/[\d,]+ devices, can be activated/);
    const other = await startConsole({ jobs: { devices: 50 } });
    other.sandbox.jobs.finish('audience', await other.createAudience(), 104);
    expect(textOf(await other.page('/resources'))).toContain(
      '50 devices, cannot be activated: at least 500 are needed',
    );
  });

  it('the message after End… leads to it', async () => {
    const { act, createAudience } = await startConsole();
    const id = await createAudience();
    const { data } = await act('POST /api/jobs/finish', { kind: 'audience', id, status: 104 });
    expect(data.link).toEqual([`/resources/${id}`, 'Show the audience']);
  });
});

describe('Find', () => {
  it('says that it found nothing', async () => {
    const { api, page, request } = await startConsole();
    await api('GET', '/api/v2/usage');
    expect((await request('/find?q=no-such-thing')).status).toBe(200);
    expect(textOf(await page('/find?q=no-such-thing'))).toContain('Nothing found for “no-such-thing”');
  });
});

describe('limits', () => {
  it('each chart has its scale beside it', async () => {
    const { page } = await startConsole();
    const text = textOf(await page('/limits'));
    expect(text).toContain('±1 h');
    expect(text).toContain('±1 d');
  });
});
