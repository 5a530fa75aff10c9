import { describe, expect, it } from 'vitest';
import { startConsole } from '../../support/console.ts';

const textOf = (page: string): string => page.replaceAll(/<[^>]*>/g, '').replaceAll('&#39;', "'");
const mainOf = (page: string): string => page.split('<main')[1] ?? '';

describe('the page of a request', () => {
  it.each([
    [
      'cut',
      { cut: 'after' },
      'This attempt failed with a ConnectionError. A later request has the same key: req_2, status 200.',
    ],
    [
      '5xx',
      { status: 503 },
      'This attempt failed with a ServerError. A later request has the same key: req_2, status 200.',
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
      expect(textOf(await page('/faults'))).toMatch(/response lost: cut after100 %used 1 of 1/);
      expect(textOf(await page('/faults'))).not.toContain('No faults');
      await sandbox.faults.remove(1);
      expect(textOf(await page('/faults'))).toContain('No faults');
    },
  );

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
      expect((await loaded.json()).message).toBe('This file is not a saved state.');
    }
  });
});
