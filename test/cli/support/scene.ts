import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox, type Sandbox, type SandboxAccount, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';

/** Folder in which Node keeps the compiled code of the command for all scenes. */
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache');

/** How the command runs. */
export interface RunOptions {
  /** Standard input. @default empty */
  readonly input?: string | Uint8Array;
  /** Environment variables besides those of the scene; `undefined` removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Output and end of the command. */
interface Result {
  /** Exit code, or the signal that has ended the process. */
  readonly code: number | NodeJS.Signals;
  readonly out: string;
  readonly err: string;
}

/** A command that runs. */
export interface RunningCommand {
  /** Grows as the command prints. */
  readonly printed: { out: string; err: string };
  readonly ended: PromiseLike<Result>;
}

/** A sandbox over HTTP, an account of it, and an empty configuration folder for the command. */
export interface SceneOf<Running extends RunningCommand> {
  readonly sandbox: Sandbox;
  readonly account: SandboxAccount;
  /** A client of the account, for what a test prepares: faster than a command. */
  readonly client: AudienceClient;
  readonly url: string;
  /** The home of the user, with the configuration folder. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Starts the command. */
  start(args: readonly string[], options?: RunOptions): Running;
  /** Runs the command to its end. */
  run(args: readonly string[], options?: RunOptions): PromiseLike<Result>;
  /** Runs the command with `--json`, and returns the objects of standard output. The exit code must be 0. */
  json(args: readonly string[], options?: RunOptions): Promise<Record<string, unknown>[]>;
}

/** Starts a command with an environment and standard input, for a user with a home folder. */
type Start<Running> = (
  args: readonly string[],
  options: { readonly env: NodeJS.ProcessEnv; readonly input: string | Uint8Array; readonly home: string },
) => Running;

/** Starts a sandbox for commands. Jobs end immediately unless `options` differ. */
export async function createScene<Running extends RunningCommand>(
  options: SandboxOptions,
  startCommand: Start<Running>,
): Promise<SceneOf<Running>> {
  const sandbox = createSandbox({ jobs: { duration: 0 }, signatureClock: 'machine', ...options });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create({ email: 'ann@example.com', password: 'a secret password' });
  const { url } = await sandbox.listen();
  const token = account.token('api');
  const client = new AudienceClient({ baseUrl: url, token, rateLimits: false, logLevel: 'off' });
  onTestFinished(() => client.close());
  const folder = await temporaryDirectory();
  const { PATH = '' } = process.env;
  const env = {
    PATH,
    HOME: folder,
    AUDIENCE_CONFIG_DIR: join(folder, 'config'),
    XDG_CACHE_HOME: CACHE,
    AUDIENCE_BASE_URL: url,
    AUDIENCE_TOKEN: token,
  };
  const start: SceneOf<Running>['start'] = (args, { input = '', env: extra } = {}) =>
    startCommand(args, { env: { ...env, ...extra }, input, home: folder });
  const run: SceneOf<Running>['run'] = (args, runOptions) => start(args, runOptions).ended;
  return {
    sandbox,
    account,
    client,
    url,
    folder,
    env,
    start,
    run,
    async json(args, runOptions) {
      const { code, out, err } = await run([...args, '--json'], runOptions);
      expect(code, err).toBe(0);
      return linesOf(out);
    },
  };
}

/** Parses lines of JSON. */
export const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
