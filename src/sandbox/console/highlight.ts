import { html } from 'hono/html';
import { attributesOf, type Content, type Html } from './html.ts';
import { withEscapes } from './words.ts';

/** Returns code with a button that copies it. */
export const codeBlock = (id: string, caption: string, code: string, more: Content = ''): Html =>
  html`<figure class="code"><figcaption><span>${caption}</span><span class="acts">${more}
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy: ${caption}">Copy</button></span></figcaption>
<pre id="${id}" class="tall" tabindex="0">${withEscapes(code)}</pre></figure>`;

/** Returns a command of one line with a button that copies it. */
export const commandLine = (id: string, command: string): Html =>
  html`<div class="code one"><pre id="${id}">${command}</pre>
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy the command">Copy</button></div>`;

/** Returns a command for the sandbox at an address, even if others run. */
export const commandAt = (api: string, id: string, command: string): Html =>
  commandLine(id, `AUDIENCE_BASE_URL=${api} npx aud ${command}`);

/** Returns panels, one of which is open. */
export const panels = (entries: readonly (readonly [name: string, content: Content])[]): Html[] =>
  entries.map(
    ([name, content], index) =>
      html`<details name="panels" id="panel-${name}"${attributesOf({ open: index === 0 })}><summary>${name}</summary>${content}</details>`,
  );

/** Returns the value of JSON; `undefined` for other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns JSON in several lines; other text as it is. */
export const prettyJson = (text: string): string => JSON.stringify(parsed(text), undefined, 2) ?? text;
