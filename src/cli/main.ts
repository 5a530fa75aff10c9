import { outputBefore, run } from './run.ts';
import { CommandError, EXIT } from './terminal/exit-codes.ts';
import { reportError } from './terminal/report-error.ts';

const { stdout, stderr, env } = process;
const args = process.argv.slice(2);

/** Signals that interrupt a command, by exit code. */
const SIGNALS = { [EXIT.interrupted]: 'SIGINT', [EXIT.terminated]: 'SIGTERM' } as const;

/** Aborts when something ends the command before its work is done. */
const stop = new AbortController();

/** Ends the command at the first Ctrl-C or SIGTERM, and the process at the second one. */
function endOnSignals(): void {
  for (const exitCode of [EXIT.interrupted, EXIT.terminated] as const) {
    process.once(SIGNALS[exitCode], () => {
      for (const name of Object.values(SIGNALS)) process.removeAllListeners(name);
      stop.abort(new CommandError('Interrupted.', { code: 'interrupted', exitCode }));
    });
  }
}

/** Ends the command when the reader closes the output, as `| head` does. Ends the process after any other error. */
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

/**
 * Ends an interrupted process with its signal. If it ended with only an exit code, a loop in the shell would continue.
 */
function endBySignal(exitCode: typeof process.exitCode): void {
  const entry = Object.entries(SIGNALS).find(([code]) => code === String(exitCode));
  // On Windows, there are no signals, so only the exit code remains.
  if (!entry || process.platform === 'win32') return;
  // Send the signal explicitly: at a prompt, Ctrl-C is a key, not a signal.
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
  // Do not open standard input until a command reads it.
  stdin: () => process.stdin,
  exit: process.exit,
});
endBySignal(process.exitCode);
