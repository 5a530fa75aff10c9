import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build, type Example, rows, SOON, section, startExample, upload } from '../support/example-page.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample();
});
afterAll(async () => {
  expect(await example.close()).toEqual({ code: 0, stderr: '' });
});

const WINDOWS = [
  ['wide', { colorScheme: 'dark', viewport: { width: 1280, height: 900 } }],
  ['narrow', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
  ['narrowest', { colorScheme: 'dark', viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' }],
] as const;

/** Checks that nothing is wider than the window; `SCREENSHOTS=<folder>` saves screenshots. */
async function shoot(page: Page, name: string): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

/** Returns the distance of an element from the top of the document, and its height. */
const placeOf = (element: Locator): Promise<readonly number[]> =>
  element.evaluate((node) => {
    const { top, height } = node.getBoundingClientRect();
    return [top + scrollY, height];
  });

describe.concurrent('the layout of examples/browser', () => {
  for (const [name, options] of WINDOWS) {
    it(`fits its window (${name})`, async ({ onTestFinished }) => {
      const { page, signIn } = await example.visit(onTestFinished, options);
      await shoot(page, `${name}-1-sign-in`);
      await signIn();
      await build(page, 'Too early', '2020-01-01');
      await page.locator('#start-error').getByText('is before').waitFor();
      await shoot(page, `${name}-2-field-error`);
      const card = await build(page, 'Visitors of the spring fair');
      await card.getByText('Building').first().waitFor(SOON);
      await (await upload(page, 1)).getByText('Importing').first().waitFor(SOON);
      const asks = await build(page, 'One that cannot be built');
      await asks.getByText('Queued').first().waitFor();
      await shoot(page, `${name}-3-under-way`);
      await asks.getByText('more information').waitFor(SOON);
      await page.getByText('were recognized').waitFor(SOON);
      await shoot(page, `${name}-4-ended`);
    });
  }

  for (const [name, options] of [WINDOWS[0], WINDOWS[1]]) {
    it(`shows long names in two lines (${name})`, async ({ onTestFinished, expect }) => {
      const { page, signIn } = await example.visit(onTestFinished, options);
      await signIn();
      const email = `${'a'.repeat(64)}@${'example'.repeat(12)}.com`;
      await page.route('**/session', (route) =>
        route.request().method() === 'GET' ? route.fulfill({ json: { email } }) : route.fallback(),
      );
      await page.reload();
      // The names differ by window, because all lists contain them.
      const long = name.padEnd(255, 'W');
      const card = await build(page, long);
      await card.getByText('Queued').first().waitFor();
      await page.setInputFiles('input[type=file]', { name: `${long}.csv`, mimeType: 'text/csv', buffer: Buffer.of(1) });
      await page.getByText('1 byte').waitFor();
      for (const shown of await page.getByText(long).all()) {
        const lines = await shown.evaluate((node) => node.clientHeight / parseFloat(getComputedStyle(node).lineHeight));
        expect(Math.round(lines)).toBe(2);
        expect(await shown.getAttribute('title')).toContain(long);
      }
      expect(await page.getByText(long).count()).toBe(3);
      expect(await page.getByText(email).getAttribute('title')).toBe(email);
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('The service cannot be reached.').first().waitFor();
      await shoot(page, `${name}-5-long-names`);
    });

    it(`keeps the upload in its place while jobs and rows grow (${name})`, async ({ onTestFinished, expect }) => {
      const { page, signIn } = await example.visit(onTestFinished, options);
      await signIn();
      const panel = section(page, 'Upload a cohort');
      const before = await placeOf(panel);
      await page.getByRole('button', { name: 'Show more' }).click();
      await expect.poll(() => rows(page).count()).toBeGreaterThan(8);
      for (const job of ['First', 'Second', 'Third']) {
        await (await build(page, `${job} of many`)).getByText('Queued').first().waitFor();
      }
      await page.evaluate(() => scrollTo(0, 0));
      expect(await placeOf(panel)).toEqual(before);
      await shoot(page, `${name}-6-many-jobs`);
    });
  }

  it('keeps the forms visible while the list is scrolled', async ({ onTestFinished, expect }) => {
    const { page, signIn } = await example.visit(onTestFinished, { viewport: { width: 1280, height: 900 } });
    await signIn();
    await page.getByRole('button', { name: 'Show more' }).click();
    await expect.poll(() => rows(page).count()).toBeGreaterThan(8);
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    const first = await page.getByRole('heading', { name: 'New audience' }).boundingBox();
    const last = await page.getByRole('button', { name: 'Upload' }).boundingBox();
    expect(first?.y).toBeGreaterThan(0);
    expect(last && last.y + last.height).toBeLessThan(900);
  });

  it('shows a job that has just been started', async ({ onTestFinished, expect }) => {
    const { page, signIn } = await example.visit(onTestFinished, { viewport: { width: 360, height: 740 } });
    await signIn();
    const stop = (await build(page, 'Below the forms')).getByRole('button', { name: 'Stop watching' });
    await expect.poll(() => stop.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight)).toBe(true);
  });

  it('shows sizes of files in the unit that suits them', async ({ onTestFinished, expect }) => {
    const { page, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    const folder = await mkdtemp(join(tmpdir(), 'sizes-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const SIZES = [
      [0, '0 bytes'],
      [40, '40 bytes'],
      [1_536, '1.5 kB'],
      [8 * 2 ** 20, '8 MB'],
      [1.5 * 2 ** 30, '1.5 GB'],
    ] as const;
    for (const [size, text] of SIZES) {
      const path = join(folder, `${size}.csv`);
      const file = await open(path, 'w');
      await file.truncate(size);
      await file.close();
      await page.setInputFiles('input[type=file]', path);
      await page.locator('.drop').getByText(`${size}.csv`).waitFor();
      expect(await page.locator('.drop .hint').innerText()).toBe(text);
    }
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.locator('#data-error').getByText('A file may hold 1 GB at most.').waitFor();
    expect(calls.filter((call) => call.includes('uploads'))).toEqual([]);
  });
});
