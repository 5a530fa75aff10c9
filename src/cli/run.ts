import { type Command, CommanderError } from 'commander';
import type { AudienceClient } from '../index.ts';
import type { Action } from './input/shared-flags.ts';
import { createProgram, describeCompletion } from './program.ts';
import { NAME, PROGRAM } from './terminal/command-name.ts';
import type { Account, CommandProcess, Context, GlobalFlags } from './terminal/context.ts';
import { CommandError, EXIT, type ExitCode, usageError, withHelp } from './terminal/exit-codes.ts';
import { Output, type OutputProcess } from './terminal/output.ts';
import { reportError } from './terminal/report-error.ts';

/**
 * Milliseconds from the deadline until the process ends, if the command does not react, for example because it waits
 * for a lock.
 */
const GRACE_MS = 2_000;

/** Runs a command to its end, and returns its exit code. */
export async function run(args: readonly string[], process: CommandProcess): Promise<ExitCode> {
  const output = outputBefore(args, process);
  let exitCode: ExitCode = EXIT.done;
  const program = createProgram(
    PROGRAM,
    actionIn(process, (code) => {
      exitCode = code;
    }),
  );
  let failing = program;
  eachCommand(program, (command) => {
    command.configureOutput({
      writeOut: (text) => void process.stdout.write(text),
      writeErr: (text) => void process.stderr.write(text),
      // `reportUsage` prints the errors of commander.
      outputError: () => {
        failing = command;
      },
    });
  });
  if (args[0] === 'completion' || args[0] === 'complete')
    (await import('./completion.ts')).addCompletion(program, process.env);
  else describeCompletion(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(error, failing, output);
    throw error;
  }
}

/** Returns the output to use before the flags are parsed. */
export const outputBefore = (args: readonly string[], process: OutputProcess): Output =>
  new Output(process, { json: args.some((arg) => arg === '--json' || /^-[jq]*j/.test(arg)) });

/**
 * Returns a function that runs the code of a command with its client.
 *
 * @param end Called with the exit code.
 */
function actionIn({ exit, ...process }: CommandProcess, end: (code: ExitCode) => void): Action {
  return (load) =>
    async function (this: Command) {
      const flags = this.optsWithGlobals<GlobalFlags>();
      const { json, fields, quiet, deadline } = flags;
      const { env, stdin } = process;
      const output = new Output(process, { json: json === true, fields, quiet });
      const limit = deadline === undefined ? undefined : limitTo(deadline, (error) => exit(reportError(error, output)));
      const signal = limit ? AbortSignal.any([process.signal, limit.signal]) : process.signal;
      const clients: AudienceClient[] = [];
      const opened = (client: AudienceClient): AudienceClient => {
        clients.push(client);
        return client;
      };
      let selected: Promise<Account> | undefined;
      const context: Context = {
        env,
        stdin,
        output,
        flags,
        signal,
        account() {
          selected ??= selectAccount(context);
          return selected;
        },
        async connect() {
          const { createClient } = await import('./account/connection.ts');
          return opened(createClient(await context.account(), flags, output));
        },
        async connectMcp() {
          const { createMcpClient } = await import('./account/connection.ts');
          return opened(await createMcpClient(context));
        },
      };
      try {
        const handler = await load();
        const args = this.processedArgs.flat().flatMap((value) => (value === undefined ? [] : [String(value)]));
        end(await handler(context, this.optsWithGlobals(), args));
      } catch (error) {
        // Timers and streams reject with an `AbortError` instead of the reason of the signal.
        const isInterrupted = signal.aborted && Object(error).name === 'AbortError';
        end(reportError(isInterrupted ? signal.reason : withHelp(error, helpOf(this)), output));
      } finally {
        for (const client of clients) await client.close();
        limit?.clear();
      }
    };
}

/**
 * Returns the account that flags, environment and profile select. With `--sandbox`, starts a sandbox if none is
 * running.
 */
async function selectAccount(context: Context): Promise<Account> {
  const { findAccount } = await import('./account/find-account.ts');
  const account = await findAccount(context);
  if (account) return account;
  const { startTemporarySandbox } = await import('./local-sandbox/temporary-sandbox.ts');
  return startTemporarySandbox(context);
}

/**
 * Returns a signal that aborts at the deadline. If the command has not ended `GRACE_MS` later, `end` ends the process.
 */
function limitTo(deadline: number, end: (error: CommandError) => void) {
  const message = `The command took longer than ${deadline / 1_000} s (--deadline).`;
  const error = new CommandError(message, { code: 'deadline-exceeded' });
  const expired = new AbortController();
  const timers = [
    setTimeout(() => expired.abort(error), deadline).unref(),
    setTimeout(() => end(error), deadline + GRACE_MS).unref(),
  ];
  const { signal } = expired;
  return { signal, clear: () => timers.forEach(clearTimeout) };
}

/** Returns the command line that prints the help of a command, such as `aud audiences create --help`. */
const helpOf = (command: Command): string => `${pathOf(command)} --help`;

const pathOf = (command: Command): string => (command.parent ? `${pathOf(command.parent)} ${command.name()}` : NAME);

/** Reports an error of commander, and returns its exit code. */
function reportUsage(error: CommanderError, command: Command, output: Output): ExitCode {
  if (error.exitCode === 0) return EXIT.done;
  // A command without its subcommand: commander has printed the help.
  if (error.code === 'commander.help') return EXIT.usage;
  const message = reordered(error, command) ?? error.message.replace(/^error: (command-argument )?/, '');
  return reportError(withHelp(usageError(message), helpOf(command)), output);
}

/** Returns the message for swapped words, such as `list audiences` instead of `audiences list`. */
function reordered({ code }: CommanderError, { args: [verb = '', noun = ''], commands }: Command): string | undefined {
  if (code !== 'commander.unknownCommand') return undefined;
  const group = commands.find((command) => command.name() === noun || command.name() === `${noun}s`);
  if (!group?.commands.some((command) => command.name() === verb)) return undefined;
  return `unknown command '${verb}'\n(Did you mean ${group.name()} ${verb}?)`;
}

function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) eachCommand(child, visit);
}
