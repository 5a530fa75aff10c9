import { dirname } from 'node:path';
import type { Output } from '../terminal/output.ts';
import { createRedrawnBlock } from '../terminal/redrawn-block.ts';
import { errorRecord } from '../terminal/report-error.ts';
import { isLive, printable } from '../terminal/terminal.ts';
import type { RowState, RowView } from './batch-row.ts';

/** Maximum number of changes that a terminal shows. */
const VISIBLE_CHANGES = 10;

/** Returns the current time for the beginning of a line: UTC, in seconds. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/**
 * Shows the progress of a batch. With `--json`, prints a JSON line for each change. In a terminal, redraws a block.
 * Elsewhere, prints a line for each change. `announce` prints what all rows wait for.
 *
 * @param keys Keys of all rows.
 * @param earlier Keys of the rows that earlier runs have completed, which share a line.
 */
export async function createBatchProgress(keys: readonly string[], earlier: ReadonlySet<string>, output: Output) {
  let announced = '';
  if (output.isJson || output.isQuiet || !isLive(output.stderr)) {
    if (earlier.size > 0) output.note(`${now()} Earlier runs completed ${countOf(earlier.size)}.`);
    return {
      changed(view: RowView): void {
        if (output.isJson) void output.json({ at: now(), ...recordOf(view, output) });
        else if (!earlier.has(view.key)) output.note(`${now()} ${lineOf(view)}`);
      },
      announce(text: string, details: string): void {
        if (text !== announced) output.log('info', `${output.isJson ? '' : `${now()} `}${text}${details}`);
        announced = text;
      },
      close(): void {},
    };
  }
  const states = new Map<string, RowState>(keys.map((key) => [key, 'waiting']));
  const changes: string[] = [];
  let notice = '';
  const block = await createRedrawnBlock(output, ({ cut, maximum, elapsed }) => {
    const counts = Map.groupBy(states.values(), (state) => state);
    const parts = [...counts].map(([state, { length }]) => `${length} ${state}`);
    const lines = [`${countOf(keys.length)}: ${parts.join(', ')}, ${elapsed}`, ...(notice === '' ? [] : [notice])];
    return [...lines, ...changes.slice(-Math.min(VISIBLE_CHANGES, maximum))].map((line) => cut(printable(line)));
  });
  return {
    changed(view: RowView): void {
      states.set(view.key, view.state);
      if (!earlier.has(view.key)) changes.push(`${now()} ${lineOf(view)}`);
      block.redraw();
    },
    announce(text: string, details: string): void {
      notice = `${text}${details}`;
      block.redraw();
    },
    close: () => block.close(),
  };
}

export const countOf = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;

/** Returns a row in the form of `--json` and of a JSON report. */
export const recordOf = ({ error, ...view }: RowView, output: Output): object => ({
  ...view,
  ...(error !== undefined && { error: errorRecord(error, output, true) }),
});

/** Returns the line about a row that has changed. */
function lineOf({ key, state, cohort, audience, activation, files, reason }: RowView): string {
  const texts: Readonly<Partial<Record<RowState, string>>> = {
    importing: `waiting for cohort ${cohort}`,
    building: `waiting for audience ${audience}`,
    activating: `waiting for activation ${activation}`,
    ...(files?.[0] !== undefined && { done: `done, files in ${dirname(files[0])}` }),
  };
  return `${key}: ${texts[state] ?? state}${reason === undefined ? '' : `. ${reason}`}`;
}
