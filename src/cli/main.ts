import { outputBefore, run } from './run.ts';
import { CommandError, EXIT } from './terminal/exit-codes.ts';
import { reportError } from './terminal/report-error.ts';

const { stdout, stderr, env } = process;
const args = process.argv.slice(2);

/** Signals that interrupt a command, by the exit code that a shell shows for the signal. */
const SIGNALS = { [EXIT.interrupted]: 'SIGINT', [EXIT.terminated]: 'SIGTERM' } as const;

/** Aborts when something ends the command before its work is done. */
const stop = new AbortController();

/** Lets the first Ctrl-C or SIGTERM end the command, and the second one the process. */
function endOnSignals(): void {
  for (const exitCode of [EXIT.interrupted, EXIT.terminated] as const) {
    process.once(SIGNALS[exitCode], () => {
      for (const name of Object.values(SIGNALS)) process.removeAllListeners(name);
      stop.abort(new CommandError('Interrupted.', { code: 'interrupted', exitCode }));
    });
  }
}

/** Ends the command when the reader of its output is gone, as after `| head`, and the process on a full disk. */
function endOnClosedOutput(): void {
  const output = outputBefore(args, { stdout, stderr, env });
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE')
      return stop.abort(new CommandError('The program that reads the output has ended.', { code: 'output-closed' }));
    const details = { code: 'output-unwritable', cause: error } as const;
    process.exit(reportError(new CommandError(`Standard output cannot be written: ${error.message}`, details), output));
  });
  stderr.on('error', () => {});
}

/** Ends an interrupted process with its signal. After a mere exit code, a loop in the shell would continue. */
function endBySignal(exitCode: typeof process.exitCode): void {
  const entry = Object.entries(SIGNALS).find(([code]) => code === String(exitCode));
  // Windows has no signals: the exit code is all that a shell sees.
  if (!entry || process.platform === 'win32') return;
  // At a prompt, Ctrl-C is a key and not a signal.
  process.removeAllListeners(entry[1]);
  process.kill(process.pid, entry[1]);
}

endOnSignals();
endOnClosedOutput();
process.exitCode = await run(args, {
  stdout,
  stderr,
  env,
  signal: stop.signal,
  // Only a command that reads standard input opens it.
  stdin: () => process.stdin,
  exit: process.exit,
});
endBySignal(process.exitCode);
