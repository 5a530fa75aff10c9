import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceContract } from '../../index.ts';
import { isSameHost } from '../../util/loopback.ts';
import { replaceFile } from '../input/local-file.ts';
import { NAME } from '../terminal/command-name.ts';
import { CommandError } from '../terminal/exit-codes.ts';
import { configFolder } from './profiles.ts';

/** A running sandbox, in the form that `sandbox` stores for other commands. */
export interface RunningSandbox {
  readonly url: string;
  /** URL of the console, with the token of this run. */
  readonly consoleUrl: string;
  /** API token of the sandbox's account. */
  readonly token: string;
  /** Differences between the sandbox and the assumptions of this package. */
  readonly contract?: ServiceContract | undefined;
}

/**
 * Milliseconds for a running sandbox to respond on a busy machine. If a sandbox has ended, its port refuses connections
 * immediately.
 */
const PROBE_TIMEOUT_MS = 10_000;

const folderOf = (env: NodeJS.ProcessEnv): string => join(configFolder(env), 'sandboxes');

/**
 * Announces a sandbox to other commands in a file that only this user can read. Returns a function that removes the
 * file.
 */
export async function announce(env: NodeJS.ProcessEnv, sandbox: RunningSandbox): Promise<() => Promise<void>> {
  const folder = folderOf(env);
  const path = join(folder, `${process.pid}.json`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Write and rename, so that no other command reads an incomplete file.
  await replaceFile(path, JSON.stringify(sandbox));
  return () => rm(path, { force: true });
}

/** Address or port of the running sandbox to use. */
export interface SandboxChoice {
  readonly baseUrl?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Returns the selected sandbox. Without a selection, returns the sandbox at AUDIENCE_BASE_URL or, if no sandbox is
 * running there, the most recently started sandbox.
 *
 * @returns `undefined` if no sandbox is running.
 * @throws {CommandError} `sandbox-not-found` if the selected sandbox is not running.
 */
export async function findSandbox(env: NodeJS.ProcessEnv, choice: SandboxChoice): Promise<RunningSandbox | undefined> {
  const { AUDIENCE_BASE_URL: address } = env;
  const isChosen = choice.baseUrl !== undefined || choice.port !== undefined;
  if (isChosen) return (await searchSandbox(env, choice)) ?? notFound(choice);
  // The variable may also contain the address of the service.
  const preferred = address ? await searchSandbox(env, { baseUrl: address }) : undefined;
  return preferred ?? searchSandbox(env, {});
}

/** Returns the sandbox of {@link findSandbox}. Throws `sandbox-not-found` if no sandbox is running. */
export const requireSandbox = async (env: NodeJS.ProcessEnv, choice: SandboxChoice): Promise<RunningSandbox> =>
  (await findSandbox(env, choice)) ?? notFound(choice);

function notFound({ baseUrl, port }: SandboxChoice): never {
  // Show only the host, because the address may contain a password.
  const host = baseUrl === undefined ? undefined : (URL.parse(baseUrl)?.host ?? 'this address');
  const place = host ?? (port === undefined ? undefined : `port ${port}`);
  const message = `No running sandbox was found${place === undefined ? '' : ` at ${place}`}: start one with \`${NAME} sandbox\`.`;
  throw new CommandError(message, { code: 'sandbox-not-found' });
}

/** Returns the latest sandbox that matches and responds. Removes the files of killed sandboxes. */
async function searchSandbox(
  env: NodeJS.ProcessEnv,
  { baseUrl, port }: SandboxChoice,
): Promise<RunningSandbox | undefined> {
  for (const { path, pid } of await filesOfSandboxes(env)) {
    const sandbox = await readRun(path);
    const matches =
      sandbox &&
      (baseUrl === undefined || isAt(sandbox, baseUrl)) &&
      (port === undefined || sandbox.url.endsWith(`:${port}`));
    if (matches && (await answers(sandbox))) return sandbox;
    if (!isRunning(pid)) await rm(path, { force: true }).catch(() => {});
  }
  return undefined;
}

/** Returns whether an address belongs to a sandbox. The address may contain another name of this machine. */
function isAt({ url }: RunningSandbox, address: string): boolean {
  const [own, other] = [URL.parse(url), URL.parse(address)];
  return own !== null && other !== null && own.port === other.port && isSameHost(own.hostname, other);
}

/** Returns the files of sandboxes, the latest first. Returns none if there is no configuration folder. */
async function filesOfSandboxes(
  env: NodeJS.ProcessEnv,
): Promise<readonly { readonly path: string; readonly pid: number }[]> {
  try {
    const folder = folderOf(env);
    const names = (await readdir(folder)).filter((name) => /^\d+\.json$/.test(name));
    const files = names.map(async (name) => {
      const path = join(folder, name);
      const { mtimeMs = 0 } = (await stat(path).catch(() => undefined)) ?? {};
      return { path, pid: Number.parseInt(name, 10), mtimeMs };
    });
    return (await Promise.all(files)).sort((a, b) => b.mtimeMs - a.mtimeMs);
  } catch {
    return [];
  }
}

/** Returns whether a process of this machine is running. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return Object(error).code === 'EPERM';
  }
}

async function readRun(path: string): Promise<RunningSandbox | undefined> {
  try {
    const { url, consoleUrl, token, contract } = JSON.parse(await readFile(path, 'utf8'));
    return { url: String(url), consoleUrl: String(consoleUrl), token: String(token), contract };
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
 * @throws {CommandError} with the message of the console if the console refuses the request.
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
    headers: {
      authorization: `Bearer ${searchParams.get('token')}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const result: unknown = await response.json();
  if (response.ok) return result;
  const { message }: { readonly message?: unknown } = Object(result);
  throw new CommandError(String(message ?? `The sandbox responded with ${response.status}.`), {
    code: response.status === 400 ? 'usage' : 'sandbox-refused',
  });
}
