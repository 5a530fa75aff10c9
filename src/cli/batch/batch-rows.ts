import { resolve } from 'node:path';
import type { AudienceCreate, JsonObject } from '../../index.ts';
import { isObject } from '../../util/json.ts';
import { parseJsonText } from '../input/input-text.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { type Located, parseCsvRows } from './csv-rows.ts';

/** A row of a batch: an audience to build. */
export interface BatchRow {
  /** Key of the row in the journal, and name of its folder. */
  readonly key: string;
  /** Body of the create request. */
  readonly body: AudienceCreate;
  /** File to import first, as the cohort of the audience. */
  readonly file?: string;
}

/** Keys are folder names on every system, so they neither begin nor end with a dot. */
const KEY = /^[\w-](?:[\w.-]{0,98}[\w-])?$/;

/**
 * Parses the rows of a file: a JSON array, JSON Lines or CSV. The first character that is not white space determines
 * the format.
 *
 * @param folder Folder for relative file paths.
 * @param note Receives a message about ignored cells.
 * @throws {CommandError} for an invalid or incomplete row.
 */
export function parseRows(
  text: string,
  folder: string,
  note: (message: string) => void = () => {},
): readonly BatchRow[] {
  const start = text.trimStart();
  const records = start.startsWith('[')
    ? jsonRecords(text)
    : start.startsWith('{')
      ? lineRecords(text)
      : parseCsvRows(text, note);
  if (records.length === 0) throw usageError('There are no rows: each row needs a key and the fields of an audience.');
  const keys = new Map<string, string>();
  return records.map(([where, record]) => {
    if (!isObject(record)) throw usageError(`${where} is not an object, such as {"key":"north","name":"North"}.`);
    const { key, file, ...body } = record;
    if (typeof key !== 'string' || !KEY.test(key))
      throw usageError(
        `${where} needs a "key" of 1 to 100 of the characters A-Z a-z 0-9 _ - and . (the dot neither first nor last)${key === undefined ? '' : `, not ${JSON.stringify(key)}`}. The key names a folder.`,
      );
    const other = keys.get(key.toLowerCase());
    if (other)
      throw usageError(
        `${where} and ${other} have the same key "${key}". Keys must differ in more than upper and lower case.`,
      );
    keys.set(key.toLowerCase(), where);
    if (typeof (file ?? '') !== 'string')
      throw usageError(`${where}: "file" must be the path of a cohort file, not ${JSON.stringify(file)}.`);
    if (Object.keys(body).length === 0)
      throw usageError(`${where}, "${key}", has no fields of an audience, such as "name".`);
    checkDates(body, where);
    // The service checks the other fields.
    return {
      key,
      body: body as unknown as AudienceCreate,
      ...(typeof file === 'string' && { file: resolve(folder, file) }),
    };
  });
}

const jsonRecords = (text: string): Located[] =>
  [parseJsonText(text, 'The file')].flat().map((record, at) => [`Row ${at + 1}`, record]);

const lineRecords = (text: string): Located[] =>
  text.split('\n').flatMap((line, at): Located[] => {
    const where = `Line ${at + 1}`;
    return line.trim() === '' ? [] : [[where, parseJsonText(line, where)]];
  });

/** Returns whether a text is an existing day in the format `YYYY-MM-DD`. */
function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Checks that the dates of datasets exist, and that no dataset ends before it begins. */
function checkDates({ dataset }: JsonObject, where: string): void {
  for (const [at, entry] of Array.isArray(dataset) ? dataset.entries() : []) {
    const { start_date: start, end_date: end } = Object(entry);
    for (const [name, date] of Object.entries({ start_date: start, end_date: end }))
      if (typeof date === 'string' && !isDay(date))
        throw usageError(
          `${where}: dataset.${at}.${name} must be an existing date in the form YYYY-MM-DD, not "${date}".`,
        );
    if (start > end) throw usageError(`${where}: dataset.${at}.end_date ${end} is before start_date ${start}.`);
  }
}
