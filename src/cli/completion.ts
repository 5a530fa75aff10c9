import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { profileNames } from './account/profiles.ts';
import { JOB_KINDS } from './input/resource-table.ts';

/**
 * Lines around the script for bash, whose variables are read-only. Without these lines, a shell could not load the
 * script twice, or for both names of the command.
 */
const WRITABLE = { begin: 'readonly() { declare -g "$@"; }', end: 'unset -f readonly' } as const;

function printForBash(command: Command, line: string): void {
  if (command.name() === 'completion' && command.args[0] === 'bash') process.stdout.write(`${line}\n`);
}

/** Commands for whose first argument `complete` offers paths. */
const WITH_FILE: readonly string[] = ['cohorts import'];

/**
 * Adds `completion <shell>`, which prints the script for a shell. Adds `complete`, which the script calls to get the
 * current profiles, kinds and files.
 */
export function addCompletion(program: Command, env: NodeJS.ProcessEnv): void {
  const root = tab(program, { completionCommandName: 'completion' });
  program
    .hook('preAction', (_, command) => printForBash(command, WRITABLE.begin))
    .hook('postAction', (_, command) => printForBash(command, WRITABLE.end));
  const complete = (words: () => readonly string[]) => (offer: (word: string, description: string) => void) => {
    for (const word of words()) offer(word, '');
  };
  const profile = root.options.get('profile');
  if (profile) profile.handler = complete(() => profileNames(env));
  const check = root.commands.get('check')?.options;
  for (const file of [root.options.get('contract'), check?.get('out'), check?.get('against')])
    if (file) file.handler = complete(() => pathsLike(process.argv.at(-1) ?? ''));
  const chosen = root.commands.get('profiles use')?.arguments.get('name');
  if (chosen) chosen.handler = complete(() => profileNames(env));
  // The global flags are also valid after the name of a command.
  for (const { options } of root.commands.values()) {
    for (const [name, option] of root.options) if (!options.has(name)) options.set(name, option);
  }
  const jobs = root.commands.get('wait')?.arguments.get('jobs');
  if (jobs) jobs.handler = complete(() => JOB_KINDS.map((kind) => `${kind}:`));
  for (const name of WITH_FILE) {
    const [file] = root.commands.get(name)?.arguments.values() ?? [];
    if (file) file.handler = complete(() => pathsLike(process.argv.at(-1) ?? ''));
  }
}

/** Returns the paths in the folder of a partly typed path. Paths of folders end with "/". */
function pathsLike(word: string): string[] {
  const folder = word.endsWith('/') ? word : dirname(word);
  const prefix = folder === '.' && !word.startsWith('./') ? '' : folder.replace(/\/?$/, '/');
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.map((entry) => `${prefix}${entry.name}${entry.isDirectory() ? '/' : ''}`);
  } catch {
    return [];
  }
}
