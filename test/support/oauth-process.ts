import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
// The built package starts four times as fast as its sources.
import type { TokenStore } from 'audience-activation';
import { fileTokenStore } from 'audience-activation/node';
import { createOAuthClient } from 'audience-activation/oauth';
import { ping, REDIRECT } from './ping.ts';
import { atSaveSteps } from './save-steps.ts';

/**
 * An OAuth client with a token file that runs the commands it receives. At one step of its work, it sends itself a
 * signal.
 */
const [, , path = '', baseUrl = '', step = '', signal = ''] = process.argv;

async function reach(current: string): Promise<void> {
  if (current !== step) return;
  process.kill(process.pid, signal);
  // Wait, because another thread may receive the signal first.
  await new Promise((resolve) => setTimeout(resolve, signal === 'SIGKILL' ? 60_000 : 100));
}

const file = fileTokenStore(path);
let saved = false;

const store: TokenStore = {
  ...file,
  async save(token) {
    await reach('save');
    await file.save(token);
    saved = true;
  },
  withLock: (work) =>
    file.withLock(async () => {
      const result = await work();
      if (saved) await reach('saved');
      return result;
    }),
};

const { rmdir } = promises;
promises.rmdir = async (folder) => {
  if (saved) await reach('release');
  await rmdir(folder);
};
syncBuiltinESMExports();
if (step !== '') await atSaveSteps(step, reach);

const stepwise: typeof fetch = async (input, init) => {
  const { pathname } = new URL(String(input));
  await reach(`before ${pathname}`);
  const response = await fetch(input, init);
  // Never returns this response: the process is killed before it arrives.
  if (step === 'unheard' && pathname === '/oauth/token') await new Promise(() => {});
  await reach(`after ${pathname}`);
  return response;
};

const backoff = { min: 1, max: 5 };
const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store, backoff, logLevel: 'off', fetch: stepwise });

/** Returns the result of a call, or its error as a string. */
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error) => `${error.name}: ${error.error ?? error.message}`);

/** Replaces the current token; returns the new one. */
const refresh = async (): Promise<string> => oauth.get({ rejected: await oauth.get() });

const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  get: () => outcome(oauth.get()),
  refresh: () => outcome(refresh()),
  call: () => outcome(ping(oauth, baseUrl)),
  'ten calls': () => Promise.all(Array.from({ length: 10 }, () => outcome(ping(oauth, baseUrl)))),
  authorize: () => outcome(oauth.authorize({ redirectUri: `${REDIRECT}/another` }).then(({ url }) => url)),
  revoke: () => outcome(oauth.revoke().then(() => 'revoked')),
};

process.on('message', async (command) => process.send?.(await COMMANDS[String(command)]?.()));
process.send?.('ready');
