import { html } from 'hono/html';
import { type Content, classOf, type Html, type Tone } from './html.ts';
import { durationText } from './words.ts';

/** Something that happened: when, in which colour, and what is said in place of the time since the one before. */
export interface Happening {
  readonly at: number;
  readonly tone: Tone;
  readonly content: Content;
  readonly gap?: string;
}

/** Returns what happened, one after the other, with the time in between. */
export const timeline = (happenings: readonly Happening[]): Html =>
  html`<ol class="steps">${happenings.map(({ at, tone, content, gap }, index) => {
    const earlier = happenings[index - 1];
    const between = earlier ? (gap ?? gapText(at - earlier.at)) : '';
    const before = between === '' ? '' : html`<li class="gap">${between}</li>`;
    return html`${before}<li${classOf(tone && `is-${tone}`)}>${content}</li>`;
  })}</ol>`;

function gapText(exact: number): string {
  const ms = Math.round(exact);
  if (ms === 0) return 'same time';
  return `${ms < 1_000 ? `${ms} ms` : durationText(ms)} later`;
}
