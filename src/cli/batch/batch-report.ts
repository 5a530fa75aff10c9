import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import type { RowView } from './batch.ts';
import { recordOf } from './batch-progress.ts';

/** Columns of the table of rows. */
export const COLUMNS = ['key', 'state', 'audience', 'activation', 'reason'] as const;

/** Returns the row of the table for a view. */
export const tableRow = (view: RowView) => ({
  ...view,
  reason: view.reason ?? (view.error === undefined ? undefined : String(Object(view.error).code)),
});

/**
 * Checks the name of a report.
 *
 * @throws {CommandError} unless it ends with `.csv` or `.json`.
 */
export function checkReport(path: string): void {
  if (!/^\.(?:csv|json)$/.test(extname(path))) throw usageError(`--report must end with .csv or .json, not "${path}".`);
}

/**
 * Writes how the rows have ended, as CSV or as JSON, by the ending of the file.
 *
 * @throws {CommandError} if the file cannot be written.
 */
export async function writeReport(path: string, views: readonly RowView[], output: Output): Promise<void> {
  const cell = (value: unknown): string => {
    const text = value === undefined ? '' : [value].flat().join(' ');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const columns = [...COLUMNS, 'files'] as const;
  const records = views.map(tableRow).map((row) => columns.map((name) => cell(row[name])).join(','));
  const text =
    extname(path) === '.csv'
      ? `${[columns.join(','), ...records].join('\n')}\n`
      : `${JSON.stringify(
          views.map((view) => recordOf(view, output)),
          null,
          2,
        )}\n`;
  await writeFile(path, text).catch((cause: unknown) => {
    throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  });
}
