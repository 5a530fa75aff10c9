import { describe, expect, it } from 'vitest';
import { type IoRedis, redisDedupe, redisTokenStore } from '../../src/redis/index.ts';
import { suiteRedis } from '../support/redis-server.ts';
import { failureOf } from '../support/server.ts';

const redis = suiteRedis();

/** A client that queues its commands, as both packages do without a connection, until `send` is called. */
async function queuingClient() {
  const client = await redis().connect('ioredis');
  const gate = Promise.withResolvers<void>();
  const queued: Promise<unknown>[] = [];
  let passing = Number.POSITIVE_INFINITY;
  const queue = (send: () => Promise<unknown>): Promise<unknown> => {
    if (passing-- > 0) return send();
    const sent = gate.promise.then(send);
    queued.push(sent);
    return sent;
  };
  const queuing: IoRedis = {
    evalsha: (...args) => queue(() => client.evalsha(...args)),
    eval: (...args) => queue(() => client.eval(...args)),
  };
  return {
    client: queuing,
    /** Queues commands after so many. */
    queueAfter(commands: number): void {
      passing = commands;
    },
    async send(): Promise<void> {
      gate.resolve();
      // A script that the server does not have is sent again.
      for (const sent of queued) await sent.catch(() => {});
    },
  };
}

describe('a command that timed out, and that the client sends when it is connected again,', () => {
  it('does not overwrite or remove a token that others have saved since', async () => {
    const other = await redis().connect('redis');
    const changes = [{ token: 'older' }, undefined].flatMap((change) => [0, 1].map((passing) => ({ change, passing })));
    const late = changes.map(async ({ change, passing }, at) => {
      const key = `late-${at}`;
      const { client, queueAfter, send } = await queuingClient();
      const [mine, theirs] = [redisTokenStore(client, { key }), redisTokenStore(other, { key })];
      await mine.save({ token: 'first' });
      queueAfter(passing);
      expect(await failureOf(mine.save(change))).toMatchObject({ code: 'token-unavailable' });
      expect(await theirs.load()).toEqual({ token: 'first' });
      await theirs.save({ token: 'newer' });
      await send();
      expect(await theirs.load()).toEqual({ token: 'newer' });
    });
    await Promise.all(late);
  });

  it('leaves no claim of an event that nobody handles', async () => {
    const { client, queueAfter, send } = await queuingClient();
    const [mine, theirs] = [client, await redis().connect('redis')].map((each) =>
      redisDedupe(each, { prefix: 'late' }),
    );
    queueAfter(0);
    expect(await failureOf(mine?.claim('a', 60_000) ?? Promise.resolve())).toMatchObject({ code: 'connection-failed' });
    await send();
    await expect.poll(() => theirs?.claim('a', 60_000)).toEqual({ lease: expect.any(String) });
  });
});
