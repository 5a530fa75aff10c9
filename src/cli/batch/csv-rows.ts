import { isObject } from '../../util/json.ts';
import { withField } from '../input/body-input.ts';
import { rowOf } from '../input/resource-table.ts';
import { usageError } from '../terminal/exit-codes.ts';
import { parseCsv } from './csv.ts';

/** A record, and its location for messages. */
export type Located = readonly [where: string, record: unknown];

/** Fields of an audience that are numbers. All other cells are strings. */
const INTEGERS: readonly string[] = rowOf('audiences').body.flatMap(({ field, type }) =>
  type === 'integer' ? [field] : [],
);

/**
 * Parses CSV to objects. Names in the header may have dots, such as `dataset.0.start_date`. Omits empty cells.
 *
 * @throws {CommandError} for an incomplete record or an invalid header.
 */
export function parseCsvRows(text: string, note: (message: string) => void): Located[] {
  const [header, ...records] = parseCsv(text);
  if (!header) return [];
  const names = namesOf(header.cells);
  const isEmpty = (at: number): boolean => names[at] === '' && records.every(({ cells }) => (cells[at] ?? '') === '');
  let width = names.length;
  while (isEmpty(width - 1)) width--;
  if (width < names.length) note(`The command ignores empty columns at the end (${names.length - width}).`);
  checkNames(names.slice(0, width));
  return records.map(({ cells, line }) => {
    const where = `Line ${line}`;
    if (cells.length !== names.length) {
      const [more, hint] = cells.length > names.length ? ['more', ''] : ['fewer', ': the file may have been cut off'];
      throw usageError(`${where} has ${more} cells than the header (${cells.length}, not ${names.length})${hint}.`);
    }
    if (cells.every((cell, at) => cell === header.cells[at]))
      throw usageError(`${where} repeats the header, probably because several files were joined. Remove the line.`);
    let record = {};
    for (const [at, name] of names.entries()) {
      const cell = cells[at] ?? '';
      if (cell !== '') record = withField(record, name.split('.'), cellValue(where, name, cell));
    }
    return [where, withLists(record)];
  });
}

/** Returns the names of columns. Accepts `Key` for `key`, because spreadsheets capitalize the first letter. */
const namesOf = (cells: readonly string[]): string[] =>
  cells.map((cell) => cell.trim()).map((name) => (name.toLowerCase() === 'key' ? 'key' : name));

function checkNames(names: readonly string[]): void {
  for (const [at, name] of names.entries()) {
    if (name.split('.').includes('__proto__')) throw usageError('The header must not have the column "__proto__".');
    const isTaken = names.some((other, index) => index !== at && (other === name || other.startsWith(`${name}.`)));
    if (isTaken || !/^[^.]+(?:\.[^.]+)*$/.test(name))
      throw usageError(
        `The header column "${name}" is empty, has an empty part, occurs twice, or is the parent of another column.`,
      );
  }
  if (!names.includes('key')) throw usageError('The header has no column "key".');
}

function cellValue(where: string, name: string, cell: string): unknown {
  if (!INTEGERS.includes(name)) return cell;
  const value = Number(cell);
  if (/^\d+$/.test(cell) && Number.isSafeInteger(value)) return value;
  throw usageError(`${where}: ${name} must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, not "${cell}".`);
}

/** Converts objects whose field names are numbers to arrays. */
function withLists(value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, field]) => [name, withLists(field)] as const);
  return entries.every(([name]) => /^\d+$/.test(name))
    ? entries.map(([, field]) => field)
    : Object.fromEntries(entries);
}
