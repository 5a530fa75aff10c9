#!/usr/bin/env node
import { type Command, CommanderError } from 'commander';
import type { AudienceClient } from '../index.ts';
import { NAME } from './command-name.ts';
import type { Account, Context, GlobalFlags } from './context.ts';
import { CommandError, EXIT, type ExitCode, usageError, withHelp } from './exit-codes.ts';
import { Output } from './output.ts';
import { type Action, createProgram } from './program.ts';
import { reportError } from './report-error.ts';

const { stdout, stderr } = process;

/** Ends the process quietly when the reader of its output is gone, as after `| head`. */
function endOnBrokenPipe(output: Output): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    const details = { code: 'output-unwritable', cause: error } as const;
    process.exit(reportError(new CommandError(`Standard output cannot be written: ${error.message}`, details), output));
  });
  stderr.on('error', () => {});
}

/** Returns a signal that the first Ctrl-C aborts; the second one ends the process. */
function interruptible(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new CommandError('Interrupted.', { code: 'interrupted' }));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return controller.signal;
}

const interrupted = interruptible();

/** Time after the deadline until a command ends that does not react to it, such as one that waits for a lock. */
const GRACE_MS = 2_000;

/** Returns the signal of a command: that of Ctrl-C, also aborted at the deadline. */
function signalOf({ deadline }: GlobalFlags, output: Output): AbortSignal {
  if (deadline === undefined) return interrupted;
  const message = `The command took longer than ${deadline / 1_000} s (--deadline).`;
  const error = new CommandError(message, { code: 'deadline-exceeded' });
  const expired = new AbortController();
  setTimeout(() => expired.abort(error), deadline).unref();
  setTimeout(() => process.exit(reportError(error, output)), deadline + GRACE_MS).unref();
  return AbortSignal.any([interrupted, expired.signal]);
}

/** Runs the code of a command with the client it asks for. */
const action: Action = (load) =>
  async function (this: Command) {
    const flags = this.optsWithGlobals<GlobalFlags>();
    const output = new Output({ stdout, stderr }, { json: flags.json === true, fields: flags.fields });
    const signal = signalOf(flags, output);
    const clients: AudienceClient[] = [];
    const opened = (client: AudienceClient): AudienceClient => {
      clients.push(client);
      return client;
    };
    let selected: Promise<Account> | undefined;
    const account = (): Promise<Account> => {
      selected ??= import('./connection.ts').then(({ findAccount }) => findAccount(flags, output, signal));
      return selected;
    };
    const context: Context = {
      output,
      flags,
      signal,
      account,
      async connect() {
        const { createClient } = await import('./connection.ts');
        return opened(createClient(await account(), flags, output));
      },
      async connectMcp() {
        const { createMcpClient } = await import('./connection.ts');
        return opened(await createMcpClient(flags, output));
      },
    };
    try {
      const handler = await load();
      const args = this.processedArgs.flat().flatMap((value) => (value === undefined ? [] : [String(value)]));
      process.exitCode = await handler(context, this.optsWithGlobals(), args);
    } catch (error) {
      // Timers and streams do not reject with the reason of the signal.
      const isInterrupted = signal.aborted && Object(error).name === 'AbortError';
      process.exitCode = reportError(isInterrupted ? signal.reason : withHelp(error, helpOf(this)), output);
    } finally {
      for (const client of clients) await client.close();
    }
  };

/** Returns the line that prints the help of a command: `aud audiences create --help`. */
const helpOf = (command: Command): string => `${pathOf(command)} --help`;

const pathOf = (command: Command): string =>
  command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();

/** Returns the exit code of an error of commander, and reports it; it has printed help and version itself. */
function reportUsage(error: CommanderError, command: Command, output: Output): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  // Without a subcommand, commander has printed the help.
  if (error.code === 'commander.help') return EXIT.usage;
  return reportError(withHelp(usageError(error.message.replace(/^error: /, '')), helpOf(command)), output);
}

async function main(args: readonly string[]): Promise<void> {
  const output = new Output({ stdout, stderr }, { json: args.includes('--json') });
  endOnBrokenPipe(output);
  const program = createProgram(NAME, action);
  let failing = program;
  eachCommand(program, (command) => {
    // `reportUsage` prints the errors of commander.
    command.configureOutput({
      outputError: () => {
        failing = command;
      },
    });
  });
  if (args[0] === 'completion' || args[0] === 'complete') (await import('./completion.ts')).addCompletion(program);
  else program.command('completion').description('print the completion script of a shell').argument('<shell>');
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = reportUsage(error, failing, output);
  }
}

function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) eachCommand(child, visit);
}

await main(process.argv.slice(2));
