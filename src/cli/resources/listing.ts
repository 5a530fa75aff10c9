import type { OperationName } from '../../spec/operations.ts';
import type { QueryFlag } from '../input/flag-values.ts';
import type { Output } from '../terminal/output.ts';

/** Flags of commands that print lists. */
export interface ListFlags {
  readonly limit: number;
  readonly all?: boolean;
  readonly query?: QueryFlag;
}

/** Name of a list in messages, and the fields to print without `--fields`. */
interface ListLabel {
  readonly noun: string;
  /** @default the fields of the first row */
  readonly columns?: readonly string[];
  /** Operation whose response contains the rows, if the OpenAPI document describes the response. */
  readonly operation?: OperationName;
}

/** Prints rows up to a limit, and reports if there are more. Reads only the necessary pages. */
export async function printList(
  output: Output,
  rows: AsyncIterable<object>,
  { limit, all }: ListFlags,
  { noun, columns, ...source }: ListLabel,
): Promise<void> {
  const max = all ? Number.POSITIVE_INFINITY : limit;
  let hasMore = false;
  async function* limited(): AsyncGenerator<object> {
    let count = 0;
    for await (const row of rows) {
      hasMore = count === max;
      if (hasMore) return;
      count++;
      yield row;
    }
  }
  const count = await output.list(limited(), columns, source);
  if (count === 0) output.note(`No ${noun}.`);
  // Also print this with `--json`, because a program must know that rows are missing.
  if (hasMore) output.log('info', `There are more ${noun}. To print all of them, pass --all.`);
}
