import { CommandError, EXIT } from './exit-codes.ts';
import { reportError } from './report-error.ts';
import { outputBefore, run } from './run.ts';

const { stdout, stderr, env } = process;
const args = process.argv.slice(2);

/** Ends the process quietly when the reader of its output is gone, as after `| head`. */
function endOnBrokenPipe(): void {
  const output = outputBefore(args, { stdout, stderr, env });
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

endOnBrokenPipe();
process.exitCode = await run(args, {
  stdout,
  stderr,
  env,
  signal: interruptible(),
  // Opened only by a command that reads it.
  stdin: () => process.stdin,
  exit: process.exit,
});
endBySignal(process.exitCode);
