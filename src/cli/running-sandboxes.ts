import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, EXIT } from './exit-codes.ts';
import { configFolder } from './profiles.ts';

/** A sandbox that the command runs, as other commands find it. */
export interface RunningSandbox {
  readonly url: string;
  /** Origin of the console, with the token of this run. */
  readonly consoleUrl: string;
  /** API token of its account. */
  readonly token: string;
}

/** Time for a sandbox to answer before it counts as gone. */
const PROBE_TIMEOUT_MS = 2_000;

const folder = (): string => join(configFolder(), 'sandboxes');

/**
 * Makes a sandbox known to the other commands of this user, by a file that only the user can read. Returns a function
 * that removes it.
 */
export async function announce(sandbox: RunningSandbox): Promise<() => Promise<void>> {
  const path = join(folder(), `${process.pid}.json`);
  await mkdir(folder(), { recursive: true, mode: 0o700 });
  await writeFile(path, JSON.stringify(sandbox), { mode: 0o600 });
  return () => rm(path, { force: true });
}

/** Returns the sandbox that was started last, of those that answer. Removes the files of those that were killed. */
export async function findSandbox(): Promise<RunningSandbox | undefined> {
  const names = await readdir(folder()).catch(() => []);
  const files = await Promise.all(
    names.map(async (name) => {
      const path = join(folder(), name);
      return { path, time: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
    }),
  );
  for (const { path } of files.sort((a, b) => b.time - a.time)) {
    const sandbox = await readRun(path);
    if (sandbox && (await answers(sandbox))) return sandbox;
    await rm(path, { force: true }).catch(() => {});
  }
  return undefined;
}

async function readRun(path: string): Promise<RunningSandbox | undefined> {
  try {
    const { url, consoleUrl, token }: Record<string, unknown> = JSON.parse(await readFile(path, 'utf8'));
    return { url: String(url), consoleUrl: String(consoleUrl), token: String(token) };
  } catch {
    return undefined;
  }
}

const answers = (sandbox: RunningSandbox): Promise<boolean> =>
  operate(sandbox, 'GET', '/api/state', undefined, AbortSignal.timeout(PROBE_TIMEOUT_MS)).then(
    () => true,
    () => false,
  );

/**
 * Calls an endpoint of a sandbox's console, and returns the JSON of its response.
 *
 * @throws {CommandError} with the message of the console if it refuses.
 */
export async function operate(
  { consoleUrl }: Pick<RunningSandbox, 'consoleUrl'>,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const { origin, searchParams } = new URL(consoleUrl);
  const response = await fetch(`${origin}${path}`, {
    method,
    signal,
    headers: { authorization: `Bearer ${searchParams.get('token')}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const result: unknown = await response.json();
  if (response.ok) return result;
  const { message }: { readonly message?: unknown } = Object(result);
  throw new CommandError(String(message ?? `The sandbox responded with ${response.status}.`), {
    exitCode: EXIT.refused,
  });
}
