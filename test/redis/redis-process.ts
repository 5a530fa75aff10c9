import { flushCompileCache } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { apiToken } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';
import { redisTokenStore } from '../../src/redis/index.ts';
import { ping, REDIRECT } from '../support/ping.ts';
import { connectTo } from '../support/redis-clients.ts';
import type { RedisProcessOptions } from './redis-processes.ts';

/** Runs an action on a token store in Redis for each message, which names the action. */
const {
  kind,
  redisUrl,
  key,
  lease,
  baseUrl = '',
  credentials,
  hold,
}: RedisProcessOptions = JSON.parse(process.argv[2] ?? '');
const { client } = await connectTo(kind, redisUrl);
const store = redisTokenStore(client, { key, lease });

const ACTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  async issueToken() {
    if (!credentials) throw new Error('There are no credentials.');
    return apiToken(credentials, { store, baseUrl }).get({});
  },
  call: () => ping(createOAuthClient({ baseUrl, redirectUri: REDIRECT, store, logLevel: 'off' }), baseUrl),
  hold: () =>
    store.withLock(async () => {
      process.send?.('held');
      await pause(hold);
    }),
};

process.on('message', async (action) => {
  const result = await ACTIONS[String(action)]?.().catch((error) => `failed: ${error.message}`);
  process.send?.(result ?? 'done');
});
flushCompileCache();
process.send?.('ready');
