import { describe, expect, it, vi } from 'vitest';
import { scriptRunner } from '../../src/redis/commands.ts';
import { sharedLog } from '../../src/redis/reserve.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';

const count = { source: "return redis.call('INCR', KEYS[1])" };

const redis = suiteRedis();

describe.each(KINDS)('a script on a client of %s', (kind) => {
  it('runs by its hash once the server knows it', async () => {
    const run = scriptRunner(await redis().connect(kind));
    expect([await run(count, kind, []), await run(count, kind, [])]).toEqual([1, 2]);
  });

  it('runs on when the server has paused, or has been started anew and knows no script', async () => {
    const server = await startRedis();
    const run = scriptRunner(await server.connect(kind));
    expect(await run(count, 'n', [])).toBe(1);
    server.pause();
    const answer = run(count, 'n', []);
    server.resume();
    expect(await answer).toBe(2);
    for (const end of [server.kill, server.stop]) {
      await end();
      await server.restart();
      // A call on the connection that has ended may fail.
      const again = await vi.waitFor(() => run(count, 'n', []), { timeout: 10_000 });
      expect(again).toBe(1);
    }
  });
});

it('gives back many thousands of slots at once', async () => {
  const client = await redis().connect('ioredis');
  const names = Array.from({ length: 9_000 }, (_, at) => `slot:${at}`);
  await client.zadd('many', ...names.flatMap((name, at) => [at + 1, name]));
  await sharedLog(scriptRunner(client)).giveBack('many', names);
  expect(await client.zcard('many')).toBe(0);
});
