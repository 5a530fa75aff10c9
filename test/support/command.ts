import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { createSandbox, type Sandbox, type SandboxAccount, type SandboxOptions } from '../../src/sandbox/index.ts';
import { temporaryDirectory } from './directory.ts';

/** The built command. */
export const COMMAND = join(import.meta.dirname, '../../dist/cli.js');

/** Folder in which Node keeps the compiled code of the command for all scenes. */
const CACHE = join(import.meta.dirname, '../../node_modules/.cache');

/** How a process of the command runs. */
export interface RunOptions {
  /** Standard input. @default empty */
  readonly input?: string | Uint8Array;
  /** Environment variables besides those of the scene; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

/** Output and end of a process of the command. */
interface Result {
  /** Exit code, or the signal that has ended the process. */
  readonly code: number | NodeJS.Signals;
  readonly out: string;
  readonly err: string;
}

/** A process of the command. */
export interface Running {
  readonly child: ChildProcess;
  /** Grows as the process prints. */
  readonly printed: { out: string; err: string };
  readonly ended: Promise<Result>;
}

/** A sandbox over HTTP, an account of it, and an empty configuration folder for processes of the command. */
export interface Scene {
  readonly sandbox: Sandbox;
  readonly account: SandboxAccount;
  readonly url: string;
  /** The configuration folder, also the home of the processes. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts the command. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** Runs the command to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Result>;
  /** Runs the command with `--json`, and returns the objects of standard output. The exit code must be 0. */
  json(args: readonly string[], options?: RunOptions): Promise<Record<string, unknown>[]>;
}

/** Starts a sandbox for processes of the command. Jobs end immediately unless `options` differ. */
export async function startScene(options: SandboxOptions = {}): Promise<Scene> {
  const sandbox = createSandbox({ jobs: { duration: 0 }, signatureClock: 'machine', ...options });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create({ email: 'ann@example.com', password: 'a secret password' });
  const { url } = await sandbox.listen();
  const folder = await temporaryDirectory();
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: folder, AUDIENCE_CONFIG_DIR: join(folder, 'config'), XDG_CACHE_HOME: CACHE };
  const login = { AUDIENCE_BASE_URL: url, AUDIENCE_TOKEN: account.token('api') };
  const start = (args: readonly string[], { input, env: extra, cwd = folder }: RunOptions = {}): Running => {
    const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...env, ...login, ...extra }, cwd });
    return observe(child, input);
  };
  const run: Scene['run'] = (args, runOptions) => start(args, runOptions).ended;
  return {
    sandbox,
    account,
    url,
    folder,
    env: { ...env, ...login },
    start,
    run,
    async json(args, runOptions) {
      const { code, out, err } = await run([...args, '--json'], runOptions);
      expect(code, err).toBe(0);
      return linesOf(out);
    },
  };
}

/** Collects what a process prints, and kills it after the test. */
export function observe(child: ChildProcess, input: string | Uint8Array = ''): Running {
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
  const ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, ...printed }));
  return { child, printed, ended };
}

/** Parses lines of JSON. */
export const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
