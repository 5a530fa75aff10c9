import { html } from 'hono/html';
import type { HandledRequest } from '../service.ts';
import type { LogEntry } from '../state.ts';
import { advanceBy } from './forms.ts';
import { parsed } from './highlight.ts';
import { type Content, type Html, linkButton, note, timeElement } from './html.ts';
import { operationOf } from './request-source.ts';
import { capital, durationText, sentence } from './words.ts';

export const outcomeOf = ({ status, fault = '' }: LogEntry): 'accepted' | 'refused' | 'failed' =>
  status === 0 || status >= 500 || isHalf(fault) ? 'failed' : status >= 400 ? 'refused' : 'accepted';

const isHalf = (fault: string): boolean => /half|cut body/.test(fault);

const ERRORS: Readonly<Record<number, string>> = {
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'NotFoundError',
  406: 'NotAcceptableError',
  409: 'ConflictError',
  422: 'ValidationError',
  429: 'RateLimitError',
};

/** The reaction of the client to an incomplete response. */
const LOST = "Your client sends it again if that is safe, or throws an error with outcome: 'unknown'.";

export function reasonLine(entry: LogEntry): Content {
  const { at, why, fault, replayed, freeAt, status, served } = entry;
  const response = served === undefined ? '' : `, the service had responded with ${served}`;
  if (fault !== undefined) return `Fault: ${fault}${response}`;
  if (status === 0) return `The client was gone${response}`;
  const free = freeAt === undefined ? '' : html`, free again at ${timeElement(freeAt, Date.parse(at))}`;
  if (status === 429 && why !== undefined) return html`${capital(limitText(entry))}${free}`;
  return why ?? (replayed ? 'Replayed: the stored response of its idempotency key' : '');
}

/** Returns a note with the reason: until when it stands, and what can be done about it. */
export function reasonNote(entry: LogEntry, recorded: HandledRequest | undefined, now: number): Html {
  const { status, fault, why = '', freeAt } = entry;
  if (status === 0) return withoutResponse(entry, recorded);
  if (fault?.includes('status')) {
    const retryAfter = recorded?.responseHeaders?.get('retry-after');
    const title = `Failed: a fault responded with ${status}${retryAfter ? ` and Retry-After ${retryAfter} s` : ''}.`;
    const details = [html`The service did nothing. ${clientGets(entry)}`];
    return note(status >= 500 ? 'bad' : 'warn', title, { details });
  }
  const rule = fault === undefined ? [] : [`A fault applied: ${fault}.`];
  if (isHalf(fault ?? ''))
    return note('bad', 'Failed: your client got half of the body.', { details: [...rule, LOST] });
  if (status >= 500) return note('bad', `Failed: ${sentence(why)}`, { details: [...rule, clientGets(entry)] });
  if (status === 429 && freeAt !== undefined) return limited(entry, Date.parse(freeAt), now, rule);
  if (status >= 400) return refused(entry, now, rule);
  const title = `Accepted: ${acceptedText(entry, recorded)}`;
  return note(fault === undefined ? 'good' : 'warn', title, { details: rule });
}

function acceptedText({ replayed, served, status }: LogEntry, recorded: HandledRequest | undefined): string {
  if (replayed) return 'the stored response of its idempotency key was sent again. Nothing was created twice.';
  if (recorded?.response === undefined) return `the service responded with ${served ?? status}.`;
  const { message } = Object(parsed(recorded.response));
  return typeof message === 'string' ? message : 'the service has responded.';
}

function withoutResponse(entry: LogEntry, recorded: HandledRequest | undefined): Html {
  const { fault, served } = entry;
  const acted = served === undefined ? 'before the service had acted' : `after the service had acted (${served})`;
  const cause = fault?.includes('cut') ? 'a fault cut the connection' : 'the client was gone';
  const gets = html`Your client gets a <code>ConnectionError</code>${outcome(entry, 'unknown')}.`;
  const then = isCreate(entry) ? afterCreate(served, recorded?.headers.has('idempotency-key')) : '';
  return note('bad', `No response: ${cause} ${acted}.`, { details: [html`${gets}${then}`] });
}

/** Returns the effect of a create request whose response was lost, and the effect of repeating it. */
function afterCreate(served: number | undefined, hasKey: boolean | undefined): string {
  if (served === undefined) return ' Nothing was created.';
  if (served >= 400) return ' The service had refused it: nothing was created.';
  if (hasKey === undefined) return '';
  return hasKey
    ? ' The same idempotency key and body return what was created.'
    : ' It had no idempotency key: the same request creates another one.';
}

const isCreate = ({ method, path }: LogEntry): boolean => operationOf(method, path)?.endsWith('.create') ?? false;

const outcome = (entry: LogEntry, value: string): Html | '' =>
  isCreate(entry) ? html` with <code>outcome: '${value}'</code>` : '';

function refused(entry: LogEntry, now: number, rule: readonly Content[]): Html {
  const { why = '', freeAt } = entry;
  const isOpen = freeAt !== undefined && Date.parse(freeAt) > now;
  const until = isOpen
    ? html` Until ${timeElement(freeAt, now)}, the key belongs to that request: use another one.`
    : '';
  const isRunning = why.includes('has not ended');
  const first = isRunning ? ' The same key and body return its response as soon as it has ended.' : '';
  return note('warn', `Refused: ${sentence(why)}`, { details: [...rule, html`${clientGets(entry)}${until}${first}`] });
}

function limited(entry: LogEntry, end: number, now: number, rule: readonly Content[]): Html {
  const left = end - now;
  const time = timeElement(end, now);
  const when = left > 0 ? html`Free again in ${durationText(left)}, at ${time}.` : html`It was free again at ${time}.`;
  const advance = left > 0 ? [advanceBy(left, `Advance the clock by ${durationText(left + 999)}`)] : [];
  return note('warn', html`Refused: ${limitText(entry)}. ${when}`, {
    details: [...rule, sentence(`${entry.why}`), clientGets(entry)],
    actions: [...advance, linkButton('/limits', 'Change the limit')],
  });
}

function limitText({ bucket, budget, why = '' }: LogEntry): string {
  if (budget) {
    const { hour, day } = budget;
    return `the build budget is used up (${hour.used} of ${hour.limit} an hour, ${day.used} of ${day.limit} a day)`;
  }
  return bucket ? `bucket ${bucket.name} is full (${bucket.used} of ${bucket.limit})` : why;
}

function clientGets(entry: LogEntry): Content {
  const { status, why = '' } = entry;
  const isBudget = status === 429 && why.includes('builds');
  const byStatus = status >= 500 ? 'ServerError' : (ERRORS[status] ?? 'ApiError');
  const waits = status === 429 ? ', or waits for Retry-After and sends it again' : '';
  const error = isBudget ? 'BuildBudgetError' : byStatus;
  return html`Your client gets a <code>${error}</code>${outcome(entry, status >= 500 ? 'unknown' : 'refused')}${waits}.`;
}
