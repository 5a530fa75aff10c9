import { setTimeout } from 'node:timers/promises';
import { launch as launchFirefox } from 'puppeteer-core';
import { FIREFOX } from '../../scripts/firefox.ts';
import { callOf, type EngineBrowser } from './engines.ts';

/** Starts Firefox, driven by Puppeteer over WebDriver BiDi, which Debian's Firefox supports as it is. */
export async function launch(): Promise<EngineBrowser> {
  const browser = await launchFirefox({ browser: 'firefox', executablePath: FIREFOX });
  return {
    async newTab() {
      // A window: the timers of a tab in the background would be slow.
      const page = await browser.newPage({ type: 'window' });
      page.setDefaultTimeout(180_000);
      page.setDefaultNavigationTimeout(60_000);
      return {
        goto: async (url) => void (await page.goto(url)),
        run: (work, ...args) => page.evaluate(callOf(work, args)) as never,
        click: (selector) => page.locator(selector).click(),
        async setFile(selector, path) {
          const input = await page.waitForSelector<'input'>(selector as 'input');
          await input?.uploadFile(path);
        },
        // `page.goBack` does not notice that a page returns from the back/forward cache.
        async back() {
          const left = await page.evaluate('location.href');
          await page.evaluate('history.back()');
          for (let tries = 0; tries < 3_000; tries++) {
            if ((await page.evaluate('location.href').catch(() => left)) !== left) return;
            await setTimeout(20);
          }
          throw new Error(`Waited 60 s for Firefox to go back from ${left}.`);
        },
        close: () => page.close(),
      };
    },
    close: () => browser.close(),
  };
}
