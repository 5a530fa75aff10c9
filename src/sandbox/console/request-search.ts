import type { LogEntry, State } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { wordsOf } from './lists.ts';
import type { KeptRequest } from './recorder.ts';
import { decode } from './request-source.ts';
import { chosenAccount } from './shown-accounts.ts';
import { counted, keptText } from './words.ts';

/** Ids in a path, and in fields such as `audience_id` of a JSON body. */
const IN_PATH = /\/(\d+)(?=\/|$)/g;
const IN_BODY = /"(?:\w+_)?ids?"\s*:\s*\[?"?(\d+)/g;

/**
 * Returns the ids in the path and the body of a request. If the body is not kept, uses the definition of the resource
 * that the request created.
 */
export function namedBy({ service, recorder }: ConsoleContext, entry: LogEntry): readonly number[] {
  const { path, account = '', createdId = 0 } = entry;
  const kept = recorder.find(entry)?.body;
  const body = kept
    ? textOf(kept)
    : JSON.stringify(service.state.accounts.get(account)?.definitions.get(createdId)?.body);
  return [...path.matchAll(IN_PATH), ...(body ?? '').matchAll(IN_BODY)].map(([, id]) => Number(id));
}

export function unsearchedText({ service, recorder }: ConsoleContext): string {
  const isUnsearched = (kept: KeptRequest | undefined): boolean => kept === undefined || kept.isBodyDropped === true;
  const unsearched = service.state.log.filter((entry) => isUnsearched(recorder.find(entry))).length;
  if (unsearched === 0) return '';
  return `The bodies of ${counted(unsearched, 'request')} are not kept: the search finds these requests only by other values, such as path, status and reason.`;
}

export const keptRequests = ({ log, requestCount }: State): string => keptText('requests', log.length, requestCount);

export const requestsAbout = (console: ConsoleContext, id: number): LogEntry[] =>
  console.service.state.log.filter((entry) => isAbout(console, entry, id));

const isAbout = (console: ConsoleContext, entry: LogEntry, id: number): boolean =>
  entry.createdId === id || namedBy(console, entry).includes(id);

const textOf = (body: KeptRequest['body']): string => (body && decode(body)) ?? '';

/** Returns the requests that match the text and the account of a query, oldest first. */
export function findRequests(console: ConsoleContext, query: URLSearchParams): readonly LogEntry[] {
  const { log } = console.service.state;
  const words = wordsOf(query);
  const { email } = chosenAccount(console, query) ?? {};
  if (words.length === 0 && email === undefined) return log;
  const matchers = words.map((word) => matcherOf(console, word));
  return log.filter(
    (entry) => (email === undefined || entry.account === email) && matchers.every((matches) => matches(entry)),
  );
}

/** Tests for words with a field, such as `status:429`, `path:/usage`, or `id:40` of a resource or `id:req_7`. Words are in lower case. */
const FIELDS: Readonly<Record<string, (entry: LogEntry, value: string, console: ConsoleContext) => boolean>> = {
  status: ({ status }, value) => String(status).startsWith(value),
  path: ({ path }, value) => path.toLowerCase().includes(value),
  key: ({ idempotencyKey = '' }, value) => idempotencyKey.toLowerCase().includes(value),
  id: (entry, value, console) => entry.id === value || isAbout(console, entry, Number(value)),
};

function matcherOf(console: ConsoleContext, word: string): (entry: LogEntry) => boolean {
  const [, field = '', value = ''] = /^(\w+):(.+)$/.exec(word) ?? [];
  const matches = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (matches) return (entry) => matches(entry, value, console);
  return (entry) => searchText(console, entry).includes(word);
}

const searchTexts = new WeakMap<KeptRequest, string>();

/** Returns the searchable text of a request in lower case. For JSON and forms, it contains the values without the field names. */
function searchText({ recorder }: ConsoleContext, entry: LogEntry): string {
  const { id, method, path, status, account, why, fault, idempotencyKey, name, createdId } = entry;
  const recorded = recorder.find(entry);
  const known = recorded && searchTexts.get(recorded);
  if (known !== undefined) return known;
  const { url = '', body, response = '' }: Partial<KeptRequest> = recorded ?? {};
  const query = url && new URL(url).search;
  const values = [...valuesOf(textOf(body)), ...valuesOf(response)];
  const own = [id, method, path, query, status || 'no response', account, why, fault, idempotencyKey, name, createdId];
  const text = [...own, ...values].join(' ').toLowerCase();
  if (recorded) searchTexts.set(recorded, text);
  return text;
}

function valuesOf(body: string): readonly unknown[] {
  // Skip empty bodies: a parser error for each of them would take most of the time of a search.
  if (body === '') return [];
  try {
    const values: unknown[] = [];
    JSON.parse(body, (_, value: unknown) => {
      if (typeof value !== 'object') values.push(value);
      return undefined;
    });
    return values;
  } catch {
    return /^[\w.-]+=[^\s]*$/.test(body) ? [...new URLSearchParams(body).values()] : [body];
  }
}

export const valueText = (value: object): string => valuesOf(JSON.stringify(value)).join(' ');
