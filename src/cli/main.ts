#!/usr/bin/env node
import { basename } from 'node:path';
import { type Command, CommanderError } from 'commander';
import type { AudienceClient } from '../index.ts';
import type { Account, Context, GlobalFlags } from './context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from './exit-codes.ts';
import { Output } from './output.ts';
import { type Action, createProgram } from './program.ts';
import { reportError } from './report-error.ts';

const { stdout, stderr } = process;

/** Ends the process quietly when the reader of its output is gone, as after `| head`. */
function endOnBrokenPipe(output: Output): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.done);
    const details = { exitCode: EXIT.unexpected, cause: error };
    process.exit(reportError(new CommandError(`Standard output cannot be written: ${error.message}`, details), output));
  });
  stderr.on('error', () => {});
}

/** Returns a signal that the first Ctrl-C aborts; the second one ends the process. */
function interruptible(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(EXIT.interrupted);
    controller.abort(new CommandError('Interrupted.', { exitCode: EXIT.interrupted }));
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return controller.signal;
}

const signal = interruptible();

/** Runs the code of a command with the client it asks for. */
const action: Action = (load) =>
  async function (this: Command) {
    const flags = this.optsWithGlobals<GlobalFlags>();
    const output = new Output({ stdout, stderr }, { json: flags.json === true, fields: flags.fields });
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
      process.exitCode = reportError(isInterrupted ? signal.reason : error, output);
    } finally {
      for (const client of clients) await client.close();
    }
  };

/** Returns the exit code of an error of commander, and reports it; it has printed help and version itself. */
function reportUsage(error: CommanderError, output: Output): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  // Without a subcommand, commander has printed the help.
  if (error.code === 'commander.help') return EXIT.usage;
  return reportError(usageError(error.message.replace(/^error: /, '')), output);
}

async function main(args: readonly string[]): Promise<void> {
  const output = new Output({ stdout, stderr }, { json: args.includes('--json') });
  endOnBrokenPipe(output);
  const name = basename(process.argv[1] ?? '') === 'aud' ? 'aud' : 'audience-activation';
  const program = createProgram(name, action);
  silenceErrors(program);
  if (args[0] === 'completion' || args[0] === 'complete') (await import('./completion.ts')).addCompletion(program);
  else program.command('completion').description('print the completion script of a shell').argument('<shell>');
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = reportUsage(error, output);
  }
}

/** Keeps commander from printing its errors, which `reportUsage` does. */
function silenceErrors(command: Command): void {
  command.configureOutput({ outputError: () => {} });
  command.commands.forEach(silenceErrors);
}

await main(process.argv.slice(2));
