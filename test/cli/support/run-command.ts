import { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { CommandProcess } from '../../../src/cli/context.ts';
import { CommandError, EXIT, type ExitCode } from '../../../src/cli/exit-codes.ts';
import { run } from '../../../src/cli/run.ts';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { createScene, type RunningCommand, type SceneOf } from './scene.ts';

/** A command that runs in this process. */
interface Running extends RunningCommand {
  /** Does what the first Ctrl-C does. */
  interrupt(): void;
}

/** A scene whose commands run in this process, from source. Paths are relative to the folder of this process. */
export type Scene = SceneOf<Running>;

/** Starts a scene for tests of what a command prints and returns. */
export const startScene = (options: SandboxOptions = {}): Promise<Scene> => createScene(options, startCommand);

function startCommand(
  args: readonly string[],
  { env, input }: Pick<CommandProcess, 'env'> & { readonly input: string | Uint8Array },
): Running {
  const printed = { out: '', err: '' };
  const stdin = Readable.from([Buffer.from(input)]);
  const interruption = new AbortController();
  const interrupt = (): void =>
    interruption.abort(new CommandError('Interrupted.', { code: 'interrupted', exitCode: EXIT.interrupted }));
  const exited = Promise.withResolvers<ExitCode>();
  const running = run(args, {
    env,
    stdout: pipeTo((text) => {
      printed.out += text;
    }),
    stderr: pipeTo((text) => {
      printed.err += text;
    }),
    stdin: () => stdin,
    signal: interruption.signal,
    exit: exited.resolve,
  });
  onTestFinished(async () => {
    interrupt();
    await running;
  });
  const ended = Promise.race([running, exited.promise]).then((code) => ({ code, ...printed }));
  return { printed, ended, interrupt };
}

/** Returns a stream that is no terminal. */
const pipeTo = (write: (text: string) => void): CommandProcess['stdout'] =>
  Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk, _, done) {
        write(chunk);
        done();
      },
    }),
    { isTTY: false, columns: 0, rows: 0 },
  );
