import type { Command, Option } from 'commander';
import { createProgram, describeCompletion } from '../src/cli/program.ts';
import { HELP_TOPICS, type HelpTopic, RUN_TOPICS } from '../src/cli/terminal/help-topics.ts';

const NAME = 'audience-activation';

/** Returns text as roff reads it: no line of it is a request, hyphens can be copied, and characters beyond ASCII are named. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(
      /[^\t\n -~]/g,
      (character) => `\\[u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^(['.])/gm, '\\&$1');

const entry = (term: string, meaning: string): string => `.TP\n.B ${roff(term)}\n${roff(meaning)}`;

const optionEntry = ({ flags, description }: Option): string => entry(flags, description);

/** Returns a command with the words before it, and all its subcommands. */
function commandsOf(command: Command, prefix = ''): { readonly name: string; readonly command: Command }[] {
  return command.commands.flatMap((child) => {
    const name = `${prefix}${child.name()}`;
    return [{ name, command: child }, ...commandsOf(child, `${name} `)];
  });
}

function commandSection({ name, command }: { readonly name: string; readonly command: Command }): string {
  const lines = [`.SS ${roff(`${name} ${command.usage()}`)}`, `${roff(command.description())}.`];
  const topics = name === 'run' ? RUN_TOPICS.map((topic) => topicSection('.SS', topic)) : [];
  return [...lines, ...command.options.map(optionEntry), ...topics].join('\n');
}

const topicSection = (macro: string, { title, rows }: HelpTopic): string =>
  [`${macro} ${title}`, ...rows.map(([name, meaning]) => entry(name, meaning))].join('\n');

/** Returns the manual page of the command, made of its commands, flags and help topics. */
export function manPage(): string {
  const program = createProgram(NAME, () => async () => {});
  describeCompletion(program);
  const topics = Object.values(HELP_TOPICS).map(({ title, rows }) =>
    topicSection('.SH', { title: title.toUpperCase(), rows }),
  );
  return `${[
    `.TH ${roff(NAME.toUpperCase())} 1`,
    // Flags and fields are long words, between which justified text would have gaps.
    '.ad l',
    `.SH NAME\n${roff(`${NAME}, aud`)} \\- builds audiences, waits for them and activates them`,
    `.SH SYNOPSIS\n.B ${roff(NAME)}\n[options] [command]`,
    `.SH GLOBAL OPTIONS\n${program.options.map(optionEntry).join('\n')}`,
    `.SH COMMANDS\n${commandsOf(program).map(commandSection).join('\n')}`,
    ...topics,
  ].join('\n')}\n`;
}
