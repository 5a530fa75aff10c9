import { usageError } from '../terminal/exit-codes.ts';

/** A record of a CSV text. */
interface CsvRecord {
  readonly cells: readonly string[];
  /** Line on which it begins, from 1. */
  readonly line: number;
}

/** One cell, quoted or not, with the comma or the end of line that follows it. */
const CELL = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r?\n|\r|$)/y;

/**
 * Parses CSV as RFC 4180 describes it; empty lines are left out. Unlike readers that accept almost anything, it refuses
 * quotes in the wrong place: a value that was cut off would become part of an audience.
 *
 * @throws {CommandError} naming the line.
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let line = 1;
  let begins = 1;
  for (CELL.lastIndex = 0; CELL.lastIndex < text.length; ) {
    const [cell, quoted, plain = '', end] = CELL.exec(text) ?? [];
    if (cell === undefined) throw usageError(`Line ${line} has a quote that is not closed, or in the wrong place.`);
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += cell.match(/\r?\n|\r/g)?.length ?? 0;
    if (end === ',' && CELL.lastIndex < text.length) continue;
    if (cells.some((value) => value !== '')) records.push({ cells, line: begins });
    cells = [];
    begins = line;
  }
  return records;
}
