import { usageError } from '../terminal/exit-codes.ts';

/** A record of a CSV text. */
interface CsvRecord {
  readonly cells: readonly string[];
  /** Line on which it begins, from 1. */
  readonly line: number;
}

/** Separators besides the comma, as spreadsheets write them in some languages. */
const SEPARATORS = [';', '\t'];

/** Returns a pattern of one cell, quoted or not, with the separator or the end of line that follows it. */
const cellPattern = (separator: string): RegExp =>
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"\\${separator}\\r\\n]*))(\\${separator}|\\r?\\n|\\r|$)`, 'y');

/**
 * Parses CSV as RFC 4180 describes it, or with semicolons or tabs if the header has no comma, or with the separator that
 * a first line `sep=;` names, as Excel reads it; empty lines are left out. Unlike readers that accept almost anything, it
 * refuses quotes in the wrong place: a value that was cut off would become part of an audience.
 *
 * @throws {CommandError} naming the line.
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
