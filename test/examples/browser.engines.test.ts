import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/directory.ts';
import { ENGINES } from '../support/engines.ts';
import { type ExampleApp, startExampleApp } from '../support/example-page.ts';
import { fill, hasElements, sees } from '../support/tab-actions.ts';
import { watchPages } from '../support/watched-pages.ts';

let app: ExampleApp;
beforeAll(async () => {
  app = await startExampleApp();
});
afterAll(async () => {
  expect(await app.interrupt()).toEqual({ code: 0, stderr: '' });
});

describe.each(ENGINES)('examples/browser in $name', ({ launch }) => {
  it('signs in, lists, builds, uploads and signs out without an error in the page', async () => {
    const browser = await launch();
    onTestFinished(() => browser.close());
    const { origin, problems } = await watchPages(app.url);
    const tab = await browser.newTab();
    await tab.goto(origin);
    await fill(tab, '#email', app.email);
    await fill(tab, '#password', app.password);
    await tab.click('[data-part=sign-in] button');
    await sees(tab, 'Show more');
    await hasElements(tab, 'tbody tr', 8);
    await tab.click('[data-part=more]');
    await hasElements(tab, 'tbody tr', 16);

    await fill(tab, '#name', 'Visitors of the fair');
    await tab.click('[data-part=builder] button');
    await sees(tab, /Creating\s+Queued/);

    const file = join(await temporaryDirectory(), 'customers.csv');
    await writeFile(file, `email\n${'someone@example.com\n'.repeat(400_000)}`);
    await tab.setFile('[type=file]', file);
    await sees(tab, 'customers.csv');
    await tab.run(() => {
      document.body.dataset.reached = '';
      new MutationObserver(([{ target } = {} as MutationRecord]) => {
        // A bar without a value shows that the import is running.
        const isBar = target instanceof HTMLProgressElement && target.ariaLabel === 'Progress of customers';
        if (isBar && target.hasAttribute('value')) document.body.dataset.reached += ` ${target.value}`;
      }).observe(document.body, { subtree: true, attributeFilter: ['value'] });
    });
    await tab.click('[data-part=upload] button');
    await sees(tab, /Creating\s+Queued\s+Building\s+Completed\s+\d.* devices\. It can be activated\./);
    await sees(tab, /Visitors of the fair\s+Completed\s+\d/);
    // Some locales group digits.
    await sees(tab, /400.?000 people were recognized\./);
    const reached = await tab.run(() => document.body.dataset.reached?.trim().split(' ').map(Number) ?? []);
    expect(reached.at(-1)).toBe(1);
    expect(reached).toEqual(reached.toSorted((one, other) => one - other));

    await tab.goto(origin);
    await hasElements(tab, 'tbody tr', 8);
    await tab.click('[data-part=sign-out]');
    await sees(tab, 'Your password goes to the backend');
    await tab.goto(origin);
    await sees(tab, 'Your password goes to the backend');
    expect(problems).toEqual([]);
  });
});
