import { describe, expect, it, onTestFinished } from 'vitest';
import { signInWithBrowser } from '../../src/node/index.ts';
import { launchChromium, openPage } from '../support/example-page.ts';
import { ping, startOAuthBench } from '../support/oauth.ts';
import { credentials } from '../support/sandbox.ts';

describe('a sign-in in Chromium', () => {
  it('goes from the page of consent to the closing page', async () => {
    const { oauth, url } = await startOAuthBench({}, { redirectUri: 'http://localhost/callback' });
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await openPage(browser);
    const problems: string[] = [];
    page.on('console', (message) => {
      // The page of consent has no icon.
      if (!message.location().url.endsWith('/favicon.ico')) problems.push(message.text());
    });
    page.on('pageerror', (error) => void problems.push(String(error)));
    await signInWithBrowser(oauth, {
      open: false,
      async onUrl(address) {
        await page.goto(address);
        await page.getByLabel('Email').fill(credentials.email);
        await page.getByLabel('Password').fill(credentials.password);
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByText(`for ${credentials.email}`).waitFor();
        await page.getByRole('button', { name: 'Allow' }).click();
      },
    });
    await page.getByRole('heading', { name: 'You are signed in.' }).waitFor();
    await page.getByText('You may close this window.').waitFor();
    expect(await page.locator('main').evaluate((main) => getComputedStyle(main).overflowWrap)).toBe('anywhere');
    expect(problems).toEqual([]);
    expect(await ping(oauth, url)).toBe(200);
  });
});
