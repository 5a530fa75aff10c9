import { html } from 'hono/html';
import type { HandledRequest } from '../service.ts';
import type { LogEntry } from '../state.ts';
import { actionForm } from './forms.ts';
import { type Content, capital, durationText, type Html, linkButton, note, type Tone, timeElement } from './html.ts';

/** Why a request ended as it did. */
interface Reason {
  readonly tone: Exclude<Tone, ''>;
  readonly title: Content;
  readonly details: readonly Content[];
  readonly actions: readonly Html[];
}

/** Returns how a request ended: refused by the service, or failed, or not. */
export const outcomeOf = ({ status }: LogEntry): 'accepted' | 'refused' | 'failed' =>
  status === 0 || status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'accepted';

/** Errors of the client by status. */
const ERRORS: Readonly<Record<number, string>> = {
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'NotFoundError',
  406: 'NotAcceptableError',
  409: 'ConflictError',
  422: 'ValidationError',
};

/** Returns the reason in one line, for lists. */
export function reasonLine(entry: LogEntry, now: number): Content {
  const { why, fault, replayed, freeAt, status, served } = entry;
  if (fault !== undefined)
    return `Fault: ${fault}${served === undefined ? '' : `, the service had responded with ${served}`}`;
  if (status === 0)
    return served === undefined
      ? 'The client was gone'
      : `The client was gone; the service had responded with ${served}`;
  const free = freeAt === undefined ? '' : html`, free again at ${timeElement(freeAt, now)}`;
  if (status === 429 && why !== undefined) return html`${capital(limitText(entry))}${free}`;
  if (why !== undefined) return why;
  return replayed ? 'Replayed: the stored response of its idempotency key' : '';
}

/** Returns a note with the reason: until when it stands, and what can be done about it. */
export function reasonNote(entry: LogEntry, recorded: HandledRequest | undefined, now: number, speed: number): Html {
  const { tone, title, details, actions } = reasonOf(entry, recorded, now, speed);
  return note(tone, title, { details, actions });
}

function reasonOf(entry: LogEntry, recorded: HandledRequest | undefined, now: number, speed: number): Reason {
  const { status, served, fault, why = '', replayed } = entry;
  if (status === 0) return withoutResponse(entry);
  if (fault?.includes('status')) {
    const retryAfter = recorded?.responseHeaders?.get('retry-after');
    const after = retryAfter ? ` and Retry-After ${retryAfter} s` : '';
    const details = [html`The service did nothing. ${clientGets(entry)}`];
    return {
      tone: status >= 500 ? 'bad' : 'warn',
      title: `Failed: a fault responded with ${status}${after}.`,
      details,
      actions: [faults()],
    };
  }
  const rule = fault === undefined ? [] : [`A fault applied: ${fault}.`];
  const actions = fault === undefined ? [] : [faults()];
  if (status >= 500) return { tone: 'bad', title: `Failed: ${why}`, details: [...rule, clientGets(entry)], actions };
  if (status >= 400) return refused(entry, now, speed, rule);
  const done = replayed
    ? 'Accepted: the stored response of its idempotency key was sent again. Nothing was created twice.'
    : `Accepted: ${recorded?.response === undefined ? `the service responded with ${served ?? status}.` : messageOf(recorded.response)}`;
  return { tone: fault === undefined ? 'good' : 'warn', title: done, details: rule, actions };
}

function withoutResponse({ fault, served }: LogEntry): Reason {
  const acted = served === undefined ? 'before the service had acted' : `after the service had acted (${served})`;
  const title = fault?.includes('cut')
    ? `No response: a fault cut the connection ${acted}.`
    : `No response: the client was gone ${acted}.`;
  const gets = html`Your client gets a <code>ConnectionError</code> with <code>outcome: 'unknown'</code>.`;
  const same = served === undefined ? '' : ' The same idempotency key and body return what was created.';
  return { tone: 'bad', title, details: [html`${gets}${same}`], actions: fault === undefined ? [] : [faults()] };
}

function refused(entry: LogEntry, now: number, speed: number, rule: readonly Content[]): Reason {
  const { why = '', freeAt, status } = entry;
  if (freeAt === undefined || status !== 429) {
    const until =
      freeAt === undefined
        ? ''
        : html` Until ${timeElement(freeAt, now)}, the key belongs to that request: use another one.`;
    const first = why.includes('has not ended')
      ? ' The same key and body return its response as soon as it has ended.'
      : '';
    return {
      tone: 'warn',
      title: html`Refused: ${why}${/[.!?]$/.test(why) ? '' : '.'}`,
      details: [...rule, html`${clientGets(entry)}${until}${first}`],
      actions: [],
    };
  }
  const end = Date.parse(freeAt);
  const left = end - now;
  const countdown = html`<time class="num" data-now="${now}" data-speed="${speed}"
 data-until="${end}">${Math.ceil(left / 1000)} s</time>`;
  const rest = left < 120_000 && speed > 0 ? countdown : durationText(left);
  const when =
    left > 0
      ? html` Free again in ${rest}, ${timeElement(end, now)}.`
      : html` It was free again at ${timeElement(end, now)}.`;
  const advance =
    left > 0
      ? [
          actionForm({
            action: 'POST /api/clock/advance',
            submit: `Advance the clock by ${durationText(left + 999)}`,
            values: { ms: Math.ceil(left) },
          }),
        ]
      : [];
  return {
    tone: 'warn',
    title: html`Refused: ${limitText(entry)}.${when}`,
    details: [...rule, `${why}.`, clientGets(entry)],
    actions: [...advance, linkButton('/limits', 'Change the limit')],
  };
}

/** Returns which limit a request has exceeded. */
function limitText({ bucket, budget, why = '' }: LogEntry): string {
  if (budget) {
    const { hour, day } = budget;
    return `the build budget is used up (${hour.used} of ${hour.limit} an hour, ${day.used} of ${day.limit} a day)`;
  }
  return bucket ? `bucket ${bucket.name} is full (${bucket.used} of ${bucket.limit})` : why;
}

/** Returns what the client reports of a refusal. */
function clientGets({ status, why = '' }: LogEntry): Content {
  const isBudget = status === 429 && why.includes('builds');
  const name = isBudget
    ? 'BuildBudgetError'
    : status === 429
      ? 'RateLimitError'
      : status >= 500
        ? 'ServerError'
        : (ERRORS[status] ?? 'ApiError');
  const outcome = status >= 500 ? 'unknown' : 'refused';
  const waits = status === 429 ? ', or waits for Retry-After and sends it again' : '';
  return html`Your client gets a <code>${name}</code> with <code>outcome: '${outcome}'</code>${waits}.`;
}

const faults = (): Html => linkButton('/faults', 'See the faults');

/** Returns the message of an envelope. */
function messageOf(response: string): string {
  try {
    const { message }: { readonly message?: unknown } = Object(JSON.parse(response));
    return typeof message === 'string' ? message : 'the service has responded.';
  } catch {
    return 'the service has responded.';
  }
}
