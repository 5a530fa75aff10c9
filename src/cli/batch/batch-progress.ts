import { dirname } from 'node:path';
import type { Output } from '../terminal/output.ts';
import { createRedrawnBlock } from '../terminal/redrawn-block.ts';
import { errorRecord } from '../terminal/report-error.ts';
import { isLive, printable } from '../terminal/terminal.ts';
import type { RowState, RowView } from './batch-row.ts';

/** Number of changes that a terminal shows. */
const VISIBLE_CHANGES = 10;

/** Returns the time as lines begin with it: UTC, in seconds. */
export const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

/**
 * Shows the progress of a batch: with `--json`, as a line of data for each change; in a terminal, as one redrawn block;
 * elsewhere, as a line for each change. `announce` says what all rows wait for, once for each text.
 *
 * @param keys Keys of all rows.
 * @param earlier Keys of rows that earlier runs have done; all of them take one line.
 */
export async function createBatchProgress(keys: readonly string[], earlier: ReadonlySet<string>, output: Output) {
  let announced = '';
  if (output.isJson || output.isQuiet || !isLive(output.stderr)) {
    if (earlier.size > 0) output.note(`${now()} ${countOf(earlier.size)} done by earlier runs.`);
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

/** Returns a number of rows in words. */
export const countOf = (count: number): string => `${count} ${count === 1 ? 'row' : 'rows'}`;

/** Returns a row as `--json` and `--report` print it. */
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
