import { html } from 'hono/html';

/** Escaped HTML. */
export type Html = ReturnType<typeof html>;

/** Anything that a template accepts; strings are escaped. */
export type Content = Html | string | number | readonly Content[];

/** Returns a time: relative, with the exact one as its title. */
export function timeElement(time: number | string, now: number): Html {
  const date = new Date(time);
  const iso = date.toISOString();
  return html`<time datetime="${iso}" title="${iso}">${relativeTime(date.getTime() - now)}</time>`;
}

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** Returns a duration in its two largest units. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000) * 1000;
  const index = UNITS.findIndex(([, size]) => seconds >= size);
  if (index < 0) return '0 s';
  let rest = seconds;
  return UNITS.slice(index, index + 2)
    .map(([unit, size]) => {
      const count = Math.floor(rest / size);
      rest -= count * size;
      return count > 0 ? `${count} ${unit}` : '';
    })
    .filter(Boolean)
    .join(' ');
}

function relativeTime(ms: number): string {
  if (Math.abs(ms) < 1_000) return 'now';
  return ms < 0 ? `${durationText(-ms)} ago` : `in ${durationText(ms)}`;
}

type Tone = 'good' | 'bad' | 'warn' | 'busy' | 'quiet';

/** Returns a word whose colour supports it. */
export const badge = (tone: Tone, text: Content): Html => html`<span class="badge ${tone}">${text}</span>`;

/** Returns the status of a job: completed, waiting for information, failed, or running. */
export function jobBadge({ id, name }: { readonly id: number; readonly name: string }): Html {
  const isDone = id === 104 || id === 4;
  const tone = isDone ? 'good' : id === 107 ? 'warn' : id >= 400 || id === 5 ? 'bad' : 'busy';
  return badge(tone, `${id} ${name}`);
}

/** Returns the status of a response; 0 is a connection that was cut. */
export function httpBadge(status: number | undefined): Html {
  if (!status) return badge('bad', 'no response');
  return badge(status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good', status);
}

/** A table, or what to do if it is empty. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Content[])[],
  empty: Content,
): Html {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  // Roles, because rows are shown as blocks on phones, where the elements lose theirs.
  const cells = (row: readonly Content[]): Html[] =>
    row.map((cell, index) => html`<td role="cell" data-label="${columns[index] ?? ''}"><div>${cell}</div></td>`);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table role="table">
<caption>${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map((column) => html`<th role="columnheader" scope="col">${column}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${cells(row)}</tr>\n`)}</tbody>
</table></div>`;
}

/** Returns a list of names and values. */
export function facts(entries: readonly (readonly [name: string, value: Content])[]): Html {
  return html`<dl class="facts">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Options of a form that does an action. */
interface ActionForm {
  /** Method and path of the endpoint. */
  readonly action: string;
  readonly submit: string;
  readonly fields?: Content;
  /** Fields with a fixed value. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** A question that is asked first. */
  readonly confirm?: string;
  /** Describes the form, if its button alone does not. */
  readonly label?: string;
  /** Page to open when it is done. */
  readonly leave?: string;
}

/** Returns a form that the page's script sends as JSON. */
export function actionForm({ action, submit, fields = '', values = {}, confirm, label, leave }: ActionForm): Html {
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" data-type="${typeof value}">`,
  );
  const isInline = fields === '';
  return html`<form class="${isInline ? 'inline' : 'fields'}" method="post" data-action="${action}"${leave === undefined ? '' : html` data-leave="${leave}"`}${confirm === undefined ? '' : html` data-confirm="${confirm}"`}>
${hidden}${fields}<button${label === undefined ? '' : html` aria-label="${label}"`}>${submit}</button></form>`;
}

/** Returns an input with its label. */
export function input(
  label: string,
  name: string,
  attributes: Readonly<Record<string, string | number | boolean>> = {},
): Html {
  return html`<label>${label} <input name="${name}"${attributesOf(attributes)}></label>`;
}

/** Returns a selection with its label; the first value may be empty. */
export function select(
  label: string,
  name: string,
  options: readonly (readonly [value: string | number, text: string])[],
  current = '',
): Html {
  const isNumber = options.every(([value]) => typeof value === 'number');
  return html`<label>${label} <select name="${name}" data-type="${isNumber ? 'number' : 'string'}">${options.map(
    ([value, text]) =>
      html`<option value="${value}"${String(value) === current ? html` selected` : ''}>${text}</option>`,
  )}</select></label>`;
}

const attributesOf = (attributes: Readonly<Record<string, string | number | boolean>>): Html[] =>
  Object.entries(attributes).map(([name, value]) => (value === true ? html` ${name}` : html` ${name}="${value}"`));

/** Returns a bar that shows how much of a limit is used. */
export function meter(label: string, used: number, limit: number): Html {
  const max = Math.max(1, limit);
  return html`<div class="meter"><span>${label}</span> <progress value="${Math.min(used, max)}" max="${max}" aria-label="${label}"></progress> <span>${used} of ${limit}</span></div>`;
}

/** Returns a part of a page that the script keeps up to date. */
export function live(id: string, content: Content): Html {
  return html`<section id="${id}" data-live>${content}</section>`;
}
