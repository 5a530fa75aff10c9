import { html } from 'hono/html';
import { attributesOf, type Content, type Html } from './html.ts';
import { withEscapes } from './words.ts';

/** Strings, comments, numbers and keywords of TypeScript, JSON and shells. A string without an end is one, too: nothing is read twice. */
const TOKENS = new RegExp(
  [
    /(?<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\.)*`?)/,
    /(?<comment>(?<!:)\/\/[^\n]*|(?<=\s)#\s[^\n]*)/,
    /\b(?<number>\d[\d_.]*)\b/,
    /\b(?<word>import|from|const|new|await|async|export|return|true|false|null|curl|npx|aud)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Longest text that is coloured. */
const MAX_LENGTH = 20_000;

function highlight(code: string): readonly (Html | string)[] {
  if (code.length > MAX_LENGTH) return [code];
  const parts: (Html | string)[] = [];
  let end = 0;
  for (const { 0: token, index, groups = {} } of code.matchAll(TOKENS)) {
    const { string, comment, number } = groups;
    const isName = string !== undefined && /^\s*:/.test(code.slice(index + token.length, index + token.length + 3));
    const kind = comment ? 'soft' : string === undefined ? (number ? 'busy' : 'k') : isName ? 'k' : 'good';
    parts.push(code.slice(end, index), html`<span class="${kind}">${token}</span>`);
    end = index + token.length;
  }
  return [...parts, code.slice(end)];
}

/** Returns code with a button that copies it. */
export const codeBlock = (id: string, caption: string, code: string, more: Content = ''): Html =>
  html`<figure class="code"><figcaption><span>${caption}</span><span class="acts">${more}
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy: ${caption}">Copy</button></span></figcaption>
<pre id="${id}" class="tall" tabindex="0">${highlight(withEscapes(code))}</pre></figure>`;

/** Returns a command of one line with a button that copies it. */
export const commandLine = (id: string, command: string): Html =>
  html`<div class="code one"><pre id="${id}">${highlight(command)}</pre>
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy the command">Copy</button></div>`;

/** Returns a command for the sandbox at an address, whichever others run. */
export const commandAt = (api: string, id: string, command: string): Html =>
  commandLine(id, `AUDIENCE_BASE_URL=${api} npx aud ${command}`);

/** Returns panels of which one is open. */
export const panels = (entries: readonly (readonly [name: string, content: Content])[]): Html[] =>
  entries.map(
    ([name, content], index) =>
      html`<details name="panels" id="panel-${name}"${attributesOf({ open: index === 0 })}><summary>${name}</summary>${content}</details>`,
  );

/** Returns JSON in several lines; other text as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
