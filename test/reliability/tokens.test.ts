import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { AuthenticationError, apiToken, loginToken, memoryTokenStore } from '../../src/index.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { runs } from '../support/volume.ts';

const CALLS = runs(30, 1_000);
const limits = { read: { limit: 1e9, interval: 60_000 }, login: { limit: 1e9, interval: 60_000 } };
const DAY = 24 * 3_600_000;

const times = (log: readonly { path: string; status: number }[], path: string): number =>
  log.filter((entry) => entry.path.endsWith(path) && entry.status === 200).length;

describe(`${CALLS} concurrent calls`, () => {
  it(`${CALLS} concurrent calls on a token that a logout has ended renew it once`, async () => {
    const { sandbox, account, connect } = await startBench({ limits });
    const client = connect({ credentials, rateLimits: false });
    await client.webhooks.list();
    account.logout();
    await Promise.all(Array.from({ length: CALLS }, () => client.webhooks.list()));
    expect(times(sandbox.log, '/auth/login')).toBe(2);
  });

  it(`${CALLS} concurrent calls on a token that has expired at the service renew it once`, async () => {
    const { sandbox, connect } = await startBench({ limits });
    const client = connect({ token: apiToken(credentials, { store: memoryTokenStore() }), rateLimits: false });
    await client.webhooks.list();
    await sandbox.advance(365 * DAY);
    await Promise.all(Array.from({ length: CALLS }, () => client.webhooks.list()));
    expect(times(sandbox.log, '/auth/api-token')).toBe(2);
  });
});

it('a token in a store is issued once over many starts', async () => {
  const { sandbox, connect } = await startBench({ limits });
  const store = memoryTokenStore();
  for (let start = 0; start < runs(20, 200, 1_000); start++) {
    const client = connect({ token: apiToken(credentials, { store }), rateLimits: false });
    await client.webhooks.list();
    await client.close();
  }
  expect(times(sandbox.log, '/auth/api-token')).toBe(1);
});

it('two clients that log in with the same credentials retry once each, and the errors name the cause', async () => {
  const { sandbox, connect } = await startBench({ limits });
  const clients = [0, 1].map(() => connect({ token: loginToken(credentials), rateLimits: false }));
  const calls = clients.flatMap((client) => Array.from({ length: CALLS }, () => client.webhooks.list()));
  const settled = await Promise.allSettled(calls);
  for (const result of settled) {
    if (result.status === 'fulfilled') continue;
    expect(AuthenticationError.isInstance(result.reason)).toBe(true);
    expect(String(result.reason)).toMatch(/each login ends the previous one|another login may have ended it/);
  }
  // At most one renewal and one retry a call.
  expect(times(sandbox.log, '/auth/login')).toBeLessThanOrEqual(2 + calls.length);
  expect(sandbox.log.filter(({ path }) => path.endsWith('/webhooks/index')).length).toBeLessThanOrEqual(
    2 * calls.length,
  );
});
