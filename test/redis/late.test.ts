import { describe, expect, it } from 'vitest';
import { type IoRedis, redisDedupe, redisTokenStore } from '../../src/redis/index.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';

const redis = suiteRedis();

/** A client that keeps its commands, as both packages do without a connection, and sends them when it is told to. */
async function keepingClient() {
  const client = await redis().connect('ioredis');
  const gate = Promise.withResolvers<void>();
  const kept: Promise<unknown>[] = [];
  let passing = Number.POSITIVE_INFINITY;
  const keep = (send: () => Promise<unknown>): Promise<unknown> => {
    if (passing-- > 0) return send();
    const sent = gate.promise.then(send);
    kept.push(sent);
    return sent;
  };
  const keeping: IoRedis = {
    evalsha: (...args) => keep(() => client.evalsha(...args)),
    eval: (...args) => keep(() => client.eval(...args)),
  };
  return {
    client: keeping,
    /** Keeps what comes after so many commands. */
    keepAfter(commands: number): void {
      passing = commands;
    },
    async send(): Promise<void> {
      gate.resolve();
      // A script that is not known is sent again.
      for (const sent of kept) await sent.catch(() => {});
    },
  };
}

describe('what was given up, and is done when there is a connection again,', () => {
  it('saves over nothing that others have saved, and removes nothing of theirs', async () => {
    const other = await redis().connect('redis');
    const changes = [{ token: 'older' }, undefined].flatMap((change) => [0, 1].map((passing) => ({ change, passing })));
    const late = changes.map(async ({ change, passing }, at) => {
      const key = `late-${at}`;
      const { client, keepAfter, send } = await keepingClient();
      const [mine, theirs] = [redisTokenStore(client, { key }), redisTokenStore(other, { key })];
      await mine.save({ token: 'first' });
      keepAfter(passing);
      expect(await failureOf(mine.save(change))).toMatchObject({ code: 'token-unavailable' });
      expect(await theirs.load()).toEqual({ token: 'first' });
      await theirs.save({ token: 'newer' });
      await send();
      expect(await theirs.load()).toEqual({ token: 'newer' });
    });
    await Promise.all(late);
  }, 30_000);

  it('claims no event, as nobody is at work with it', async () => {
    const { client, keepAfter, send } = await keepingClient();
    const [mine, theirs] = [client, await redis().connect('redis')].map((one) => redisDedupe(one, { prefix: 'late' }));
    keepAfter(0);
    expect(await failureOf(mine?.claim('a', 60_000) ?? Promise.resolve())).toMatchObject({ code: 'connection-failed' });
    await send();
    await expect.poll(() => theirs?.claim('a', 60_000)).toEqual({ lease: expect.any(String) });
  }, 30_000);
});
