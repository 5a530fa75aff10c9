import { chromium } from 'playwright';
import { CHROMIUM } from '../../scripts/chromium.ts';
import { callOf, type EngineBrowser } from './engines.ts';

/** Starts Chromium, driven by Playwright. */
export async function launch(): Promise<EngineBrowser> {
  // With the back/forward cache, as users have it.
  const browser = await chromium.launch({ ...CHROMIUM, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  const context = await browser.newContext();
  return {
    async newTab() {
      const page = await context.newPage();
      page.setDefaultTimeout(180_000);
      return {
        goto: async (url) => void (await page.goto(url)),
        run: (work, ...args) => page.evaluate(callOf(work, args)),
        click: (selector) => page.click(selector),
        setFile: (selector, path) => page.setInputFiles(selector, path),
        back: async () => void (await page.goBack({ waitUntil: 'commit' })),
        close: () => page.close(),
      };
    },
    close: () => browser.close(),
  };
}
