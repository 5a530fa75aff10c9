import { expect } from 'vitest';
import type { Tab } from './engines.ts';
import { eventually } from './eventually.ts';

/** Fills in a field. */
export const fill = (tab: Tab, selector: string, value: string): Promise<void> =>
  tab.run(
    (at, text) => {
      const field = document.querySelector<HTMLInputElement>(at);
      if (!field) throw new Error(`The page has no ${at}.`);
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    },
    selector,
    value,
  );

/** Waits until a page shows a string, or what a pattern matches. */
export const sees = (tab: Tab, text: string | RegExp): Promise<void> =>
  eventually(async () => expect(await tab.run(() => document.body.innerText)).toMatch(text));
