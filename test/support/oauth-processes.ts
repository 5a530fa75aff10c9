import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileTokenStore } from '../../src/node/index.ts';
import { makeOlder, temporaryDirectory } from './directory.ts';
import { MCP, signIn, startOAuthBench } from './oauth.ts';
import { startProcess } from './started-process.ts';
import { within } from './within.ts';

export const HOUR = 3_600_000;
export const TOKEN = '/oauth/token';
export const ENDED = 'ReauthorizationRequiredError: invalid_grant';

/** Limits high enough not to affect these tests. */
const limits = { mcp: { limit: 10_000, interval: HOUR } };

/**
 * Starts a sandbox and creates a token file with a grant whose access token has expired. `front` returns the URL that
 * clients use, such as that of a proxy.
 */
export async function startExpired(front: (url: string) => Promise<string> = async (url) => url) {
  const bench = await startOAuthBench({ limits });
  const url = await front(bench.url);
  const path = join(await temporaryDirectory(), 'token.json');
  const store = fileTokenStore(path);
  const oauth = bench.clientWith(store, { baseUrl: url });
  await signIn(oauth);
  await bench.sandbox.advance(HOUR);
  const calls = (): number[] => bench.sandbox.log.filter((one) => one.path === MCP).map(({ status }) => status);
  // Discovery has sent one request to the MCP endpoint, which does not count.
  const earlier = calls().length;
  const statuses = (): number[] => calls().slice(earlier);
  return { ...bench, url, path, store, oauth, before: await store.load(), statuses };
}

/**
 * Starts test/support/oauth-process.ts, which waits for commands. Arguments: path of the token file, URL, step, signal.
 */
export const start = (...args: readonly string[]): Promise<ChildProcess> =>
  startProcess(new URL('./oauth-process.ts', import.meta.url), ...args);

/** Waits until a process has exited; returns immediately if it has exited already. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await within(once(child, 'exit'), () => 'the end of a process');
}

/** Returns whether a token file is locked. */
export const isLocked = (path: string): boolean => existsSync(`${path}.lock`);

/** Makes the lock of a process that was killed or suspended a minute older, so that others take it over sooner. */
export const makeLockOlder = (path: string): Promise<void> => makeOlder(`${path}.lock`, 60_000);
