import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { fileTokenStore } from '../../src/node/index.ts';
import { eventually } from '../support/eventually.ts';
import { ping, signIn } from '../support/oauth.ts';
import { startExpired, TOKEN } from '../support/oauth-processes.ts';
import { failureOf } from '../support/server.ts';

/** Starts a second client of a token file whose refresh the service delays, so that it holds the lock meanwhile. */
async function startRefreshing() {
  const bench = await startExpired();
  const other = bench.clientWith(fileTokenStore(bench.path));
  const arrived = vi.fn();
  const on = ({ path }: { readonly path: string }): boolean => {
    if (path === TOKEN) arrived();
    return path === TOKEN;
  };
  bench.sandbox.faults.add({ on, delay: 300, times: 1 });
  const refresh = async (): Promise<string> => other.get({ rejected: await other.get() });
  const refreshed = refresh();
  await eventually(() => expect(arrived).toHaveBeenCalled());
  return { ...bench, other, refresh, refreshed };
}

describe('while another client of the same token file refreshes', () => {
  it('a revocation revokes the new pair', async () => {
    const { oauth, store, account, other, refreshed, exchanges, url } = await startRefreshing();
    await oauth.revoke();
    expect(await refreshed).toMatch(/./);
    expect(account.connections()).toHaveLength(0);
    expect(await store.load()).toMatchObject({ token: '' });
    expect(await failureOf(ping(other, url))).toMatchObject({ error: 'no_grant' });
    expect(exchanges()).toEqual([200, 200]);
  });

  it('`forget` deletes the new pair', async () => {
    const { oauth, path, other, refresh, refreshed } = await startRefreshing();
    await oauth.forget();
    const token = await refreshed;
    expect(await readdir(dirname(path))).toEqual([]);
    // That client has a live access token in memory, but no refresh token.
    expect(await other.get()).toBe(token);
    expect(await failureOf(refresh())).toMatchObject({ error: 'no_grant' });
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it('a sign-in replaces the new pair', async () => {
    const { oauth, store, refresh, refreshed, exchanges } = await startRefreshing();
    await signIn(oauth);
    const signedIn = await store.load();
    expect(await refreshed).not.toBe(signedIn?.token);
    expect(await refresh()).toBe(signedIn?.token);
    expect(await store.load()).toEqual(signedIn);
    expect(exchanges()).toEqual([200, 200, 200]);
  });
});
