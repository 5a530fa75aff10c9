import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Options of a command. */
export interface RunOptions {
  readonly cwd: string;
  /** Variables to add to the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Maximum duration in milliseconds. @default 60000 */
  readonly timeout?: number;
}

/** Output of a command. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

const execute = promisify(execFile);

/** Returns the environment without the variables that npm sets for this package: other projects must not see them. */
const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_(?!config_)|NODE_OPTIONS$)/.test(name)));

/** Runs a command; throws an error with its output if it fails or takes too long. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<Output> {
  const { cwd, env, timeout = 60_000 } = options;
  const settings = {
    cwd,
    timeout,
    env: { ...inherited(), ...env },
    maxBuffer: 1 << 26,
    killSignal: 'SIGKILL' as const,
  };
  try {
    return await execute(command, args, { ...settings, encoding: 'utf8' });
  } catch (error) {
    throw new Error([`${command} ${args.join(' ')}`, ...outputOf(error)].join('\n'));
  }
}

function outputOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const { stdout, stderr, killed, code } = Object.fromEntries(Object.entries(error));
  const end = killed === true ? 'It took too long.' : `It ended with ${String(code)}.`;
  return [end, stdout, stderr].filter((text) => typeof text === 'string' && text !== '');
}
