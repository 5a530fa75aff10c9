import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { fileTokenStore } from '../../src/node/index.ts';
import { temporaryDirectory } from './directory.ts';
import { MCP, signIn, startOAuthBench } from './oauth.ts';

export const HOUR = 3_600_000;
export const TOKEN = '/oauth/token';
export const NO_GRANT = 'ReauthorizationRequiredError: no_grant';
export const ENDED = 'ReauthorizationRequiredError: invalid_grant';

/** What a suite of tests is not about. */
const limits = { mcp: { limit: 10_000, interval: HOUR } };

/** A sandbox, and a token file with a grant whose access token it does not take any more. */
export async function startExpired(front: (url: string) => Promise<string> = async (url) => url) {
  const bench = await startOAuthBench({ limits });
  const url = await front(bench.url);
  const path = join(await temporaryDirectory(), 'token.json');
  const store = fileTokenStore(path);
  const oauth = bench.clientWith(store, { baseUrl: url });
  await signIn(oauth);
  await bench.sandbox.advance(HOUR);
  const calls = (): number[] => bench.sandbox.log.filter((one) => one.path === MCP).map(({ status }) => status);
  // The sign-in has asked it where to go.
  const earlier = calls().length;
  const statuses = (): number[] => calls().slice(earlier);
  return { ...bench, url, path, store, oauth, before: await store.load(), statuses };
}

/** A process of test/support/oauth-process.ts that waits to be told; its arguments are the path, the address, a step and a signal. */
export async function start(...args: readonly string[]): Promise<ChildProcess> {
  const child = fork(new URL('./oauth-process.ts', import.meta.url), args);
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Tells a process to work; what it answers. */
export async function ask(child: ChildProcess, way: string): Promise<unknown> {
  const answered = once(child, 'message');
  child.send(way);
  return (await answered)[0];
}

/** Waits until a process is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** The marks in the lock of a file, if it is there. */
export const marksOf = (path: string): Promise<string[] | undefined> => readdir(`${path}.lock`).catch(() => undefined);
