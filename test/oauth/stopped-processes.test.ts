import '../support/nothing-left.ts';
import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { consent, ping, signIn } from '../support/oauth.ts';
import { ask, marksOf, NO_GRANT, start, startExpired, TOKEN } from '../support/oauth-processes.ts';
import { failureOf } from '../support/server.ts';

type Bench = Awaited<ReturnType<typeof startExpired>>;

/** A process whose renewal the service holds for a moment: it has the lock while others come. */
async function startRenewing() {
  const bench = await startExpired();
  const child = await start(bench.path, bench.url);
  const arrived = vi.fn();
  const on = ({ path }: { readonly path: string }): boolean => {
    if (path === TOKEN) arrived();
    return path === TOKEN;
  };
  bench.sandbox.faults.add({ on, delay: 300, times: 1 });
  const renewed = ask(child, 'renew');
  await vi.waitFor(() => expect(arrived).toHaveBeenCalled(), { timeout: 20_000 });
  return { ...bench, child, renewed };
}

describe('while another process renews', () => {
  it('a revocation ends the pair that comes of it', async () => {
    const { oauth, store, account, child, renewed, exchanges } = await startRenewing();
    await oauth.revoke();
    expect(await renewed).toMatch(/./);
    expect(account.connections()).toHaveLength(0);
    expect(await store.load()).toMatchObject({ token: '' });
    expect(await ask(child, 'call')).toBe(NO_GRANT);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('`forget` forgets the pair that comes of it', async () => {
    const { oauth, path, child, renewed } = await startRenewing();
    await oauth.forget();
    const token = await renewed;
    expect(await readdir(dirname(path))).toEqual([]);
    // That process has a token which lives, and nothing to renew it with.
    expect(await ask(child, 'get')).toBe(token);
    expect(await ask(child, 'renew')).toBe(NO_GRANT);
    expect(await readdir(dirname(path))).toEqual([]);
  });

  it('a sign-in replaces the pair that comes of it', async () => {
    const { oauth, store, child, renewed, exchanges } = await startRenewing();
    await signIn(oauth);
    const signedIn = await store.load();
    expect(await renewed).not.toBe(signedIn?.token);
    expect(await ask(child, 'renew')).toBe(signedIn?.token);
    expect(await store.load()).toEqual(signedIn);
    expect(exchanges()).toEqual([200, 200, 200]);
  });
});

/** A process that has stopped at a step, as one of a machine that sleeps; others take its lock over. */
async function startStopped(bench: Bench, way: string, step: string) {
  const child = await start(bench.path, bench.url, step, 'SIGSTOP');
  const answered = ask(child, way);
  await vi.waitFor(async () => expect(await isStopped(child)).toBe(true), { timeout: 20_000 });
  expect(await marksOf(bench.path)).toHaveLength(1);
  const goOn = (): Promise<unknown> => {
    child.kill('SIGCONT');
    return answered;
  };
  return { child, goOn };
}

/** Whether a process has stopped, as Linux tells. */
async function isStopped({ pid }: ChildProcess): Promise<boolean> {
  return /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
}

/** What happens while a process is stopped at a step, and what comes of it. */
const WHILE_STOPPED: Readonly<Record<string, () => Promise<void>>> = {
  async 'before its request: it takes the pair of the one who renewed'() {
    const bench = await startExpired();
    const { goOn } = await startStopped(bench, 'renew', `before ${TOKEN}`);
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    const renewed = await bench.store.load();
    expect(await goOn()).toBe(renewed?.token);
    expect(await bench.store.load()).toEqual(renewed);
    expect(bench.exchanges()).toEqual([200, 200, 400]);
  },
  async 'before it saves: its pair is saved, and sign-ins under way go on'() {
    const bench = await startExpired();
    const { goOn } = await startStopped(bench, 'renew', `after ${TOKEN}`);
    expect(await failureOf(ping(bench.oauth, bench.url))).toMatchObject({ error: 'invalid_grant' });
    const { url } = await bench.oauth.authorize();
    const token = await goOn();
    expect(await bench.store.load()).toMatchObject({ token });
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    await bench.oauth.callback(await consent(url));
    expect(await ping(bench.oauth, bench.url)).toBe(200);
  },
  async 'before it saves: it takes the pair of somebody who signed in'() {
    const bench = await startExpired();
    const { goOn, child } = await startStopped(bench, 'renew', `after ${TOKEN}`);
    await signIn(bench.oauth);
    const signedIn = await bench.store.load();
    expect(await goOn()).toBe(signedIn?.token);
    expect(await bench.store.load()).toEqual(signedIn);
    expect(await ask(child, 'call')).toBe(200);
  },
  async 'before it saves: what was forgotten stays forgotten'() {
    const bench = await startExpired();
    const { goOn } = await startStopped(bench, 'renew', `after ${TOKEN}`);
    await bench.oauth.forget();
    await goOn();
    expect(await bench.store.load()).toBeUndefined();
  },
  async 'while it revokes: a sign-in of somebody else stays'() {
    const bench = await startExpired();
    const { goOn } = await startStopped(bench, 'revoke', 'after /oauth/revoke');
    await signIn(bench.oauth);
    const signedIn = await bench.store.load();
    expect(await goOn()).toBe('revoked');
    expect(await bench.store.load()).toEqual(signedIn);
  },
  async 'while it starts a sign-in: a pair renewed meanwhile stays'() {
    const bench = await startExpired();
    const { goOn } = await startStopped(bench, 'authorize', 'after /oauth/register');
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    const renewed = await bench.store.load();
    const address = String(await goOn());
    expect(await bench.store.load()).toMatchObject({ token: renewed?.token });
    await bench.oauth.callback(await consent(address));
    expect(await ping(bench.oauth, bench.url)).toBe(200);
  },
};

describe('while a process is stopped, and its lock is taken over', () => {
  it('nothing that others have saved is lost when it goes on', async () => {
    const runs = Object.entries(WHILE_STOPPED).map(async ([name, run]) => [name, await run().catch(String)]);
    const seen = Object.fromEntries(await Promise.all(runs));
    expect(seen).toEqual(Object.fromEntries(Object.keys(WHILE_STOPPED).map((name) => [name, undefined])));
  }, 120_000);
});
