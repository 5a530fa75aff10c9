import { readFileSync, writeFileSync } from 'node:fs';
import { withTable } from '../page-tables.ts';

/** The page with the table of places, and the name of the table in it. */
const PAGE = 'docs/support.md';
const TABLE = 'places';

/** Results by task: "✓", or "no". */
type Results = ReadonlyMap<string, string>;

const documented = readTable();
const measured = new Map<string, Results>();

/**
 * Notes what {@link runTasks} printed in a place. Throws if the page shows something else, unless `isWritten` is true.
 */
export function report(place: string, isWritten: boolean, output: string): void {
  const lines = [...output.matchAll(/^([✓✗]) ([^:\n]+)/gm)];
  const results = new Map(lines.map(([, sign, task = '']) => [task, sign === '✓' ? '✓' : 'no']));
  if (results.size === 0) throw new Error(`No task has run: ${output}`);
  measured.set(place, results);
  const isSame = cellsOf(results, columns()).join() === cellsOf(documented.get(place), columns()).join();
  if (!isSame && !isWritten) throw new Error(`${PAGE} has other results. Correct them with --write.\n${output}`);
  if (!isSame) console.log(output);
}

/** Writes the table. A run of all steps removes the places that it does not have. */
export function writePlaces(isWhole: boolean): void {
  const rows = new Map([...documented, ...measured]);
  const places = [...rows.keys()].filter((place) => !isWhole || measured.has(place));
  const tasks = columns();
  const table = places.map((place) => [place, ...cellsOf(rows.get(place), tasks)]);
  writeFileSync(PAGE, withTable(PAGE, TABLE, ['place', ...tasks], table));
}

/** Returns the places in the page that a run of all steps does not have. */
export const placesWithoutStep = (): string[] => [...documented.keys()].filter((place) => !measured.has(place));

const cellsOf = (results: Results | undefined, tasks: readonly string[]): string[] =>
  tasks.map((task) => results?.get(task) ?? '–');

const columns = (): string[] => [
  ...new Set([...documented.values(), ...measured.values()].flatMap((it) => [...it.keys()])),
];

function readTable(): ReadonlyMap<string, Results> {
  const [, table = ''] =
    new RegExp(`<!-- ${TABLE}: .*-->\\n\\n(.*?)\\n\\n<!-- end`, 's').exec(readFileSync(PAGE, 'utf8')) ?? [];
  const [[, ...tasks] = [], , ...rows] = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const resultsOf = (cells: readonly string[]): Results =>
    new Map(tasks.map((task, at) => [task, cells[at] ?? '–'] as const).filter(([, cell]) => cell !== '–'));
  return new Map(rows.map(([place = '', ...cells]) => [place, resultsOf(cells)]));
}
