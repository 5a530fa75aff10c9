import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';

describe('a create whose response is lost, ten times in a row,', () => {
  it('creates one resource each time, by byte-identical retries', async () => {
    const { sandbox, url, account, connect } = await startBench({
      limits: { write: { limit: 999, interval: 60_000 } },
    });
    const seen = new Set<string | undefined>();
    const proxy = await startFaultProxy(url, ({ key }) => {
      const again = seen.has(key);
      seen.add(key);
      return again ? undefined : { kind: 'cut-after' };
    });
    const client = connect({ baseUrl: proxy.url, token: account.token('api'), rateLimits: false });
    const ids = new Set<number>();
    for (let at = 0; at < 10; at++) ids.add((await client.audiences.create({ name: `Audience ${at}` })).id);
    expect(ids.size).toBe(10);
    expect((await connect({ token: account.token('api') }).audiences.list()).items).toHaveLength(10);
    const byKey = Map.groupBy(proxy.passed, ({ key }) => key);
    expect(byKey.size).toBe(10);
    for (const [first, second, ...more] of byKey.values()) {
      expect(first?.body).toBe(second?.body);
      expect(more).toEqual([]);
    }
    expect(sandbox.log.filter(({ replayed }) => replayed)).toHaveLength(10);
  });
});
