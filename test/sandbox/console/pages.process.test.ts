import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { PAGES } from '../../support/console.ts';
import { launchChromium, openPage } from '../../support/example-page.ts';
import { credentials } from '../../support/sandbox.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** A receiver of webhooks that responds with a status. */
async function startReceiver() {
  const received: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    received.push(JSON.parse(body).id);
    response.writeHead(request.url === '/down' ? 500 : 200).end('{"received":true}');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Serves a sandbox, and opens its console. */
async function openConsole(options: SandboxOptions = {}, contextOptions: BrowserContextOptions = {}) {
  const sandbox = createSandbox(options);
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
  const client = new AudienceClient({ baseUrl: url, token: account.token('api'), rateLimits: false });
  onTestFinished(() => client.close());
  const context = await browser.newContext(contextOptions);
  onTestFinished(() => context.close());
  const page = await openPage(context);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.text()} ${message.location().url}`);
  });
  const { origin } = new URL(consoleUrl);
  await page.goto(consoleUrl);
  await page.waitForURL(`${origin}/start`);
  const open = async (path: string): Promise<void> => void (await page.goto(`${origin}${path}`));
  /** Waits until a notice shows the TypeScript that does the same, and closes it. */
  const noticed = async (typescript: string): Promise<void> => {
    const notice = page.locator('#notices .toast').filter({ hasText: typescript }).first();
    await notice.waitFor();
    await notice.getByRole('button', { name: 'Close' }).click();
    await notice.waitFor({ state: 'detached' });
  };
  page.on('dialog', (dialog) => dialog.accept());
  const press = (name: string | RegExp, scope: 'main' | 'dialog[open]' = 'main'): Promise<void> =>
    page.locator(scope).getByRole('button', { name, exact: true }).first().click();
  /** Does an action, and waits until a notice shows the TypeScript that does the same. */
  const act = async (
    name: string | RegExp,
    typescript: string,
    scope: 'main' | 'dialog[open]' = 'main',
  ): Promise<void> => {
    await press(name, scope);
    await noticed(typescript);
  };
  return {
    sandbox,
    account,
    client,
    context,
    page,
    problems,
    origin,
    url,
    consoleUrl,
    open,
    act,
    press,
    noticed,
  };
}

/** Returns what axe finds wrong with a page; the colours are the difference between light and dark. */
async function violations(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: axe.source });
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await runAxe(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...light, ...(await runAxe(page, 'color-contrast'))];
}

function runAxe(page: Page, ...rules: string[]): Promise<string[]> {
  return page.evaluate(async (runOnly) => {
    // @ts-expect-error The script defines it in the page.
    const { violations: problems } = await window.axe.run(document, runOnly.length > 0 ? { runOnly } : {});
    return problems.flatMap(
      ({ id, nodes }: { readonly id: string; readonly nodes: readonly { readonly html: string }[] }) =>
        nodes.map(({ html }) => `${id}: ${html}`),
    );
  }, rules);
}

/** Runs in a page. Returns texts that are cut, or that cover something else. */
function coveredTexts(): string[] {
  const box = (element: Element | null) => element?.getBoundingClientRect() ?? new DOMRect();
  const isCut = (element: Element): boolean => box(element).right > box(element.closest('td')).right + 1;
  const cut = [...document.querySelectorAll('td time, td .badge, td.soft.wrap')].filter(isCut);
  const late = [...document.querySelectorAll('.story > li')].filter(
    ({ children: [time, text] }) =>
      box(time?.firstElementChild ?? null).right > box(text ?? null).left &&
      box(time ?? null).top === box(text ?? null).top,
  );
  const covering = [...document.querySelectorAll('.track text')].filter((text) =>
    [...(text.parentElement?.querySelectorAll('.mark, .open') ?? [])].some(
      (mark) =>
        box(text).left < box(mark).right - 1 &&
        box(mark).left < box(text).right - 1 &&
        box(text).bottom > box(mark).top + 4,
    ),
  );
  return [...cut, ...late, ...covering].map(({ textContent, className }) => `${String(className)}: ${textContent}`);
}

describe('the console in Chromium', () => {
  it('the operator does everything on its pages, while a client works', async () => {
    const { received, origin: receiver } = await startReceiver();
    const {
      sandbox,
      client,
      page,
      problems,
      open: visit,
      act,
      press,
    } = await openConsole({
      clock: 'real',
      limits: { write: { limit: 1_000, interval: 60_000 }, buildsPerHour: 1_000, buildsPerDay: 1_000 },
    });
    let works = 0;
    const work = async (): Promise<void> => {
      works++;
      await client.audiences.create({ name: `Work ${works}` }, { idempotencyKey: `work-${works}` });
      await client.audiences.list({ per_page: 5 });
    };
    /** Opens a page, on which the work of a client then appears. */
    const open = async (path: string): Promise<void> => {
      await visit(path);
      await work();
    };

    // Requests appear without a reload, with their reason, and are filtered while somebody types.
    await open('/requests');
    await page.getByRole('link', { name: '/api/v2/audiences/create' }).first().waitFor();
    await expect(client.audiences.get(999_999)).rejects.toThrow();
    await page.getByText('Audience not found.').first().waitFor();
    await page.getByLabel('Filter by text').fill('999999');
    await page.getByText('1–1 of 1').waitFor();
    expect(page.url()).toContain('?q=999999');
    await page.getByRole('link', { name: '/api/v2/audiences/999999' }).click();
    await page.getByText('Refused: Audience not found.').waitFor();
    expect(await page.locator('#curl').textContent()).toContain('/api/v2/audiences/999999');
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await page.getByText(/Sent as req_\d+: 404, Audience not found/).waitFor();

    await open('/jobs');
    const { id } = await client.cohorts.create({ name: 'Customers' });
    const dialog = page.locator('dialog[open]');
    await page.getByRole('button', { name: `End cohort ${id}` }).click();
    await dialog.getByLabel('Status').selectOption('5');
    await dialog.getByLabel('Reason').fill('No rows');
    await act('End the job', `sandbox.jobs.finish('cohort', ${id}, 5, 'No rows')`, 'dialog[open]');
    expect(sandbox.jobs.reason('cohort', id)).toBe('No rows');
    expect((await client.cohorts.get(id)).status.id).toBe(5);
    const { id: next } = await client.audiences.create({ name: 'Soon' });
    await page.getByLabel('Filter by text').fill(`audience ${next}`);
    await page.getByRole('button', { name: `End audience ${next}` }).click();
    await act('End the job', `sandbox.jobs.finish('audience', ${next}, 104)`, 'dialog[open]');
    await page.getByLabel('Filter by text').fill('');

    await open('/clock');
    await act('Paused', "sandbox.setClock('manual')");
    const paused = sandbox.now();
    await act('+10 min', 'await sandbox.advance(600000)');
    expect(sandbox.now()).toBe(paused + 600_000);
    await page.getByLabel('Duration').fill('1 h 2min');
    await act('Advance', 'await sandbox.advance(3720000)');
    await page.getByLabel('Duration').fill('2 days 3 minutes');
    await act('Advance', 'await sandbox.advance(172980000)');
    // An advance shows what happened.
    await page.locator('table').getByText('The job of audience').first().waitFor();
    expect(page.url()).toContain('list=past');
    await work();
    await act(/^To the next event/, 'await sandbox.advance(');
    await client.audiences.list();
    await act('×60', 'sandbox.setClock({ speed: 60 })');
    await act('Real time', "sandbox.setClock('real')");

    await open('/faults');
    const addFault = (preset: string): Promise<void> => page.getByRole('button', { name: preset }).click();
    await addFault('Add a fault…');
    await page.getByLabel('Requests', { exact: false }).first().fill('usage.gt');
    await page.getByLabel('Status').fill('418');
    await page.getByLabel('Times', { exact: true }).fill('1');
    await press('Add the fault', 'dialog[open]');
    await page.getByRole('alert').filter({ hasText: 'Did you mean "usage.get"?' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid'))).toBe('true');
    expect(problems.splice(0)).toEqual([expect.stringContaining('400 (Bad Request)')]);
    await page.getByLabel('Requests', { exact: false }).first().fill('usage.get');
    await act('Add the fault', "sandbox.faults.add({ on: 'usage.get', status: 418, times: 1 })", 'dialog[open]');
    await expect(client.usage.get()).rejects.toThrow('418');
    await page.getByText('used 1 of 1').waitFor();
    await addFault('Response lost');
    await page.getByLabel('Requests', { exact: false }).first().fill('/nothing');
    await act('Add the fault', "sandbox.faults.add({ on: '/nothing', cut: 'after', times: 1 })", 'dialog[open]');
    await act('Remove rule 2', 'sandbox.faults.remove(2)');
    await addFault('Half a response');
    await page.getByLabel('Requests', { exact: false }).first().fill('/nothing');
    await act('Add the fault', "sandbox.faults.add({ on: '/nothing', malformed: true, times: 1 })", 'dialog[open]');
    await act('Remove rule 3', 'sandbox.faults.remove(3)');

    await open('/limits');
    await page.getByRole('spinbutton', { name: 'Builds an hour' }).fill('900');
    await act('Set the budget', 'setBuildBudget({ buildsPerHour: 900 })');
    await page.getByText(/of 900/).waitFor();
    await page.getByLabel('Requests (read)').fill('1000');
    await act('Set the rates', 'sandbox.setLimits({ read: { limit: 1000, interval: 60000 } });');
    await page
      .getByText(/of 1,000/)
      .first()
      .waitFor();

    sandbox.webhooks.create({ name: 'Up', url: `${receiver}/up` });
    await open('/deliveries');
    await page.getByRole('button', { name: 'Actions of Up' }).click();
    await act('Send test Up', 'sandbox.webhooks.test(');
    await page.getByRole('link', { name: 'webhook.test' }).first().click();
    await act(/^Redeliver to /, 'sandbox.webhooks.redeliver(');
    await expect.poll(() => received.filter((event) => event === received[0])).toHaveLength(2);
    await page.locator('#delivery-body').getByText('"This is a test."').waitFor();
    await page.locator('.more').getByText('manual').first().waitFor();

    await open('/accounts');
    await page.getByRole('button', { name: 'Create an account…' }).first().click();
    await page.getByLabel('Email').fill('bo@example.com');
    await page.locator('dialog[open]').getByLabel('Password').fill('x');
    await page.locator('dialog[open]').getByLabel('Organization').fill('Other');
    await act(
      'Create the account',
      "sandbox.accounts.create({ email: 'bo@example.com', password: process.env.PASSWORD!, company: 'Other' })",
      'dialog[open]',
    );
    await page.getByRole('button', { name: /^Account filter/ }).click();
    await page.getByRole('link', { name: /bo@example.com/ }).click();
    await page.getByText('No live tokens').waitFor();
    await page.getByRole('button', { name: 'Actions of bo@example.com' }).click();
    await page.locator('main').getByRole('button', { name: 'Log in as bo@example.com' }).click();
    await page.waitForURL(/\/accounts$/);

    await open('/session');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export as test' }).click();
    expect((await download).suggestedFilename()).toBe('recording.test.ts');
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save the state' }).click();
    const state = await (await saving).path();
    await press('Restart recording…');
    await page.getByRole('button', { name: 'Restart recording', exact: true }).click();
    await page.getByText(': 0 steps').waitFor();
    await page.getByRole('button', { name: 'Reset…' }).click();
    await act('Reset', 'sandbox.restore(state', 'dialog[open]');
    sandbox.accounts.create({ email: 'gone@example.com', password: 'x' });
    await page.getByRole('button', { name: 'Load a state…' }).click();
    await page.getByLabel('File').setInputFiles(state);
    await act('Replace the state', 'sandbox.restore(state', 'dialog[open]');
    expect(sandbox.accounts.list().map(({ email }) => email)).toEqual([credentials.email, 'bo@example.com']);
    expect(problems).toEqual([]);
  });

  it('tokens, endpoints and passwords are managed on the pages of the sandbox', async () => {
    const { origin: receiver, received } = await startReceiver();
    const { account, page, problems, open, act, press, url } = await openConsole({ clock: 'manual' });
    await open('/accounts');
    await page.getByRole('button', { name: 'Issue a token…' }).first().click();
    await page.getByRole('combobox', { name: 'Kind', exact: true }).selectOption('mcp');
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    await page.getByText('Copy it now: it is shown once').waitFor();
    const shown = (await page.locator('.secret').first().textContent()) ?? '';
    await page.getByText(`export AUDIENCE_BASE_URL=${url} AUDIENCE_TOKEN='${shown}'`).waitFor();
    // Escape does not close what cannot be shown again.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const [id] = /\d+(?=\|)/.exec(shown) ?? [];
    expect(account.tokens().map((token) => token.id)).toContain(Number(id));
    await page.reload();
    expect(await page.content()).not.toContain(shown.split('|')[1] ?? '');
    await act(`Revoke token ${id}`, `revokeToken(${id})`);
    expect(account.tokens().map(({ kind }) => kind)).toEqual(['api']);

    // The first steps link to the form.
    await open('/deliveries#create');
    const dialog = page.locator('dialog[open]');
    await dialog.getByLabel('Name').fill('Mine');
    await dialog.getByLabel('URL').fill(`${receiver}/down`);
    await dialog.getByLabel('audience.completed').check();
    await dialog.getByLabel('audience.failed').check();
    await page.getByRole('button', { name: 'Create the endpoint' }).click();
    await page.getByText(/^whsec_\w{32}$/).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('audience.completed, audience.failed').first().waitFor();
    const chooseOf = (endpoint: string) => page.getByRole('button', { name: `Actions of ${endpoint}` }).click();
    await chooseOf('Mine');
    await act('Send test Mine', 'sandbox.webhooks.test(');
    await page.getByRole('link', { name: 'Mine' }).click();
    await page
      .getByText(/next \d\d:/)
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await act(/^Redeliver to /, 'sandbox.webhooks.redeliver(');
    await expect.poll(() => received.length).toBe(2);
    await open('/deliveries');
    await chooseOf('Mine');
    await press('Rotate secret Mine');
    await page.getByText(/^whsec_\w{32}$/).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('signed with both secrets until').waitFor();
    await chooseOf('Mine');
    await page.getByRole('button', { name: 'Edit Mine' }).click();
    expect(await dialog.getByLabel('audience.failed').isChecked()).toBe(true);
    await dialog.getByLabel('Name').fill('Yours');
    await dialog.getByLabel('cohort.failed').check();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Yours' }).waitFor();
    await page.getByText('audience.completed, audience.failed, cohort.failed').waitFor();
    for (const [verb, method] of [
      ['Pause', 'pause'],
      ['Resume', 'resume'],
      ['Delete', 'delete'],
    ]) {
      await chooseOf('Yours');
      await act(`${verb} Yours`, `sandbox.webhooks.${method}(`);
    }
    await page.getByText('No webhook endpoints').waitFor();

    await open('/accounts');
    await page.getByRole('button', { name: `Actions of ${credentials.email}` }).click();
    await page.getByRole('button', { name: `Change password of ${credentials.email}` }).click();
    await page.getByLabel('New password').fill('another');
    await act('Change it', 'changePassword(process.env.PASSWORD!)', 'dialog[open]');
    expect([account.password, account.tokens()]).toEqual(['another', []]);
    expect(problems).toEqual([]);
  });

  /** Opens the console with something to show on each page, for axe. */
  async function openFilled() {
    const { origin: receiver } = await startReceiver();
    const opened = await openConsole({ clock: 'manual' }, { bypassCSP: true });
    const { sandbox, client } = opened;
    const webhook = sandbox.webhooks.create({ name: 'Down', url: `${receiver}/down` });
    const audience = await client.audiences.create({ name: 'Visitors' });
    await client.audiences.create({ name: 'Running' });
    sandbox.jobs.finish('audience', audience.id, 107, 'The domain list is empty.');
    sandbox.faults.add({ on: 'usage.get', status: 503, times: 2 });
    await expect(client.usage.get({}, { maxRetries: 0 })).rejects.toThrow();
    await expect(client.audiences.get(99)).rejects.toThrow();
    sandbox.webhooks.test(webhook.id);
    await sandbox.advance(0);
    const check = async (paths: readonly string[]): Promise<void> => {
      for (const path of paths) {
        await opened.open(path);
        expect([path, await violations(opened.page)]).toEqual([path, []]);
      }
    };
    return { ...opened, webhook, audience, check };
  }

  it('axe finds nothing wrong with the pages of the operator, light and dark', async () => {
    const { sandbox, webhook, audience, check } = await openFilled();
    const delivery = `/deliveries?event=${sandbox.webhooks.deliveries[0]?.eventId}&to=${webhook.id}`;
    await check([...PAGES, `/resources/${audience.id}`, '/requests/req_1', delivery, '/nothing']);
  });

  it('axe finds nothing wrong with dialogs, notices, and what a page says of itself, light and dark', async () => {
    const { sandbox, page, open } = await openFilled();
    await open('/faults');
    await page.getByRole('button', { name: 'Rate limited…' }).click();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add the fault' }).click();
    await page.getByText('was added for audiences.create').waitFor();
    expect(await violations(page)).toEqual([]);
    await open('/accounts');
    await page.getByRole('button', { name: 'Issue a token…' }).first().click();
    await page.getByRole('button', { name: 'Issue', exact: true }).click();
    await page.getByText('Copy it now').waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await sandbox.close();
    await page.getByText('The sandbox does not respond.').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('what somebody does on a page survives the changes that arrive', async () => {
    const { account, client, context, page, open, sandbox, consoleUrl } = await openConsole({ clock: 'manual' });
    const { id } = await client.audiences.create({ name: 'First' });
    const { id: second } = await client.audiences.create({ name: 'Second' });
    await open('/jobs');
    const button = page.getByRole('button', { name: `End audience ${second}` });
    await button.focus();
    await client.audiences.create({ name: 'Third' });
    await page.getByText('Third').waitFor();
    expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);

    await open('/limits');
    await page.getByLabel('Requests (read)').fill('77');
    await client.audiences.get(id);
    await page.getByText('1 of 120').waitFor();
    expect(await page.getByLabel('Requests (read)').inputValue()).toBe('77');

    await open('/accounts');
    await page.getByRole('button', { name: 'Issue a token…' }).first().click();
    await page.getByRole('button', { name: 'Issue', exact: true }).dblclick();
    await page.getByText('Copy it now: it is shown once').waitFor();
    await page.getByRole('row').nth(2).waitFor();
    expect(account.tokens()).toHaveLength(2);

    // Notices go by Escape; a page whose session has ended says so, and shows no more changes.
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await context.clearCookies();
    account.changePassword('another');
    await page.getByText('Open the address that the sandbox has printed.').waitFor();
    expect(await page.getByText('The sandbox does not respond.').count()).toBe(0);
    await page.goto(consoleUrl);
    await page.waitForURL(/\/requests$/);
    await open('/jobs');
    await page.getByRole('button', { name: `End audience ${second}` }).click();
    await page.getByRole('button', { name: 'End the job' }).click();
    await page.getByText(`Audience ${second} finished as 104 Completed.`).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#notices .toast').waitFor({ state: 'detached' });
    expect(sandbox.jobs.running.map((job) => job.id)).not.toContain(second);
  });

  it('a list stands still while a link in it has the focus, or its text is selected', async () => {
    const { client, page, open } = await openConsole({ clock: 'manual' });
    const create = (name: string) => client.projects.create({ name });
    await create('First');
    await open('/requests');
    const rows = page.locator('#requests tbody tr');
    const all = (number: number) => page.getByRole('link', { name: `All ${number}` }).waitFor();
    await create('Second');
    await expect.poll(() => rows.count()).toBe(2);

    await rows.first().getByRole('link').first().focus();
    await create('Third');
    await all(3);
    expect(await rows.count()).toBe(2);
    await page.evaluate(() => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    });
    await create('Fourth');
    await expect.poll(() => rows.count()).toBe(4);
    await page.evaluate(() =>
      document.getSelection()?.selectAllChildren(document.querySelector('#requests td') ?? document),
    );
    await create('Fifth');
    await all(5);
    expect(await rows.count()).toBe(4);
  });

  it('eight windows are up to date with one stream, also after the window that has it is closed', async () => {
    const { client, context, origin, page } = await openConsole({ clock: 'manual' });
    const windows = [page];
    for (let count = 0; count < 7; count++) windows.push(await openPage(context));
    for (const one of windows) await one.goto(`${origin}/requests`);
    const all = (number: number) =>
      Promise.all(windows.map((one) => one.getByRole('link', { name: `All ${number}` }).waitFor()));
    await client.projects.create({ name: 'First' });
    await all(1);
    await windows.shift()?.close();
    await client.projects.create({ name: 'Second' });
    await all(2);
  });

  it('an error is shown above the dialog that it belongs to, and what was typed there is gone when it closes', async () => {
    const { page, open, client } = await openConsole({ clock: 'manual' });
    await open('/faults');
    await page.getByRole('button', { name: 'Add a fault…' }).click();
    await page.getByLabel('Times', { exact: true }).fill('3');
    await page.getByRole('button', { name: 'Add the fault' }).click();
    const error = page.getByRole('alert').filter({ hasText: 'at least one of' });
    await error.getByRole('button', { name: 'Close' }).click();
    await error.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Add a fault…' }).click();
    expect(await page.getByLabel('Times', { exact: true }).inputValue()).toBe('');
    await page.keyboard.press('Escape');

    // A notice of a request that was sent leads to it.
    await client.projects.create({ name: 'x' });
    await open('/requests/req_1');
    await page.getByRole('button', { name: 'Send again' }).first().click();
    await page.getByRole('link', { name: 'Show the request' }).click();
    await page.waitForURL(/\/requests\/req_2$/);
  });

  it('the focus stays in a filter, and is on the heading of what the keyboard has opened', async () => {
    const { client, page, open, sandbox } = await openConsole({
      clock: 'manual',
      deliver: async () => new Response(null),
    });
    for (const name of ['First', 'Second']) await client.projects.create({ name });
    const focused = () =>
      page.evaluate(() => document.activeElement?.getAttribute('name') ?? document.activeElement?.tagName);
    await open('/requests');
    await page.getByLabel('Filter by text').fill('second');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'All 1' }).waitFor();
    expect(await focused()).toBe('q');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('req_1');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\/req_1$/);
    await expect.poll(focused).toBe('H1');
    expect(await page.evaluate(() => document.activeElement?.matches(':focus-visible'))).toBe(true);
    // With a mouse, no heading gets an outline.
    await page.getByRole('link', { name: 'Requests', exact: true }).first().click();
    await page.waitForURL(/\/requests$/);
    await expect.poll(focused).toBe('MAIN');
    sandbox.webhooks.test(sandbox.webhooks.create({ url: 'https://example.com/' }).id);
    await sandbox.advance(0);
    await open('/deliveries');
    await page.getByRole('link', { name: 'webhook.test' }).press('Enter');
    await page.waitForURL(/#detail$/);
    await expect.poll(focused).toBe('H2');
  });

  it('a change between a page and its stream is shown when the stream opens', async () => {
    const { client, page, open } = await openConsole({ clock: 'manual' });
    await client.projects.create({ name: 'First' });
    let streams = 0;
    await page.route('**/events', async (route) => {
      if (streams++ === 0) await client.projects.create({ name: 'Second' });
      // It opens, and reports nothing.
      await route.fulfill({ contentType: 'text/event-stream', body: ':\n\n' });
    });
    await open('/requests');
    await page.getByRole('link', { name: 'All 2' }).waitFor();
  });

  it('pages fit a phone, and can be read without the script', async () => {
    const small = { viewport: { width: 390, height: 800 } };
    const { client, open, page, origin, consoleUrl } = await openConsole({ clock: 'manual' }, small);
    const audience = await client.audiences.create({ name: 'A-long-name-that-does-not-break'.repeat(5) });
    await client.audiences.create({ name: 'קונים באביב (תל אביב) \u202Eabc' });
    for (const path of [...PAGES, `/resources/${audience.id}`, '/requests/req_1']) {
      await open(path);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, width]).toEqual([path, 390]);
    }
    await open('/faults');
    await page.getByRole('button', { name: 'Add a fault…' }).click();
    const dialog = page.locator('dialog[open]');
    const cut = await dialog.evaluate((element) => element.scrollWidth - element.clientWidth);
    const [delay, inFlight] = await Promise.all(
      [/^Delay/, /^Hold create requests/].map((label) => dialog.getByLabel(label).boundingBox()),
    );
    expect(cut).toBe(0);
    expect((delay?.x ?? 0) + (delay?.width ?? 999)).toBeLessThanOrEqual(inFlight?.x ?? 0);
    const context = await browser.newContext({ javaScriptEnabled: false });
    onTestFinished(() => context.close());
    const plain = await openPage(context);
    await plain.goto(consoleUrl);
    await plain.waitForURL(`${origin}/requests`);
    const said = await plain.locator('main').evaluate((main) => getComputedStyle(main, '::before').content);
    expect(said).toBe('"Actions need JavaScript."');
    await plain.getByRole('link', { name: '/api/v2/audiences/create' }).first().click();
    await plain.getByRole('heading', { name: 'Repeat the request' }).waitFor();
  });

  it('after days, a desktop and a phone show times, statuses and marks in full', async () => {
    const { origin: receiver } = await startReceiver();
    const { sandbox, client, open, page } = await openConsole({ clock: 'manual' });
    sandbox.accounts.create({ email: 'bo@example.com', password: 'x' });
    const endpoints = ['up', 'down'].map((name) =>
      sandbox.webhooks.create({ url: `${receiver}/${name}`, name: `CRM import ${name}` }),
    );
    const { id } = await client.audiences.create({ name: 'Without devices' });
    sandbox.jobs.finish('audience', id, 107, 'No device visits these domains.');
    for (let count = 0; count < 20; count++) sandbox.webhooks.test(endpoints[1]?.id ?? 0);
    for (let day = 0; day < 3; day++) {
      await client.audiences.create({ name: `Day ${day}` });
      await sandbox.advance(23 * 3_600_000);
    }
    const { eventId } = sandbox.webhooks.deliveries[1] ?? {};
    const delivery = `/deliveries?event=${eventId}&to=${endpoints[1]?.id}`;
    for (const path of [...PAGES, `/resources/${id}`, delivery]) {
      await open(path);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 900 });
        expect([path, width, await page.evaluate(coveredTexts)]).toEqual([path, width, []]);
      }
    }
  });

  it('a page of another origin can neither read nor change anything, though the operator has the console open', async () => {
    const { context, origin, sandbox, problems } = await openConsole();
    const evil = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>Evil</p>'));
    await new Promise<void>((resolve) => void evil.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void evil.close());
    const { port } = evil.address() as AddressInfo;
    const before = sandbox.now();
    // The first one is another site, the second one another origin of the same site, to which cookies are sent.
    for (const host of ['localhost', '127.0.0.1']) {
      const page = await openPage(context);
      await page.goto(`http://${host}:${port}/`);
      const outcomes = await page.evaluate(async (target) => {
        const read = (path: string, init: RequestInit) =>
          fetch(`${target}${path}`, { credentials: 'include', ...init }).then(
            () => 'read',
            () => 'refused',
          );
        const stream = new Promise((resolve) => {
          const events = new EventSource(`${target}/events`, { withCredentials: true });
          events.onopen = () => resolve('read');
          events.onerror = () => resolve('refused');
        });
        const body = '{"ms":86400000}';
        return Promise.all([
          read('/api/state', {}),
          read('/', {}),
          read('/api/clock/advance', { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
          read('/api/clock/advance', { method: 'POST', body, headers: { 'content-type': 'text/plain' } }),
          stream,
        ]);
      }, origin);
      expect(outcomes).toEqual(Array(5).fill('refused'));
      const sent = page.waitForResponse(`${origin}/login-as`);
      await page.evaluate(
        ([target, email]) => {
          const form = document.createElement('form');
          form.method = 'post';
          form.action = `${target}/login-as`;
          const field = document.createElement('input');
          field.name = 'account';
          field.value = email ?? '';
          form.append(field);
          document.body.append(form);
          form.submit();
        },
        [origin, credentials.email],
      );
      expect((await sent).status()).toBe(403);
      const frame = await openPage(context);
      await frame.goto(`http://${host}:${port}/`);
      await frame.setContent(`<iframe src="${origin}/"></iframe>`);
      expect(await frame.locator('iframe').contentFrame().locator('nav').count()).toBe(0);
    }
    expect(sandbox.now()).toBeLessThan(before + 86_400_000);
    expect(problems).toEqual([]);
  });

  it('the consent page of OAuth knows the session of the console, also for a link on another site; its page revokes the connection', async () => {
    const { context, page, url, open, act } = await openConsole();
    const register = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1:1/callback'], token_endpoint_auth_method: 'none' }),
    });
    const { client_id } = await register.json();
    const verifier = 'v'.repeat(43);
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: 'http://127.0.0.1:1/callback',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const authorize = `${url}/oauth/authorize?${query}`;
    await open('/accounts');
    await page.getByRole('button', { name: `Actions of ${credentials.email}` }).click();
    await page.getByRole('button', { name: `Log in as ${credentials.email}` }).click();
    await page.waitForURL(/\/accounts$/);
    const other = createServer((_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end(`<a href="${authorize.replaceAll('&', '&amp;')}">Connect</a>`),
    );
    await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const visitor = await openPage(context);
    await visitor.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
    await visitor.getByRole('link', { name: 'Connect' }).click();
    await visitor.getByText(`for ${credentials.email}`).waitFor();
    const redirected = visitor.waitForRequest((request) => request.url().startsWith('http://127.0.0.1:1/callback'));
    await visitor.getByRole('button', { name: 'Allow' }).click();
    const code = new URL((await redirected).url()).searchParams.get('code') ?? '';
    const form = { grant_type: 'authorization_code', client_id, code, code_verifier: verifier };
    const exchange = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    expect(exchange.status).toBe(200);
    await open('/accounts');
    await act('Revoke the connection of Unnamed client', 'revokeConnection(');
    await page.getByText('the connection of Unnamed client').waitFor({ state: 'detached' });
  });
});
