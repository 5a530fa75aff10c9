import type { LogEntry } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { wordsOf } from './lists.ts';
import { decode } from './snippet-values.ts';

/** Returns the requests that match the text and the method of a query, oldest first. */
export function findRequests(console: ConsoleContext, query: URLSearchParams): readonly LogEntry[] {
  const { log } = console.service.state;
  const words = wordsOf(query);
  const method = query.get('method') ?? '';
  if (words.length === 0 && method === '') return log;
  const matchers = words.map(matcherOf);
  return log.filter(
    (entry) =>
      (method === '' || entry.method === method) &&
      matchers.every((matches) => matches(entry, () => searchText(console, entry))),
  );
}

/** Returns what a word of a search asks for: `status:429`, `method:post`, `account:eve`, or any text. */
function matcherOf(word: string): (entry: LogEntry, text: () => string) => boolean {
  const [, field, value = ''] = /^(status|method|account|fault):(.+)$/.exec(word) ?? [];
  if (field === 'status') return ({ status }) => String(status).startsWith(value);
  if (field === 'method') return ({ method }) => method.toLowerCase() === value;
  if (field === 'account') return ({ account = '' }) => account.toLowerCase().includes(value);
  if (field === 'fault') return ({ fault = '' }) => fault.toLowerCase().includes(value);
  return (_, text) => text().includes(word);
}

const texts = new WeakMap<LogEntry, string>();

/** Returns all that a request can be found by, in small letters. */
function searchText({ recorder }: ConsoleContext, entry: LogEntry): string {
  const kept = texts.get(entry);
  if (kept !== undefined) return kept;
  const { id, method, path, status, account = '', why = '', fault = '' } = entry;
  const recorded = recorder.find(entry);
  const { url = '', headers, body, response = '' } = recorded ?? {};
  const key = headers?.get('idempotency-key') ?? '';
  const text = [
    id,
    method,
    path,
    url && new URL(url).search,
    status || 'no response',
    account,
    why,
    fault,
    key,
    body ? decode(body) : '',
    response,
  ]
    .join(' ')
    .toLowerCase();
  if (recorded) texts.set(entry, text);
  return text;
}
