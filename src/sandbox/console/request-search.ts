import type { LogEntry } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { wordsOf } from './lists.ts';
import { createdBy, namedBy } from './objects.ts';
import { decode } from './snippet-values.ts';

/** Returns the requests that match the text and the method of a query, oldest first. */
export function findRequests(console: ConsoleContext, query: URLSearchParams): readonly LogEntry[] {
  const { log } = console.service.state;
  const words = wordsOf(query);
  const method = query.get('method') ?? '';
  if (words.length === 0 && method === '') return log;
  const matchers = words.map((word) => matcherOf(console, word));
  return log.filter(
    (entry) => (method === '' || entry.method === method) && matchers.every((matches) => matches(entry)),
  );
}

/** Tests for words with a field: `status:429`, `path:/usage`, `id:40` of a resource. Words are in small letters. */
const FIELDS: Readonly<Record<string, (entry: LogEntry, value: string, console: ConsoleContext) => boolean>> = {
  status: ({ status }, value) => String(status).startsWith(value),
  method: ({ method }, value) => method.toLowerCase() === value,
  account: ({ account = '' }, value) => account.toLowerCase().includes(value),
  fault: ({ fault = '' }, value) => fault.toLowerCase().includes(value),
  path: ({ path }, value) => path.toLowerCase().includes(value),
  key: (entry, value, { recorder }) => keyOf(recorder.find(entry)).toLowerCase().includes(value),
  id: (entry, value, console) =>
    createdBy(console, entry) === Number(value) || namedBy(console, entry).includes(Number(value)),
};

function matcherOf(console: ConsoleContext, word: string): (entry: LogEntry) => boolean {
  const [, field = '', value = ''] = /^(\w+):(.+)$/.exec(word) ?? [];
  const matches = Object.hasOwn(FIELDS, field) ? FIELDS[field] : undefined;
  if (matches) return (entry) => matches(entry, value, console);
  return (entry) => searchText(console, entry).includes(word);
}

const keyOf = (recorded: { readonly headers: Headers } | undefined): string =>
  recorded?.headers.get('idempotency-key') ?? '';

const texts = new WeakMap<LogEntry, string>();

/** Returns all that a request can be found by, in small letters: of JSON and forms their values, not the names of their fields. */
function searchText({ recorder }: ConsoleContext, entry: LogEntry): string {
  const kept = texts.get(entry);
  if (kept !== undefined) return kept;
  const { id, method, path, status, account = '', why = '', fault = '' } = entry;
  const recorded = recorder.find(entry);
  const { url = '', body, response = '' } = recorded ?? {};
  const sent = body ? (decode(body) ?? '') : '';
  const query = url && new URL(url).search;
  const values = [valuesOf(sent), valuesOf(response)].flat();
  const parts = [id, method, path, query, status || 'no response', account, why, fault, keyOf(recorded), ...values];
  const text = parts.join(' ').toLowerCase();
  if (recorded) texts.set(entry, text);
  return text;
}

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
