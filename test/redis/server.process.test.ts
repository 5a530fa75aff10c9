import { describe, expect, it, vi } from 'vitest';
import { scriptRunner } from '../../src/redis/commands.ts';
import { KINDS } from '../support/redis-clients.ts';
import { startRedis, suiteRedis } from '../support/redis-server.ts';

const count = { source: "return redis.call('INCR', KEYS[1])" };

const redis = suiteRedis();

describe.each(KINDS)('a script on a client of %s', (kind) => {
  it('runs by its hash once the server has it', async () => {
    const run = scriptRunner(await redis().connect(kind));
    expect([await run(count, kind, []), await run(count, kind, [])]).toEqual([1, 2]);
  });

  it('runs after the server was paused, and after a restart that lost the script', async () => {
    const server = await startRedis();
    const run = scriptRunner(await server.connect(kind));
    expect(await run(count, 'n', [])).toBe(1);
    server.pause();
    const reply = run(count, 'n', []);
    server.resume();
    expect(await reply).toBe(2);
    for (const end of [server.kill, server.stop]) {
      await end();
      await server.restart();
      // A call on the connection that has ended may fail.
      const again = await vi.waitFor(() => run(count, 'n', []), { timeout: 180_000 });
      expect(again).toBe(1);
    }
  });
});
