import { type Command, CommanderError } from 'commander';
import type { AudienceClient } from '../index.ts';
import { NAME } from './command-name.ts';
import type { Account, Context, GlobalFlags } from './context.ts';
import type { Action } from './definitions/shared-flags.ts';
import { CommandError, EXIT, type ExitCode, usageError, withHelp } from './exit-codes.ts';
import { Output } from './output.ts';
import { createProgram, describeCompletion } from './program.ts';
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

/** Signals that interrupt a command, by the exit code that a shell shows for them. */
const SIGNALS = { [EXIT.interrupted]: 'SIGINT', [EXIT.terminated]: 'SIGTERM' } as const;

/** Returns a signal that the first Ctrl-C or SIGTERM aborts; the second one ends the process. */
function interruptible(): AbortSignal {
  const controller = new AbortController();
  for (const exitCode of [EXIT.interrupted, EXIT.terminated] as const) {
    process.once(SIGNALS[exitCode], () => {
      for (const name of Object.values(SIGNALS)) process.removeAllListeners(name);
      controller.abort(new CommandError('Interrupted.', { code: 'interrupted', exitCode }));
    });
  }
  return controller.signal;
}

/** Ends an interrupted process by its signal: after an exit code, the loop of a shell would continue. */
function endBySignal(exitCode: typeof process.exitCode): void {
  const entry = Object.entries(SIGNALS).find(([code]) => code === String(exitCode));
  // Windows has no signals: the exit code is all that a shell sees.
  if (!entry || process.platform === 'win32') return;
  // A command can be cancelled at a prompt, whose Ctrl-C is a key and no signal.
  process.removeAllListeners(entry[1]);
  process.kill(process.pid, entry[1]);
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
    const { json, fields, quiet } = flags;
    const output = new Output({ stdout, stderr }, { json: json === true, fields, quiet });
    const signal = signalOf(flags, output);
    const clients: AudienceClient[] = [];
    const opened = (client: AudienceClient): AudienceClient => {
      clients.push(client);
      return client;
    };
    let selected: Promise<Account> | undefined;
    const account = (): Promise<Account> => {
      selected ??= import('./find-account.ts').then(({ findAccount }) => findAccount(flags, output, signal));
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
  const message = reordered(error, command) ?? error.message.replace(/^error: (command-argument )?/, '');
  return reportError(withHelp(usageError(message), helpOf(command)), output);
}

/** Returns the message for `list audiences`, which is `audiences list`. */
function reordered({ code }: CommanderError, { args: [verb = '', noun = ''], commands }: Command): string | undefined {
  if (code !== 'commander.unknownCommand') return undefined;
  const group = commands.find((command) => command.name() === noun || command.name() === `${noun}s`);
  if (!group?.commands.some((command) => command.name() === verb)) return undefined;
  return `unknown command '${verb}'\n(Did you mean ${group.name()} ${verb}?)`;
}

async function main(args: readonly string[]): Promise<void> {
  const output = new Output({ stdout, stderr }, { json: args.some((arg) => arg === '--json' || /^-[jq]*j/.test(arg)) });
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
  else describeCompletion(program);
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
endBySignal(process.exitCode);
