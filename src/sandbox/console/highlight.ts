import { html } from 'hono/html';
import { attributesOf, type Content, type Html } from './html.ts';

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
    const kind = comment ? 'c' : string === undefined ? (number ? 'n' : 'k') : isName ? 'k' : 's';
    parts.push(code.slice(end, index), html`<span class="${kind}">${token}</span>`);
    end = index + token.length;
  }
  return [...parts, code.slice(end)];
}

/** Returns code with a button that copies it. */
export const codeBlock = (id: string, caption: string, code: string, more: Content = ''): Html =>
  html`<figure class="code"><figcaption><span>${caption}</span><span class="acts">${more}
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy: ${caption}">Copy</button></span></figcaption>
<pre id="${id}" class="tall" tabindex="0">${highlight(code)}</pre></figure>`;

/** Returns a command of one line with a button that copies it; a `rule` of a fault is described by the script. */
export const commandLine = (id: string, command: string, rule?: string): Html =>
  html`<div class="code one"><pre id="${id}"${attributesOf({ 'data-rule': rule })}>${highlight(command)}</pre>
<button type="button" class="quiet small" data-copy="${id}" aria-label="Copy the command">Copy</button></div>`;

/** Returns a command for the sandbox at an address, whichever others run. */
export const commandAt = (api: string, id: string, command: string): Html =>
  commandLine(id, `AUDIENCE_BASE_URL=${api} npx aud ${command}`);

/** Returns panels of which one is shown, chosen by radio buttons. */
export function tabs(
  name: string,
  panels: readonly (readonly [value: string, label: string, content: Content])[],
): Html {
  const radios = panels.map(([value, label], index) => {
    const radio = attributesOf({ type: 'radio', name, value, checked: index === 0 });
    return html`<label><input${radio}> ${label}</label>`;
  });
  const contents = panels.map(([, , content]) => html`<div class="tab">${content}</div>`);
  return html`<div class="tabs"><fieldset class="seg"><legend class="sr">Show as</legend>${radios}</fieldset>${contents}</div>`;
}

/** Returns JSON in several lines; other text as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
