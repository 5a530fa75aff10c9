import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  build,
  type Example,
  IMPORTING,
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

describe.concurrent('a session of examples/browser', () => {
  it('shows the sign-in form when it has ended, and resumes its jobs after the next sign-in', async ({
    onTestFinished,
    expect,
  }) => {
    const { page, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    const release = await keepStatus(page, { 'Built through two sessions': QUEUED });
    const job = await build(page, 'Built through two sessions');
    await job.getByText('Queued').first().waitFor();
    await page.request.delete(`${example.url}session`);
    release();
    await page.getByRole('alert').getByText('Your session has ended. Please sign in again.').waitFor(SOON);
    expect(await page.getByLabel('Email').inputValue()).toBe(example.email);
    await page.getByLabel('Password').and(page.locator(':focus')).waitFor();
    await page.keyboard.type(example.password);
    await page.keyboard.press('Enter');
    await job.getByText('It can be activated.').waitFor(SOON);
    expect(await rows(page).filter({ hasText: 'Built through two sessions' }).count()).toBe(1);
    expect(calls.filter((call) => call.endsWith('/create'))).toHaveLength(1);
  });

  it('resumes its jobs after a reload', async ({ onTestFinished, expect }) => {
    const { page, errors, signIn, calls } = await example.visit(onTestFinished);
    await signIn();
    const release = await keepStatus(page, { 'Built over a reload': QUEUED, customers: IMPORTING });
    const built = await build(page, 'Built over a reload');
    await built.getByText('Queued').first().waitFor();
    const imported = await upload(page, 1);
    await imported.getByRole('button', { name: 'Stop watching' }).waitFor();
    await page.reload();
    await built.getByRole('button', { name: 'Stop watching' }).waitFor();
    await imported.getByRole('button', { name: 'Stop watching' }).waitFor();
    const kept = await page.evaluate(() => Object.values(sessionStorage));
    expect(kept.map((text) => JSON.parse(text))).toEqual([
      [
        { kind: 'audience', id: expect.any(Number), name: 'Built over a reload', since: expect.any(Number) },
        { kind: 'cohort', id: expect.any(Number), name: 'customers', since: expect.any(Number) },
      ],
    ]);
    release();
    await built.getByText('It can be activated.').waitFor(SOON);
    await imported.getByText('50,000 people were recognized.').waitFor(SOON);
    expect(calls.filter((call) => call.endsWith('audiences/create'))).toHaveLength(1);
    await expect.poll(() => page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.reload();
    await rows(page).first().waitFor();
    expect(await page.getByRole('article').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('lets the browser ask before a reload ends an upload', async ({ onTestFinished, expect }) => {
    const { page, signIn } = await example.visit(onTestFinished);
    await signIn();
    await throttle(page, 1e6);
    const card = await upload(page, 20);
    await expect.poll(() => card.getByRole('progressbar').getAttribute('value'), SOON).not.toBe('0');
    const asked = page.waitForEvent('dialog');
    await page.evaluate(() => void setTimeout(() => location.reload()));
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await card.getByRole('button', { name: 'Cancel' }).click();
    await card.getByText('Cancelled. Nothing was imported.').waitFor();
  });
});
