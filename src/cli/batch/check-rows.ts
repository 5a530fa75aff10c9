import type { AudienceClient, JsonObject } from '../../index.ts';
import { openFile } from '../../node/index.ts';
import { warnOfList } from '../input/list-file.ts';
import { rowOf } from '../input/resource-table.ts';
import { usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { reportError } from '../terminal/report-error.ts';
import type { BatchRow } from './batch-rows.ts';

/** Abort reason of calls that only check their body: a call with an aborted signal sends nothing. */
const CHECKED = new Error('The body was checked.');

/** Subject of an error about the fields of each activation. */
export const ACTIVATE = '--activate';

/**
 * Checks the bodies of rows like `create`, and their files. Reports the errors. Returns the keys of the rows with
 * errors, and {@link ACTIVATE} if the fields of the activations have errors.
 */
export async function checkRows(
  client: AudienceClient,
  rows: readonly BatchRow[],
  activate: JsonObject | undefined,
  output: Output,
): Promise<ReadonlySet<string>> {
  const signal = AbortSignal.abort(CHECKED);
  const refused = new Set<string>();
  const check = async (subject: string, call: PromiseLike<unknown>): Promise<void> => {
    try {
      await call;
    } catch (error) {
      if (error === CHECKED) return;
      reportError(error, output, subject);
      refused.add(subject);
    }
  };
  for (const { key, body, file } of rows) {
    if (file !== undefined) await check(key, checkFile(file, key, output));
    await check(key, client.audiences.create({ ...body, ...(file !== undefined && { cohort_id: 1 }) }, { signal }));
  }
  if (activate) await check(ACTIVATE, client.activations.create({ ...activate, audience_id: 1 }, { signal }));
  return refused;
}

/** Checks that the file of a cohort is readable and not empty. Warns if the file is probably not a list. */
async function checkFile(path: string, key: string, output: Output): Promise<void> {
  const data = await openFile(path);
  if (data.size === 0) throw usageError(`${path} is empty.`);
  await warnOfList(data, `${key}: ${path}`, output);
}

/**
 * Warns about fields that audiences do not have. If the service ignored a misspelled field, it would build a different
 * audience.
 */
export function warnOfUnknown(rows: readonly BatchRow[], output: Output): void {
  const fields = rowOf('audiences').body.map(({ field }) => field);
  const unknown = Map.groupBy(
    rows.flatMap(({ key, body }) => Object.keys(body).map((name) => ({ key, name }))),
    ({ name }) => name,
  );
  for (const [name, [first, ...others]] of unknown) {
    if (fields.includes(name)) continue;
    const where = `${first?.key}${others.length > 0 ? ` and ${others.length} more` : ''}`;
    output.log(
      'warning',
      `${where}: "${name}" is not a known field of an audience (known: ${fields.join(', ')}). The command sends the field unchanged.`,
    );
  }
}
