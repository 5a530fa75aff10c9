import { html } from 'hono/html';
import type { Service } from '../service.ts';
import type { LogEntry } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { advanceBy } from './forms.ts';
import { parsed } from './highlight.ts';
import { badge, type Content, type Html, httpBadge, linkButton, note, timeElement } from './html.ts';
import { numberOf } from './lists.ts';
import { findResource } from './objects.ts';
import type { KeptRequest } from './recorder.ts';
import { namedBy } from './request-search.ts';
import { operationOf } from './request-source.ts';
import { capital, durationText, sentence } from './words.ts';

export const outcomeOf = ({ status, fault = '' }: LogEntry): 'accepted' | 'refused' | 'failed' =>
  status === 0 || status >= 500 || isHalf(fault) ? 'failed' : status >= 400 ? 'refused' : 'accepted';

const isHalf = (fault: string): boolean => /half|cut body/.test(fault);

export const statusBadge = ({ status, fault = '' }: LogEntry): Html =>
  isHalf(fault) ? badge('bad', `${status}, half`) : httpBadge(status);

const ERRORS: Readonly<Record<number, string>> = {
  0: 'ConnectionError',
  401: 'AuthenticationError',
  403: 'PermissionError',
  404: 'NotFoundError',
  406: 'NotAcceptableError',
  409: 'ConflictError',
  422: 'ValidationError',
  429: 'RateLimitError',
};

export function reasonLine(entry: LogEntry): Content {
  const { at, why, fault, replayed, freeAt, status, served } = entry;
  const response = served === undefined ? '' : `, the service had responded with ${served}`;
  if (fault !== undefined) return `Fault: ${fault}${response}`;
  if (status === 0) return `The client disconnected${response}`;
  const free = freeAt === undefined ? '' : html`, available again at ${timeElement(freeAt, Date.parse(at))}`;
  if (status === 429 && why !== undefined) return html`${capital(limitText(entry))}${free}`;
  return why ?? (replayed ? 'Replayed: the stored response for this idempotency key' : '');
}

export function reasonNote(console: ConsoleContext, entry: LogEntry): Html {
  const { status, fault, why = '', freeAt } = entry;
  const recorded: KeptRequest | undefined = console.recorder.find(entry);
  const gets = clientGets(console, entry);
  if (status === 0) return withoutResponse(console, entry, gets);
  if (fault?.includes('status')) {
    const retryAfter = new Headers(recorded?.responseHeaders).get('retry-after');
    const title = `Failed: a fault responded with ${status}${retryAfter ? ` and Retry-After ${retryAfter} s` : ''}.`;
    const details = [html`The service did nothing. ${gets}`];
    return note(status >= 500 ? 'bad' : 'warn', title, { details });
  }
  if (isHalf(fault ?? '')) return note('bad', 'Failed: your client received half of the body.', { details: [gets] });
  if (status >= 500) return note('bad', `Failed: ${sentence(why)}`, { details: [gets] });
  if (status === 429 && freeAt !== undefined) return limited(console, entry, Date.parse(freeAt), gets);
  if (status >= 400) return refused(console, entry, html`${gets}${otherAccount(console, entry)}`);
  const accepted = note(fault === undefined ? 'good' : 'warn', `Accepted: ${acceptedText(entry, recorded)}`);
  return html`${accepted}${expiredNote(console, entry)}`;
}

function acceptedText({ replayed, status }: LogEntry, recorded: KeptRequest | undefined): string {
  if (replayed)
    return 'the service sent the stored response for this idempotency key again, and created nothing twice.';
  const { message } = Object(parsed(recorded?.response ?? ''));
  return typeof message === 'string' ? message : `the service responded with ${status}.`;
}

function withoutResponse(console: ConsoleContext, entry: LogEntry, gets: Content): Html {
  const { fault, served, idempotencyKey } = entry;
  const acted =
    served === undefined
      ? 'before the service processed the request'
      : `after the service had processed the request (status ${served})`;
  const cause = fault?.includes('cut') ? 'a fault cut the connection' : 'the client disconnected';
  const then = isCreate(entry) && !repeatOf(console, entry) ? afterCreate(served, idempotencyKey) : '';
  return html`${note('bad', `No response: ${cause} ${acted}.`, { details: [html`${gets}${then}`] })}${expiredNote(console, entry)}`;
}

function afterCreate(served: number | undefined, idempotencyKey: string | undefined): string {
  if (served === undefined) return ' Nothing was created.';
  if (served >= 400) return ' The service had refused the request, and created nothing.';
  return idempotencyKey !== undefined
    ? ' Within 24 hours, repeat the request with the same idempotency key and body: the response contains the created resource.'
    : ' The request had no idempotency key, so repeating the request creates another resource.';
}

/** Returns a warning if the service no longer replays the response of a create request. */
function expiredNote({ service }: ConsoleContext, entry: LogEntry): Html | '' {
  const { account = '', idempotencyKey: key = '', createdId, replayed } = entry;
  const { expiresAt = 0 } = service.state.accounts.get(account)?.idempotencyKeys.get(key) ?? {};
  if (key === '' || (createdId === undefined && !replayed) || expiresAt > service.clock.now()) return '';
  return note('warn', 'The idempotency key has expired: if you send the request again, it creates another resource.');
}

const isCreate = ({ method, path }: LogEntry): boolean => operationOf(method, path)?.endsWith('.create') ?? false;

function refused({ service }: ConsoleContext, entry: LogEntry, gets: Content): Html {
  const { why = '', freeAt } = entry;
  const now = service.clock.now();
  const isOpen = freeAt !== undefined && Date.parse(freeAt) > now;
  const first = keyOwner(service, entry);
  const owner = first ? html`<a href="/requests/${first.id}">${first.id}</a>` : 'the first request';
  const until = isOpen ? html` Until ${timeElement(freeAt, now)}, the key belongs to ${owner}: use another key.` : '';
  const then = why.includes('has not ended')
    ? ' When the earlier request has ended, repeat this request with the same key. If the earlier request succeeded with the same body, you receive its response.'
    : '';
  return note('warn', `Refused: ${sentence(why)}`, { details: [html`${gets}${until}${then}`] });
}

function limited({ service }: ConsoleContext, entry: LogEntry, end: number, gets: Content): Html {
  const now = service.clock.now();
  const left = end - now;
  const when = html`There ${left > 0 ? `is room again in ${durationText(left)},` : 'was room again'} at ${timeElement(end, now)}.`;
  const advance = left > 0 ? [advanceBy(left, `Advance the clock by ${durationText(left + 999)}`)] : [];
  return note('warn', html`Refused: ${limitText(entry)}. ${when}`, {
    details: [sentence(entry.why ?? ''), gets],
    actions: [...advance, linkButton(`/limits#${entry.budget ? 'budget' : 'rates'}`, 'Change the limit')],
  });
}

function limitText({ bucket, budget, why = '' }: LogEntry): string {
  if (budget) return `the build budget is used up (${buildsText(budget)})`;
  return bucket ? `the ${bucket.name} bucket is full (${bucket.used} of ${bucket.limit} requests)` : why;
}

export const buildsText = ({ hour, day }: NonNullable<LogEntry['budget']>): string =>
  `${hour.used} of ${hour.limit} used in an hour, ${day.used} of ${day.limit} in a day`;

const hasKeyOf = ({ account, idempotencyKey: key }: LogEntry, other: LogEntry): boolean =>
  key !== undefined && other.idempotencyKey === key && other.account === account;

/** Returns the latest earlier request that created a resource with the same idempotency key. */
export const keyOwner = ({ state }: Service, entry: LogEntry): LogEntry | undefined =>
  state.log.findLast(
    (one) => hasKeyOf(entry, one) && one.createdId !== undefined && numberOf(one.id) < numberOf(entry.id),
  );

/** Returns the next request of the account with the same idempotency key. Requests are numbered when they end. */
function repeatOf({ service, recorder }: ConsoleContext, entry: LogEntry): LogEntry | undefined {
  const order = recorder.find(entry)?.started.order ?? 0;
  const isLater = (other: LogEntry): boolean =>
    numberOf(other.id) > numberOf(entry.id) && (recorder.find(other)?.started.order ?? order) >= order;
  return service.state.log.find((other) => hasKeyOf(entry, other) && isLater(other));
}

/** Returns the error of the attempt, and a link to the next request with the same key or else what the client does. */
function clientGets(console: ConsoleContext, entry: LogEntry): Content {
  const { status, why = '', fault = '', path } = entry;
  if (path === '/oauth/authorize') return ''; // a browser has sent it
  const isUnknown = outcomeOf(entry) === 'failed' || status === 408 || why.includes('has not ended');
  const outcome = isCreate(entry) ? html` with <code>outcome: '${isUnknown ? 'unknown' : 'refused'}'</code>` : '';
  const byStatus = status >= 500 ? 'ServerError' : (ERRORS[status] ?? 'ApiError');
  const ofApi = status === 429 && why.includes('builds') ? 'BuildBudgetError' : byStatus;
  const error = path.startsWith('/oauth/') && status > 0 ? 'OAuthError' : ofApi;
  const gets = isHalf(fault) ? 'an error' : html`${/^[AO]/.test(error) ? 'an' : 'a'} <code>${error}</code>`;
  const again = repeatOf(console, entry);
  if (again) {
    const link = html`<a href="/requests/${again.id}">${again.id}</a>`;
    return html`In the client of this package, this attempt fails with ${gets}. A later request has the same key: ${link}, ${again.status ? `status ${again.status}` : 'no response'}.`;
  }
  const waits = status === 429 ? 'waits and sends the request again, or ' : '';
  const renews =
    status === 401 && !path.includes('auth') ? 'sends the request again if it can get a new token, or ' : waits;
  return html`The client of this package ${isUnknown ? 'sends the request again if that is safe, or ' : renews}throws ${gets}${outcome}.`;
}

function otherAccount(console: ConsoleContext, entry: LogEntry): string {
  const other = namedBy(console, entry)
    .map((id) => findResource(console.service, id))
    .find((resource) => resource && resource.account.email !== entry.account);
  if (!other || entry.status !== 404 || entry.account === undefined) return '';
  return ` ${capital(other.kind)} ${other.id} belongs to ${other.account.email}, but the token belongs to ${entry.account}.`;
}
