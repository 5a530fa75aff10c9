import type { Command, OptionValues } from 'commander';
import type { Handler } from '../terminal/context.ts';
import { integerFrom, keyValue } from './flag-values.ts';

/** Returns the action of a command. The action loads the code of the command when it runs. */
export type Action = <Flags extends OptionValues>(
  load: () => Promise<Handler<Flags>>,
) => (this: Command) => Promise<void>;

export const addDryRun = (command: Command): Command =>
  command.option('--dry-run', 'print the request instead of sending it');

export const addListFlags = (command: Command): Command =>
  command
    .option('-n, --limit <n>', 'maximum number of rows', integerFrom(1), 100)
    .option('--all', 'print all rows')
    .option('--query <name=value>', 'additional query parameter; repeatable', keyValue);
