import { html } from 'hono/html';
import { clockText, dateText, durationText } from './words.ts';

export type Html = ReturnType<typeof html>;

/** Anything that a template accepts; strings are escaped. */
export type Content = Html | string | number | readonly Content[];

/** Returns a text that users have chosen, with its direction isolated. The title of the element is the complete text. */
export const foreign = (text: string, empty = 'no name'): Html =>
  text === '' ? html`<span class="soft">${empty}</span>` : html`<span title="${text}"><bdi>${text}</bdi></span>`;

/** Returns a time of day in UTC. If the day differs from the day of `now`, returns the date, the hour and the minute. */
function timeText(time: number, now: number, digits = 8): string {
  const isToday = Math.floor(time / 86_400_000) === Math.floor(now / 86_400_000);
  return isToday ? clockText(time, digits) : `${dateText(time, now)}, ${clockText(time, digits)}`;
}

/** Returns a time as an element whose title is the exact time. */
export function timeElement(time: number | string, now: number, digits = 8): Html {
  const date = new Date(time);
  return html`<time class="num" datetime="${date.toISOString()}" title="${date.toISOString()}">${timeText(date.getTime(), now, digits)}</time>`;
}

/** Meaning of a badge or a note, which decides about its color and shape. */
export type Tone = 'good' | 'ok' | 'warn' | 'bad' | 'busy' | '';

export const badge = (tone: Tone, text: Content): Html => html`<span class="${`badge ${tone}`.trim()}">${text}</span>`;

/** Returns the tone of a job's status: completed, waiting for information, failed, or running. */
export const jobTone = (id: number): 'good' | 'warn' | 'bad' | 'busy' =>
  id === 104 || id === 4 ? 'good' : id === 107 ? 'warn' : id >= 400 || id === 5 ? 'bad' : 'busy';

export function jobBadge({ id, name }: { readonly id: number; readonly name: string }): Html {
  const tone = jobTone(id);
  return badge(tone === 'good' ? 'ok' : tone, `${id} ${name}`);
}

/** Returns the status of a response as a badge. With 0 or `undefined`, there was no response. */
export function httpBadge(status: number | undefined): Html {
  if (!status) return badge('bad', 'no response');
  return badge(status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'ok', status);
}

/** Returns a list of names and values. Omits empty values. */
export const facts = (entries: readonly (readonly [name: Content, value: Content])[]): Html =>
  html`<dl class="facts">${entries.map(([name, value]) => (value === '' ? '' : html`<dt>${name}</dt><dd>${value}</dd>`))}</dl>`;

export const live = (id: string, content: Content): Html => html`<section id="${id}" data-live>${content}</section>`;

/** Attributes of an element. Attributes that are `undefined`, `false` or empty are omitted. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

export const attributesOf = (attributes: Attributes): Html[] =>
  Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== false && value !== '')
    .map(([name, value]) => (value === true ? html` ${name}` : html` ${name}="${value}"`));

export const note = (
  tone: Tone,
  title: Content,
  { details = [], actions = [] }: { details?: readonly Content[]; actions?: readonly Html[] } = {},
): Html =>
  html`<div class="note ${tone}"><b class="${tone}">${title}</b>
${details.map((detail) => html`<p>${detail}</p>`)}${actions.length > 0 ? html`<div class="acts">${actions}</div>` : ''}</div>`;

/** A line of smaller text; nothing without a text. */
export const hint = (text: string): Html | '' => text && html`<p class="hint">${text}</p>`;

export const emptyState = (title: string, text: Content, action: Content = ''): Html =>
  html`<div class="empty"><b>${title}</b><p class="soft">${text}</p>${action}</div>`;

export const head = (title: Content, state: Content = '', actions: Content = ''): Html =>
  html`<div class="head"><h1>${title}</h1>${state}${actions === '' ? '' : html`<div class="acts">${actions}</div>`}</div>`;

export const linkButton = (href: string, text: string, style = ''): Html =>
  html`<a class="button ${style}" href="${href}">${text}</a>`;

/** An event: its time, and a text that replaces the time since the previous event. */
export interface Happening {
  readonly at: number;
  readonly content: Content;
  readonly gap?: string;
}

export const timeline = (happenings: readonly Happening[], now: number): Html =>
  html`<ol class="story">${happenings.map(({ at, content, gap }, index) => {
    const earlier = happenings[index - 1];
    const between = earlier ? (gap ?? gapText(at - earlier.at)) : '';
    return html`<li><div>${timeElement(at, now)} <small>${between}</small></div><div>${content}</div></li>`;
  })}</ol>`;

function gapText(exact: number): string {
  const ms = Math.round(exact);
  return ms <= 0 ? '' : `${ms < 1_000 ? `${ms} ms` : durationText(ms)} later`;
}

export const menu = (id: string, label: string, items: readonly Html[]): Html =>
  html`<button type="button" class="small" popovertarget="${id}" aria-label="${label}">Actions</button>
<div id="${id}" class="pop" popover><ul>${items.map((item) => html`<li>${item}</li>`)}</ul></div>`;
