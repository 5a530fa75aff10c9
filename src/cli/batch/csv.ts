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
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`, 'y');

/**
 * Parses CSV as RFC 4180 describes it, or with semicolons or tabs if the header has no comma; empty lines are left out.
 * Refuses quotes in the wrong place, because a truncated value would become part of an audience.
 *
 * @throws {CommandError} naming the line.
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let line = 1;
  let begins = 1;
  const [header = ''] = text.split(/\r?\n|\r/, 1);
  const separator = (header.includes(',') ? undefined : SEPARATORS.find((sign) => header.includes(sign))) ?? ',';
  const pattern = cellPattern(separator);
  while (pattern.lastIndex < text.length) {
    const [cell, quoted, plain = '', end] = pattern.exec(text) ?? [];
    if (cell === undefined) throw usageError(`Line ${line} has a quote that is not closed, or in the wrong place.`);
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += cell.match(/\r?\n|\r/g)?.length ?? 0;
    if (end === separator && pattern.lastIndex < text.length) continue;
    if (cells.some((value) => value !== '')) records.push({ cells, line: begins });
    cells = [];
    begins = line;
  }
  return records;
}
