import type { JsonObject } from '../../index.ts';
import { isObject } from '../../util/json.ts';
import { withField } from '../input/body-input.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { parseCsv } from './csv.ts';

/** A row of a batch: an audience to build. */
export interface BatchRow {
  /** Identifies the row for as long as its journal is kept, and names its folder. */
  readonly key: string;
  /** Body of the create. */
  readonly body: JsonObject;
}

/** Keys name folders on every system, so none begins or ends with a dot. */
const KEY = /^[\w-](?:[\w.-]{0,98}[\w-])?$/;

/**
 * Parses the rows of a file: a JSON array, JSON Lines or CSV, which its first character tells apart.
 *
 * @throws {CommandError} naming the row that is wrong.
 */
export function parseRows(input: string): readonly BatchRow[] {
  const text = input.replace(/^\uFEFF/, '');
  const start = text.trimStart();
  const records = start.startsWith('[')
    ? jsonRecords(text)
    : start.startsWith('{')
      ? lineRecords(text)
      : csvRecords(text);
  if (records.length === 0) throw usageError('There are no rows: each row needs a key and the fields of an audience.');
  const keys = new Map<string, string>();
  return records.map(([where, record]) => {
    if (!isObject(record)) throw usageError(`${where} is not an object, such as {"key":"north","name":"North"}.`);
    const { key, ...body } = record;
    if (typeof key !== 'string' || !KEY.test(key))
      throw usageError(
        `${where} needs a "key" of 1 to 100 of the characters A-Z a-z 0-9 _ - . that begins and ends with none of the dots: it names a folder.`,
      );
    const other = keys.get(key.toLowerCase());
    if (other)
      throw usageError(`${where} has the key of ${other}, "${key}": keys differ by more than upper and lower case.`);
    keys.set(key.toLowerCase(), where);
    return { key, body };
  });
}

/** A record with the words that name it in a message. */
type Located = readonly [where: string, record: unknown];

const jsonRecords = (text: string): Located[] =>
  [parseJson('The file', text)].flat().map((record, at) => [`Row ${at + 1}`, record]);

const lineRecords = (text: string): Located[] =>
  text.split('\n').flatMap((line, at): Located[] => {
    const where = `Line ${at + 1}`;
    return line.trim() === '' ? [] : [[where, parseJson(where, line)]];
  });

function parseJson(where: string, text: string): unknown {
  try {
    return JSON.parse(text, (name, field: unknown) => (name === '__proto__' ? fail(where) : field));
  } catch (error) {
    // The message of the parser would quote the row.
    throw error instanceof SyntaxError ? usageError(`${where} is not JSON.`) : error;
  }
}

function fail(where: string): never {
  throw usageError(`${where} has a field "__proto__", which is not sent.`);
}

function csvRecords(text: string): Located[] {
  const [header, ...records] = parseCsv(text);
  const names = header?.cells.map((name) => name.trim()) ?? [];
  for (const [at, name] of names.entries()) {
    if (name.split('.').includes('__proto__')) fail('The header');
    const isTaken = names.some((other, index) => index !== at && (other === name || other.startsWith(`${name}.`)));
    if (isTaken || !/^[^.]+(?:\.[^.]+)*$/.test(name))
      throw usageError(`The header has the column "${name}" twice, or as a part of another column, or without a name.`);
  }
  if (header && !names.includes('key')) throw usageError('The header has no column "key", separated by commas.');
  return records.map(({ cells, line }) => {
    if (cells.length > names.length) throw usageError(`Line ${line} has more cells than the header.`);
    let record = {};
    for (const [at, name] of names.entries()) {
      const cell = cells[at] ?? '';
      if (cell !== '') record = withField(record, name.split('.'), cellValue(name, cell));
    }
    return [`Line ${line}`, withLists(record)];
  });
}

/** All cells are texts, except the one field of an audience that is a number. */
const cellValue = (name: string, cell: string): unknown =>
  name === 'project_id' && /^\d+$/.test(cell) ? Number(cell) : cell;

/** Returns a value in which objects with numbers as names are lists. */
function withLists(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, withLists(field)] as const);
  return entries.every(([name]) => /^\d+$/.test(name))
    ? entries.map(([, field]) => field)
    : Object.fromEntries(entries);
}
