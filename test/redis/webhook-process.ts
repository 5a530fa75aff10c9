import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { toNodeListener } from '../../src/node/index.ts';
import { scriptRunner } from '../../src/redis/commands.ts';
import { redisDedupe } from '../../src/redis/index.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { SECRET } from '../support/deliveries.ts';
import { connectTo } from '../support/redis-clients.ts';
import type { WebhookProcessOptions } from './webhook-processes.ts';

/** A webhook receiver whose handler counts each run, and adds an event to the sum once, by an atomic script. */
const { kind, redisUrl, port, leaseMs, sum, runs }: WebhookProcessOptions = JSON.parse(process.argv[2] ?? '');
const { client } = await connectTo(kind, redisUrl);
const run = scriptRunner(client);

const COUNT = { source: "return redis.call('HINCRBY', KEYS[1], ARGV[1], 1)" };
const WORK = {
  source: `
if redis.call('HSETNX', KEYS[1], ARGV[1], 1) == 0 then return 0 end
return redis.call('HINCRBY', KEYS[1], 'sum', 1)`,
};

const receiver = createWebhookReceiver({
  secrets: SECRET,
  leaseMs,
  dedupe: redisDedupe(client, { prefix: 'events' }),
  logger: { warn() {}, error() {} },
  on: {
    async 'audience.completed'({ id }) {
      await run(COUNT, runs, [id]);
      // Pause at random, so that a kill hits some handlers before their work and some after it.
      await pause(Math.random() * 5);
      await run(WORK, sum, [id]);
      await pause(Math.random() * 5);
    },
  },
});
const server = createServer(toNodeListener(receiver));
server.listen(port, '127.0.0.1', () => process.send?.(server.address()));
