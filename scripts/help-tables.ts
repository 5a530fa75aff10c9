import { HELP_TOPICS, type HelpTopic, RUN_TOPICS } from '../src/cli/terminal/help-topics.ts';
import { withTable } from './page-tables.ts';

/** Returns the rows of a topic as cells, with flags and names of files as code. */
const cellsOf = ({ rows }: HelpTopic): string[][] =>
  rows.map(([name, meaning]) => [/^(?:--|<)/.test(name) ? `\`${name}\`` : name, meaning.replace(/\.$/, '')]);

/** Returns the guide to the command line with the table of exit codes. */
export const exitCodesPage = (): string =>
  withTable('docs/cli.md', 'exit-codes', ['code', 'meaning, and what to do'], cellsOf(HELP_TOPICS['exit-codes']));

/** Returns the guide to jobs with the table of the rules of `run`. */
export const runPage = (): string =>
  withTable('docs/jobs.md', 'run', ['rules of', '`aud run`'], RUN_TOPICS.flatMap(cellsOf));
