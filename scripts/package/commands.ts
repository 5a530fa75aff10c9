import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** Output of a command. */
interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Maximum duration of a command. It ends only commands that hang: on a busy machine, a compiler takes minutes. */
const TIMEOUT_MS = 900_000;

const execute = promisify(execFile);

/** Returns the environment without the variables that npm sets for this package: other projects must not see them. */
const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_(?!config_)|NODE_OPTIONS$)/.test(name)));

/** Runs a command in a folder; throws an error with its output if it fails or takes too long. */
export async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Output> {
  const settings = { cwd, timeout: TIMEOUT_MS, env: { ...inherited(), ...env }, maxBuffer: 1 << 26 };
  try {
    return await execute(command, args, { ...settings, killSignal: 'SIGKILL', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr, killed, code } = Object.fromEntries(Object.entries(Object(error)));
    const end = killed === true ? `It did not end within ${TIMEOUT_MS / 1_000} s.` : `It ended with ${String(code)}.`;
    throw new Error([`${command} ${args.join(' ')}`, end, stdout, stderr].filter((text) => text).join('\n'));
  }
}

/** Throws unless the output of a program is the expected line. */
export function expectOutput(expected: string, { stdout }: Pick<Output, 'stdout'>): void {
  if (stdout !== `${expected}\n`) throw new Error(`It wrote: ${stdout}`);
}

/** Resolves with the first line of a stream that contains a text, or rejects with everything that the stream contained. */
export async function lineWith(text: string, stream: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface(stream)) {
    if (line.includes(text)) return line;
    lines.push(line);
  }
  throw new Error(`The process ended before it wrote "${text}": ${lines.join('\n')}`);
}

/** Ends a process that a step has started. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
