import { html } from 'hono/html';
import type { LogEntry } from '../state.ts';
import { count, type Html } from './html.ts';

const MINUTE_MS = 60_000;
const MINUTES = 60;
const HEIGHT = 20;
/** Height of the highest bar, above which there is space for one that is rounded up. */
const MAX_BAR = HEIGHT - 2;

/** Outcomes of requests, in the order in which a bar shows them, from below. */
const OUTCOMES = ['accepted', 'refused', 'failed'] as const;
const TONES = { accepted: 'soft', refused: 'warn', failed: 'bad' } as const;
type Outcome = (typeof OUTCOMES)[number];

/** Returns how a request ended: refused by the service, or failed, or not. */
export const outcomeOf = ({ status }: LogEntry): Outcome =>
  status === 0 || status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'accepted';

/** Draws the requests of each minute of the last hour, if they are of several minutes; `list` begins with the latest one. */
export function requestChart(list: readonly LogEntry[], now: number): Html | '' {
  const minutes = new Map<number, Record<Outcome, number>>();
  const current = Math.floor(now / MINUTE_MS);
  let counts: Record<Outcome, number> | undefined;
  let prefix = '';
  for (const entry of list) {
    // Most requests are of the same minute as the one before: a time is parsed once a minute.
    if (!counts || !entry.at.startsWith(prefix)) {
      const minute = MINUTES - 1 - current + Math.floor(Date.parse(entry.at) / MINUTE_MS);
      if (minute < 0) break;
      prefix = entry.at.slice(0, 'YYYY-MM-DDTHH:MM'.length);
      counts = minutes.get(minute) ?? { accepted: 0, refused: 0, failed: 0 };
      minutes.set(minute, counts);
    }
    counts[outcomeOf(entry)]++;
  }
  if (minutes.size < 2) return '';
  const heights = [...minutes.values()].map(({ accepted, refused, failed }) => accepted + refused + failed);
  const most = Math.max(...heights);
  const paths = { accepted: '', refused: '', failed: '' };
  const totals = { accepted: 0, refused: 0, failed: 0 };
  for (const [minute, numbers] of minutes) {
    let top = HEIGHT;
    for (const outcome of OUTCOMES) {
      // A single failure must be seen beside a hundred requests.
      const height = numbers[outcome] === 0 ? 0 : Math.max(1, Math.round((numbers[outcome] / most) * MAX_BAR));
      if (height > 0) paths[outcome] += `M${minute} ${top}h.8v-${height}h-.8z`;
      top -= height;
      totals[outcome] += numbers[outcome];
    }
  }
  const legend = OUTCOMES.map(
    (outcome, index) =>
      html`${index === 0 ? '' : ', '}<span class="${TONES[outcome]}">${count(totals[outcome])} ${outcome}</span>`,
  );
  return html`<figure class="chart"><svg viewBox="0 0 ${MINUTES} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${OUTCOMES.map((outcome) => html`<path class="${TONES[outcome]}" d="${paths[outcome]}"/>`)}</svg><figcaption class="soft">In the last hour: ${legend}; at most ${count(most)} a minute</figcaption></figure>`;
}
