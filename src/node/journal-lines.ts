import { randomUUID } from 'node:crypto';
import { JournalError } from '../errors/journal-errors.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { isObject, parseJson } from '../util/json.ts';

/** State of a key in a journal. */
export interface JournalEntry {
  /** Id of the created resource. Not set until a response has arrived. */
  readonly id?: number;
  /**
   * Idempotency key of the create request, which depends on the body. Not set if the journal contains no create request
   * for the key.
   */
  readonly sent?: string;
  /** Time at which the create request was first sent. */
  readonly at?: Date;
  /** Data that the `run` command has recorded for a completed row of its input file. */
  readonly done?: JsonObject;
  /** How often `forget` was called for the key. */
  readonly forgotten: number;
  /** Name of the namespace, such as `audiences`. Not set if it is unknown, for example in journals of version 0.3. */
  readonly kind?: string;
  /** The file of an import. */
  readonly file?: ImportedFile;
  /** @internal Salted hash of the email of the credentials or, without credentials, of the token. */
  readonly by?: string;
  /** @internal Salted hash of the email of the creator in the response. */
  readonly account?: string;
}

/** Data with which a journal recognizes the file of {@link Journal.import}. */
export interface ImportedFile {
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly hash: string;
  /** Time of the last change in milliseconds since 1970. Not set if you passed the file as a `Blob`. */
  readonly time?: number;
  /** `reference` of the last upload. */
  readonly reference: string;
}

/** A line of a journal after its header. */
export type JournalLine = { readonly key: string } & (
  | ({ readonly sent: string; readonly at: string } & Pick<JournalEntry, 'kind' | 'by' | 'file'>)
  | ({ readonly id: number } & Pick<JournalEntry, 'account'>)
  | { readonly refused: string }
  | { readonly done: JsonObject }
  | { readonly forget: true }
);

export interface JournalContent {
  readonly id: string;
  readonly entries: Map<string, JournalEntry>;
  /** Number of bytes to keep. Later bytes are an incomplete line. */
  readonly size: number;
  /** Header line of a new journal. Empty if the file already has a header. */
  readonly header: string;
}

const UNUSED: JournalEntry = { forgotten: 0 };

/** Beginning of every journal of this version. */
const HEADER_START = '{"journal":1,';

/** Returns the entry of a key, updated with a further line. */
export function entryAfter(entry: JournalEntry = UNUSED, line: JournalLine): JournalEntry {
  const { id, done, forgotten } = entry;
  if ('forget' in line) return { forgotten: forgotten + 1 };
  if ('done' in line) return { ...entry, done: line.done };
  if ('id' in line) return { ...entry, id: line.id, ...(line.account !== undefined && { account: line.account }) };
  // Never replace an id: a suspended process may write a line late.
  if (id !== undefined) return entry;
  if ('sent' in line) {
    const { key: _, at, ...intent } = line;
    return { ...(done && { done }), forgotten, ...intent, at: new Date(at) };
  }
  return line.refused === entry.sent ? { forgotten, ...(done && { done }) } : entry;
}

/**
 * Parses a journal. Ignores an incomplete last line: the client sends nothing before the line is complete.
 *
 * @throws {JournalError} `journal-invalid` if the file is not a journal, is damaged, or belongs to another service.
 * @param service Address of the service. @default the address in the journal
 */
export function parseJournal(bytes: Buffer, path: string, service?: string): JournalContent {
  const invalid = (message: string, advice: string): JournalError =>
    new JournalError(message, { code: 'journal-invalid', path, advice });
  const size = bytes.lastIndexOf('\n') + 1;
  // Before a crash, a file system may have extended the file without writing data.
  const start = bytes.toString('utf8', 0, HEADER_START.length).replace(/\0+$/, '');
  if (size === 0 && HEADER_START.startsWith(start)) {
    const header = { journal: 1, id: randomUUID(), service };
    return { id: header.id, entries: new Map(), size, header: `${JSON.stringify(header)}\n` };
  }
  const [first = '', ...lines] = bytes.toString('utf8', 0, size).split('\n');
  const header = parseJson(first);
  if (!isObject(header) || header.journal !== 1 || typeof header.id !== 'string')
    throw invalid(`${path} is not a journal of this version. The file was not changed.`, 'Use another file.');
  if (service !== undefined && header.service !== service)
    throw invalid(
      `${path} was written for ${header.service}, not ${service}.`,
      'Use a separate file for each service.',
    );
  const entries = new Map<string, JournalEntry>();
  for (const [index, text] of lines.entries()) {
    if (text.trim() === '') continue;
    const line = parseJson(text);
    if (!isLine(line))
      throw invalid(`Line ${index + 2} of ${path} is damaged. Nothing was sent.`, 'Correct or remove the line.');
    entries.set(line.key, entryAfter(entries.get(line.key), line));
  }
  return { id: header.id, entries, size, header: '' };
}

function isLine(line: unknown): line is JournalLine {
  if (!isObject(line) || typeof line.key !== 'string') return false;
  const { sent, at, id, refused, done, forget, file } = line;
  if (file !== undefined && !(isObject(file) && typeof file.hash === 'string' && typeof file.reference === 'string'))
    return false;
  if (sent !== undefined) return typeof sent === 'string' && !Number.isNaN(Date.parse(String(at)));
  return Number.isSafeInteger(id) || typeof refused === 'string' || isObject(done) || forget === true;
}
