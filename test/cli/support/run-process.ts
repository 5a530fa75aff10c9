import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { within } from '../../support/within.ts';
import { createScene, type RunningCommand, type SceneOf } from './scene.ts';

/** The built command. */
export const COMMAND = join(import.meta.dirname, '../../../dist/cli.js');

/** A process of the command. */
interface RunningProcess extends RunningCommand {
  readonly child: ChildProcess;
}

/** A scene whose commands run in processes, as built, in the home folder. */
export type Scene = SceneOf<RunningProcess>;

/** Starts a scene for tests of what only a process has: signals, pipes, terminals, its start and its end. */
export const startScene = (options: SandboxOptions = {}): Promise<Scene> =>
  createScene(options, (args, { env, input, home }) =>
    observe(spawn(process.execPath, [COMMAND, ...args], { env, cwd: home }), input),
  );

/** Collects what a process prints, and kills it after the test. */
export function observe(child: ChildProcess, input: string | Uint8Array = ''): RunningProcess {
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    printed.out += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    printed.err += chunk;
  });
  // A process may end without reading its input.
  child.stdin?.on('error', () => {}).end(input);
  const closed = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, ...printed }));
  const what = (): string => `the end of ${child.spawnargs.join(' ')}, which has printed ${JSON.stringify(printed)}`;
  // biome-ignore lint/suspicious/noThenProperty: awaiting it begins the time that the process has.
  const ended: RunningProcess['ended'] = { then: (resolve, reject) => within(closed, what).then(resolve, reject) };
  return { child, printed, ended };
}
