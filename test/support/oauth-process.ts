import { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { TokenStore } from '../../src/auth/token-source.ts';
import type { Fetch } from '../../src/http/send.ts';
import { fileTokenStore } from '../../src/node/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';
import { ping, REDIRECT } from './ping.ts';
import { atSaveSteps } from './save-steps.ts';

/** An OAuth client on a token file that does what it is told, and gets a signal at a step of its work. */
const [, , path = '', baseUrl = '', step = '', signal = ''] = process.argv;

async function reach(now: string): Promise<void> {
  if (now !== step) return;
  process.kill(process.pid, signal);
  // Another thread may have taken the signal.
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

const stepwise: Fetch = async (input, init) => {
  const { pathname } = new URL(String(input));
  await reach(`before ${pathname}`);
  const answer = await fetch(input, init);
  // What has been sent late, to a process that is gone by then.
  if (step === 'unheard' && pathname === '/oauth/token') await new Promise(() => {});
  await reach(`after ${pathname}`);
  return answer;
};

const backoff = { min: 1, max: 5 };
const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store, backoff, logLevel: 'off', fetch: stepwise });

/** What a call comes to: its result, or the error of OAuth that it ended with. */
const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error) => `${error.name}: ${error.error ?? error.message}`);

/** Another token in place of the present one. */
const renew = async (): Promise<string> => oauth.get({ rejected: await oauth.get() });

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  get: () => outcome(oauth.get()),
  renew: () => outcome(renew()),
  call: () => outcome(ping(oauth, baseUrl)),
  'ten calls': () => Promise.all(Array.from({ length: 10 }, () => outcome(ping(oauth, baseUrl)))),
  authorize: () => outcome(oauth.authorize({ redirectUri: `${REDIRECT}/another` }).then(({ url }) => url)),
  revoke: () => outcome(oauth.revoke().then(() => 'revoked')),
  async 'renew for ever'() {
    for (;;) process.send?.(await renew());
  },
};

process.on('message', async (way) => process.send?.(await WAYS[String(way)]?.()));
process.send?.('ready');
