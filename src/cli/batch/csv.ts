import { usageError } from '../terminal/exit-codes.ts';

interface CsvRecord {
  readonly cells: readonly string[];
  /** Line on which the record begins. The first line is 1. */
  readonly line: number;
}

/** Separators besides the comma, which spreadsheets use in some languages. */
const SEPARATORS = [';', '\t'];

/** Returns a pattern that matches a cell, quoted or not, and the separator or line end after it. */
const cellPattern = (separator: string): RegExp =>
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"\\${separator}\\r\\n]*))(\\${separator}|\\r?\\n|\\r|$)`, 'y');

/**
 * Parses CSV (RFC 4180). Uses the separator of a first line such as `sep=;`; otherwise, commas or, if the header has
 * none, semicolons or tabs. Skips empty lines. Rejects misplaced quotes, because a truncated value must not become part
 * of an audience.
 *
 * @throws {CommandError} with the number of the invalid line.
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  const [named = '', sign] = /^sep=([^\w\s"]|\t)(?:\r?\n|\r)/i.exec(text) ?? [];
  let line = named === '' ? 1 : 2;
  let begins = line;
  const [header = ''] = text.split(/\r?\n|\r/, 1);
  const usual = header.includes(',') ? undefined : SEPARATORS.find((other) => header.includes(other));
  const separator = sign ?? usual ?? ',';
  const pattern = cellPattern(separator);
  pattern.lastIndex = named.length;
  while (pattern.lastIndex < text.length) {
    const [cell, quoted, plain = '', end] = pattern.exec(text) ?? [];
    if (cell === undefined) throw usageError(`Line ${line} has a quote that is not closed, or is in the wrong place.`);
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += cell.match(/\r?\n|\r/g)?.length ?? 0;
    if (end === separator && pattern.lastIndex < text.length) continue;
    if (cells.some((value) => value !== '')) records.push({ cells, line: begins });
    cells = [];
    begins = line;
  }
  return records;
}
