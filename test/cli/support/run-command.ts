import { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { run } from '../../../src/cli/run.ts';
import type { CommandProcess } from '../../../src/cli/terminal/context.ts';
import { CommandError, EXIT, type ExitCode } from '../../../src/cli/terminal/exit-codes.ts';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { isWorking, startVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';
import { createScene, type RunningCommand, type SceneOf } from './scene.ts';

/** A command that runs in this process. */
interface Running extends RunningCommand {
  /** Advances time until the command has printed `text`, once or `times` times. */
  shows(stream: 'out' | 'err', text: string | RegExp, times?: number): Promise<void>;
  /** Does what the first Ctrl-C does. */
  interrupt(): void;
}

/** A scene whose commands run in this process, from source. Paths are relative to the folder of this process. */
export interface Scene extends SceneOf<Running> {
  /** Clock of the commands and the sandbox. It advances while the end of a command is awaited. */
  readonly time: VirtualTime;
}

/** The time of all scenes of a test. */
let shared: VirtualTime | undefined;

function startSharedTime(): VirtualTime {
  const time = startVirtualTime(isWorking);
  onTestFinished(() => {
    shared = undefined;
    time.end();
  });
  return time;
}

/** What a command learns of its standard streams. */
type Terminal = Pick<CommandProcess['stdout'], 'isTTY' | 'columns' | 'rows'>;
const NO_TERMINAL: Terminal = { isTTY: false, columns: 0, rows: 0 };

/** Standard streams that are a terminal of 24 lines and 80 columns. */
export const TERMINAL: Terminal = { isTTY: true, columns: 80, rows: 24 };

/** Starts a scene for tests of what a command prints and returns, in virtual time. */
export async function startScene(options: SandboxOptions = {}, terminal = NO_TERMINAL): Promise<Scene> {
  shared ??= startSharedTime();
  const time = shared;
  const scene = await createScene(options, (args, started) => startCommand(args, started, time, terminal));
  return { ...scene, time };
}

function startCommand(
  args: readonly string[],
  { env, input }: Pick<CommandProcess, 'env'> & { readonly input: string | Uint8Array },
  time: VirtualTime,
  terminal: Terminal,
): Running {
  const printed = { out: '', err: '' };
  const stdin = Object.assign(Readable.from([Buffer.from(input)]), { isTTY: terminal.isTTY });
  const interruption = new AbortController();
  const interrupt = (): void =>
    interruption.abort(new CommandError('Interrupted.', { code: 'interrupted', exitCode: EXIT.interrupted }));
  const exited = Promise.withResolvers<ExitCode>();
  const running = run(args, {
    env,
    stdout: streamTo(terminal, (text) => {
      printed.out += text;
    }),
    stderr: streamTo(terminal, (text) => {
      printed.err += text;
    }),
    stdin: () => stdin,
    signal: interruption.signal,
    exit: exited.resolve,
  });
  onTestFinished(async () => {
    interrupt();
    await time.until(running);
  });
  const ended = Promise.race([running, exited.promise]).then((code) => ({ code, ...printed }));
  return {
    printed,
    ended: awaitedBy(time, ended),
    shows: (stream, text, times = 1) => time.untilTrue(() => printed[stream].split(text).length > times),
    interrupt,
  };
}

/** Returns a promise that lets time advance once somebody awaits it. */
const awaitedBy = <T>(time: VirtualTime, work: Promise<T>): PromiseLike<T> => ({
  // biome-ignore lint/suspicious/noThenProperty: awaiting it begins to advance time.
  then: (resolve, reject) => time.until(work).then(resolve, reject),
});

/** Returns a standard stream. */
const streamTo = (terminal: Terminal, write: (text: string) => void): CommandProcess['stdout'] =>
  Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        write(chunk);
        done();
      },
    }),
    terminal,
  );
