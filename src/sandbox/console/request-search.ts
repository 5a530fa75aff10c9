import type { LogEntry, State } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { wordsOf } from './lists.ts';
import type { KeptRequest } from './recorder.ts';
import { redactText } from './redact-request.ts';
import { chosenAccount } from './shown-accounts.ts';
import { decode, parsed } from './snippet-values.ts';
import { count, counted } from './words.ts';

/** Keeps what a request says for as long as it is in the log, also when its details are not kept any more. */
function remembered<T>(find: (console: ConsoleContext, entry: LogEntry, recorded: Partial<KeptRequest>) => T) {
  const values = new WeakMap<LogEntry, T>();
  const remember = (console: ConsoleContext, entry: LogEntry): T => {
    const kept = values.get(entry);
    if (kept !== undefined) return kept;
    const recorded = console.recorder.find(entry);
    const value = find(console, entry, recorded ?? {});
    if (recorded && value !== undefined) values.set(entry, value);
    return value;
  };
  return Object.assign(remember, { has: (entry: LogEntry) => values.has(entry) });
}

/** Returns the id of the resource that a request has created; `undefined` if it has created none. */
export const createdBy = remembered(({ service }, entry, { response = '' }) => {
  const { method, path, status, served = status, replayed } = entry;
  if (method !== 'POST' || served < 200 || served >= 300 || replayed) return undefined;
  const isCreate = Object.entries(service.operations).some(
    ([name, operation]) => name.endsWith('.create') && operation.path === path,
  );
  if (!isCreate) return undefined;
  const { data } = Object(parsed(response));
  const { id } = Object(Array.isArray(data) ? data[0] : data);
  return typeof id === 'number' ? id : undefined;
});

/** Ids in a path, and in fields of a JSON body such as `audience_id`. */
const IN_PATH = /\/(\d+)(?=\/|$)/g;
const IN_BODY = /"(?:\w+_)?ids?"\s*:\s*\[?"?(\d+)/g;

/** Returns the ids of the resources that a request names, in its path or its body. */
export const namedBy = remembered((_, { path }, { body }): readonly number[] => {
  const ids = [...path.matchAll(IN_PATH), ...textOf(body).matchAll(IN_BODY)];
  return ids.map(([, id]) => Number(id));
});

/** Returns the name in the body of a request; an empty string if it has none. */
export const nameIn = remembered((_, __, { body }) => {
  const { name } = Object(parsed(textOf(body)));
  return typeof name === 'string' ? redactText(name) : '';
});

/** Returns the idempotency key of a request; an empty string if it has none. */
const keyOf = remembered((_, __, { headers }) => headers?.get('idempotency-key') ?? '');

/** Keeps the key, the name and the ids of a request whose details are about to be dropped. */
export function rememberRequest(console: ConsoleContext, entry: LogEntry): void {
  for (const find of [createdBy, namedBy, nameIn, keyOf]) find(console, entry);
}

const isWithoutBody = (kept: KeptRequest | undefined): boolean => kept === undefined || kept.isBodyDropped === true;

/** Returns what a search cannot look into: the requests without their bodies, and of these the ones of which nothing was kept. */
export function unsearchedText({ service, recorder }: ConsoleContext): string {
  const without = service.state.log.filter((entry) => isWithoutBody(recorder.find(entry)));
  const unknown = without.filter((entry) => !keyOf.has(entry)).length;
  const parts = [
    [without.length - unknown, 'The bodies of', 'path, key, name, created id and reason'],
    [unknown, 'The details of', 'path and reason'],
  ] as const;
  return parts
    .flatMap(([number, what, by]) =>
      number === 0 ? [] : [`${what} ${counted(number, 'request')} are not kept: found by ${by} only.`],
    )
    .join(' ');
}

/** Returns how many requests are kept, if the log has dropped some; otherwise an empty string. */
export const keptText = ({ log, requestCount }: State): string =>
  requestCount > log.length ? `the last ${count(log.length)} of ${count(requestCount)} requests` : '';

/** Returns the requests that have created a resource, or name it, oldest first. */
export const requestsAbout = (console: ConsoleContext, id: number): LogEntry[] =>
  console.service.state.log.filter((entry) => isAbout(console, entry, id));

const isAbout = (console: ConsoleContext, entry: LogEntry, id: number): boolean =>
  createdBy(console, entry) === id || namedBy(console, entry).includes(id);

const textOf = (body: KeptRequest['body']): string => (body && decode(body)) ?? '';

/** Returns the requests that match the text and the method of a query, oldest first. */
export function findRequests(console: ConsoleContext, query: URLSearchParams): readonly LogEntry[] {
  const { log } = console.service.state;
  const words = wordsOf(query);
  const method = query.get('method') ?? '';
  const { email } = chosenAccount(console, query) ?? {};
  if (words.length === 0 && method === '' && email === undefined) return log;
  const matchers = words.map((word) => matcherOf(console, word));
  return log.filter(
    (entry) =>
      (method === '' || entry.method === method) &&
      (email === undefined || entry.account === email) &&
      matchers.every((matches) => matches(entry)),
  );
}

/** Tests for words with a field: `status:429`, `path:/usage`, `id:40` of a resource. Words are in small letters. */
const FIELDS: Readonly<Record<string, (entry: LogEntry, value: string, console: ConsoleContext) => boolean>> = {
  status: ({ status }, value) => String(status).startsWith(value),
  method: ({ method }, value) => method.toLowerCase() === value,
  account: ({ account = '' }, value) => account.toLowerCase().includes(value),
  fault: ({ fault = '' }, value) => fault.toLowerCase().includes(value),
  path: ({ path }, value) => path.toLowerCase().includes(value),
  key: (entry, value, console) => keyOf(console, entry).toLowerCase().includes(value),
  id: (entry, value, console) => isAbout(console, entry, Number(value)),
};

function matcherOf(console: ConsoleContext, word: string): (entry: LogEntry) => boolean {
  const [, field = '', value = ''] = /^(\w+):(.+)$/.exec(word) ?? [];
  const matches = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (matches) return (entry) => matches(entry, value, console);
  return (entry) => searchText(console, entry).includes(word);
}

/** Returns the searchable text of a request in lower case. For JSON and forms, it contains the values without the field names. */
const searchText = remembered((console, entry, recorded) => {
  const { id, method, path, status, account = '', why = '', fault = '' } = entry;
  const { url = '', body, response = '' } = recorded;
  const query = url && new URL(url).search;
  const values = [...valuesOf(textOf(body)), ...valuesOf(response)];
  const parts = [id, method, path, query, status || 'no response', account, why, fault, ...values];
  parts.push(keyOf(console, entry), nameIn(console, entry), createdBy(console, entry) ?? '');
  return parts.join(' ').toLowerCase();
});

/** Returns the values in a body, whatever its type. */
function valuesOf(body: string): readonly unknown[] {
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

/** Returns the values of an object as a string that a search finds, without the names of its fields. */
export const valueText = (value: object): string => valuesOf(JSON.stringify(value)).join(' ');
