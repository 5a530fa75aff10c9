import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { ENGINES } from '../../support/engines.ts';
import { eventually } from '../../support/eventually.ts';
import { serve } from '../../support/file-server.ts';
import { credentials } from '../../support/sandbox.ts';
import { fill, sees } from '../../support/tab-actions.ts';
import { watchPages } from '../../support/watched-pages.ts';

/** The paths of pages, and their headings. */
const PAGES = {
  '/start': 'Get started',
  '/requests': 'Requests',
  '/deliveries': 'Deliveries',
  '/jobs': 'Jobs',
  '/clock': 'Clock',
  '/faults': 'Faults',
  '/limits': 'Limits',
  '/accounts': 'Accounts and tokens',
  '/session': 'Session',
  '/resources': 'Resources',
};

describe.each(ENGINES)('the console in $name', ({ launch }) => {
  it('follows a client, acts by its forms and copies, without a problem on any page', async () => {
    const browser = await launch();
    onTestFinished(() => browser.close());
    const sandbox = createSandbox({ clock: 'manual' });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.create(credentials);
    const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
    await using client = new AudienceClient({ baseUrl: url, token: account.token('api') });
    const { origin, problems } = await watchPages(consoleUrl);
    const tab = await browser.newTab();

    await tab.goto(`${origin}${new URL(consoleUrl).search}`);
    await sees(tab, 'Send your first request');
    await expect(client.audiences.get(999)).rejects.toThrow();
    await tab.goto(`${origin}/requests`);
    await sees(tab, 'Audience not found.');
    await tab.click('a[href="/requests/req_1"]');
    await sees(tab, 'Repeat the request');
    await tab.click('[data-copy=curl]');
    await sees(tab, 'Copied');

    const { id } = await client.cohorts.create({ name: 'Customers' });
    await tab.goto(`${origin}/jobs`);
    await tab.click(`[aria-label="End cohort ${id}"]`);
    await fill(tab, '#end-cohort [name=reason]', 'No rows');
    await tab.click('#end-cohort button:not([type])');
    await sees(tab, `sandbox.jobs.finish('cohort', ${id}, 4, 'No rows')`);
    expect(sandbox.jobs.reason('cohort', id)).toBe('No rows');
    await sees(tab, 'No job is running');

    let received = 0;
    const receiver = await serve((_, response) => {
      received++;
      response.end();
    });
    sandbox.webhooks.create({ name: 'Up', url: receiver.url });
    await tab.goto(`${origin}/deliveries`);
    await tab.click('[aria-label="Actions of Up"]');
    await tab.click('[aria-label="Send test Up"]');
    await eventually(() => expect(received).toBe(1));
    await sees(tab, 'delivered');
    await tab.click('#deliveries a[href*="event="]');
    await sees(tab, 'Headers of the latest attempt');
    await tab.click('[data-action="POST /api/webhooks/redeliver"] button');
    await eventually(() => expect(received).toBe(2));

    await tab.goto(`${origin}/faults`);
    await tab.click('.small[data-open=add]');
    await fill(tab, '[name=on]', 'usage.get');
    await fill(tab, '[name=status]', '418');
    await tab.click('[data-action="POST /api/faults"] button:not([type])');
    await sees(tab, "sandbox.faults.add({ on: 'usage.get', status: 418, retryAfter: 30, times: 1 })");
    expect(sandbox.faults.list()).toHaveLength(1);

    await tab.goto(`${origin}/accounts`);
    await tab.click('[data-open=issue]');
    await tab.click('#issue button:not([type])');
    await sees(tab, 'it is shown once');
    await tab.click('dialog[open] .primary');
    for (const [path, heading] of Object.entries(PAGES)) {
      await tab.goto(`${origin}${path}`);
      expect(await tab.run(() => document.querySelector('h1')?.textContent)).toBe(heading);
    }
    expect(problems).toEqual([]);
  });
});
