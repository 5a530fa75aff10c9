import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BUILDING,
  build,
  day,
  type Example,
  keepStatus,
  QUEUED,
  rows,
  SOON,
  startExample,
  throttle,
  upload,
} from '../support/example-page.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample();
});
afterAll(async () => {
  expect(await example.close()).toEqual({ code: 0, stderr: '' });
});

describe('examples/browser', () => {
  it('lists audiences with status, size and date, and further pages on request', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn } = await example.visit(onTestFinished);
    await signIn();
    const shown = await rows(page).count();
    expect(shown).toBe(8);
    await expect
      .poll(() => rows(page).last().innerText())
      .toMatch(/\S+\s+(?:Completed|Error|Additional Info)\s+[\d,–]+\s+\d+ \w+ \d{4}/);
    const more = page.getByRole('button', { name: 'Show more' });
    await more.click();
    await expect.poll(() => rows(page).count()).toBe(16);
    while (await more.isVisible()) {
      const before = await rows(page).count();
      await more.click();
      await expect.poll(async () => (await rows(page).count()) > before || (await more.isHidden())).toBe(true);
    }
    await page.getByText(/^All \d+ are shown\.$/).waitFor();
    await rows(page).filter({ hasText: 'Commuters, city centre' }).waitFor();
    expect(errors).toEqual([]);
  });
});

// Most of their time is waiting for jobs.
describe.concurrent('examples/browser', () => {
  it('refuses a wrong password, accepts the right one by keyboard, keeps the session, and ends it', async ({
    onTestFinished,
  }) => {
    const { page, errors } = await example.visit(onTestFinished);
    const { keyboard } = page;
    await page.getByLabel('Email').and(page.locator(':focus')).waitFor();
    await keyboard.type(example.email);
    await keyboard.press('Tab');
    await keyboard.type('wrong');
    await keyboard.press('Enter');
    await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
    expect(errors.splice(0)).toEqual([expect.stringContaining('401')]);
    // The wrong password is selected: typing replaces it.
    await keyboard.type(example.password);
    await keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your audiences' }).waitFor();
    await page.reload();
    await page.getByText(example.email).waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Strict' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await rows(page).count()).toBe(0);
    expect((await page.request.get(`${example.url}token`)).status()).toBe(401);
    const stale = { headers: { cookie: `session=${cookie?.value}` } };
    expect((await page.request.get(`${example.url}token`, stale)).status()).toBe(401);
    expect(errors).toEqual([]);
  });

  it('shows a build from its create to its end, also one that needs more information', async ({
    onTestFinished,
    expect,
  }) => {
    const { page, errors, signIn, origins } = await example.visit(onTestFinished);
    await signIn();
    const release = await keepStatus(page, { 'Visitors of the fair': BUILDING });
    const good = await build(page, 'Visitors of the fair');
    await expect.poll(() => good.getByRole('listitem').allInnerTexts(), SOON).toContain('Building');
    await expect.poll(() => rows(page).first().innerText()).toContain('Building');
    expect(await good.getByRole('progressbar').getAttribute('value')).toBe(null);
    expect(await good.getByText(/^\d+ s$/).count()).toBe(1);
    release();
    await good.getByText(/^[\d,]+ devices\. It can be activated\.$/).waitFor(SOON);
    expect(await good.getByRole('listitem').allInnerTexts()).toEqual(['Creating', 'Queued', 'Building', 'Completed']);
    expect(await good.getByRole('progressbar').getAttribute('value')).toBe('1');
    await expect.poll(() => rows(page).first().innerText()).toMatch(/Completed\s+[\d,]+/);
    const asks = await build(page, 'One that cannot be built');
    await asks.getByText('The service needs more information.').waitFor(SOON);
    await asks.getByRole('button', { name: 'Dismiss' }).click();
    expect(await asks.count()).toBe(0);
    expect([...origins]).toEqual([new URL(example.url).origin]);
    expect(errors).toEqual([]);
  });

  it('stops watching a build, which continues, and watches it again', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    const release = await keepStatus(page, { 'Watched in two parts': QUEUED });
    const card = await build(page, 'Watched in two parts');
    await card.getByText('Queued').first().waitFor();
    await card.getByRole('button', { name: 'Stop watching' }).click();
    await card.getByText('Not watched any more. It continues at the service.').waitFor();
    release();
    await card.getByRole('button', { name: 'Watch again' }).click();
    await card.getByText('It can be activated.').waitFor(SOON);
    expect(calls.filter((call) => call.endsWith('/create'))).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('uploads a cohort with a progress bar, and shows how many people it has', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn, origins } = await example.visit(onTestFinished);
    await signIn();
    await throttle(page, 4e6);
    // Recorded in the page, because a query from here may come too late.
    await page.evaluate(() => {
      const note = ([{ target } = {}]: readonly { target?: Node }[]): void => {
        // A bar without a value shows that the import is running.
        if (target instanceof HTMLProgressElement && target.hasAttribute('value'))
          document.body.dataset.reached += ` ${target.value}`;
      };
      document.body.dataset.reached = '';
      new MutationObserver(note).observe(document.body, { subtree: true, attributeFilter: ['value'] });
    });
    const card = await upload(page, 8);
    await card.getByText('400,000 people were recognized.').waitFor(SOON);
    const recorded = await page.evaluate(() => document.body.dataset.reached?.trim().split(' ').map(Number));
    const reached = recorded ?? [];
    expect(reached.at(-1)).toBe(1);
    expect(reached).toEqual(reached.toSorted((one, other) => one - other));
    expect(reached.filter((share) => share > 0 && share < 1).length).toBeGreaterThan(2);
    expect(origins.size).toBe(2);
    expect([...origins].every((origin) => new URL(origin).hostname === '127.0.0.1')).toBe(true);
    expect(errors).toEqual([]);
  });

  it('cancels an upload, so that nothing is imported', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    await throttle(page, 1e6);
    const card = await upload(page, 20);
    await expect.poll(() => card.getByRole('progressbar').getAttribute('value'), SOON).not.toBe('0');
    await card.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('Cancelled. Nothing was imported.').waitFor();
    expect(calls.filter((call) => call.includes('cohorts'))).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('shows problems next to their fields, whether the service, the client or the page finds them', async ({
    onTestFinished,
  }) => {
    const { page, errors, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    const creates = (): number => calls.filter((call) => call === 'POST /api/v2/audiences/create').length;
    const from = page.getByLabel('From');
    const note = page.locator('#start-error');
    await build(page, 'Too early', day(46));
    await note.getByText('within the last 45 days').waitFor();
    expect(await from.getAttribute('aria-invalid')).toBe('true');
    expect(await from.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(creates()).toBe(1);
    expect(errors.splice(0)).toEqual([expect.stringContaining('422')]);
    await build(page, 'Much too early', '2020-01-01');
    await note.getByText('2020-01-01 is before').waitFor();
    await build(page, '  ');
    await page.locator('#name-error').getByText('Please enter a name.').waitFor();
    expect(await from.getAttribute('aria-invalid')).toBe(null);
    expect(await page.getByRole('article').count()).toBe(0);
    expect(creates()).toBe(1);
    expect(errors).toEqual([]);
  });

  const REFUSALS = [
    ['Too many requests in a short time. Please try again at', '30', 0],
    ['Your organization has used up its builds. The next one is possible at', '600', 60],
  ] as const;
  for (const [text, seconds, used] of REFUSALS) {
    it(`shows when to try again after a 429 of ${seconds} s`, async ({ onTestFinished, expect }) => {
      const { page, errors, signIn } = await example.visit(onTestFinished);
      await signIn();
      const headers = { 'retry-after': seconds };
      const json = { status: 'error', code: 429, message: 'Too Many Attempts.', data: [] };
      await page.route('**/audiences/create', (route) => route.fulfill({ status: 429, headers, json }));
      const build_budget = { hour: { limit: 60, used }, day: { limit: 300, used } };
      const usage = { status: 'success', code: 200, message: '', data: { build_budget } };
      await page.route('**/api/v2/usage*', (route) => route.fulfill({ json: usage }));
      await build(page, 'One too many');
      await page.getByText(text).waitFor(SOON);
      expect(await page.getByText(text).innerText()).toMatch(/ at \d\d:\d\d:\d\d\.$/);
      expect(errors).toEqual([expect.stringContaining('429')]);
    });
  }

  it('reports that the service cannot be reached', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn } = await example.visit(onTestFinished);
    await signIn();
    await page.route('**/audiences/index*', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('The service cannot be reached. Please check your connection').waitFor(SOON);
    expect(errors.every((error) => error.includes('ERR_FAILED'))).toBe(true);
  });

  it('has no password and no token in its files or in the storage of the page', async ({ onTestFinished }) => {
    const { page, files, signIn } = await example.visit(onTestFinished);
    await signIn();
    const text = files.join('\n');
    expect(text).toContain('Build audience');
    expect(text).not.toContain(example.password);
    expect(text).not.toMatch(/\d\|\w{40}|demo@example/);
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
  });
});
