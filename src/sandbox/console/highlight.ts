import { html } from 'hono/html';
import type { Content, Html } from './html.ts';
import { withEscapes } from './words.ts';

export const codeBlock = (id: string, caption: string, code: string, more: Content = ''): Html =>
  html`<figure class="code"><figcaption><span>${caption}</span><span class="acts">${more}
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy: ${caption}">Copy</button></span></figcaption>
<pre id="${id}" class="tall" tabindex="0">${withEscapes(code)}</pre></figure>`;

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
export const prettyJson = (text: string): string => JSON.stringify(parsed(text), undefined, 2) ?? text;
