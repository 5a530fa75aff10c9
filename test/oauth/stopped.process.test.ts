import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { consent, ping, signIn } from '../support/oauth.ts';
import { makeLockOlder, start, startExpired, TOKEN } from '../support/oauth-processes.ts';
import { failureOf } from '../support/server.ts';
import { ask, isStopped } from '../support/started-process.ts';

type Bench = Awaited<ReturnType<typeof startExpired>>;

/** Suspends a process at a step, as a sleeping machine does; others take over its lock. */
async function startStopped(bench: Bench, command: string, step: string) {
  const child = await start(bench.path, bench.url, step, 'SIGSTOP');
  const result = ask(child, command);
  await eventually(async () => expect(await isStopped(child)).toBe(true));
  await makeLockOlder(bench.path);
  const resume = (): Promise<unknown> => {
    child.kill('SIGCONT');
    return result;
  };
  return { child, resume };
}

/** Events while a process is suspended at a step, and their results. */
const WHILE_STOPPED: Readonly<Record<string, () => Promise<void>>> = {
  async 'before its request: it uses the pair of the process that refreshed'() {
    const bench = await startExpired();
    const { resume } = await startStopped(bench, 'refresh', `before ${TOKEN}`);
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    const refreshed = await bench.store.load();
    expect(await resume()).toBe(refreshed?.token);
    expect(await bench.store.load()).toEqual(refreshed);
    expect(bench.exchanges()).toEqual([200, 200, 400]);
  },
  async 'before it saves: its pair is saved, and pending sign-ins continue'() {
    const bench = await startExpired();
    const { resume } = await startStopped(bench, 'refresh', `after ${TOKEN}`);
    expect(await failureOf(ping(bench.oauth, bench.url))).toMatchObject({ error: 'invalid_grant' });
    const { url } = await bench.oauth.authorize();
    const token = await resume();
    expect(await bench.store.load()).toMatchObject({ token });
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    await bench.oauth.callback(await consent(url));
    expect(await ping(bench.oauth, bench.url)).toBe(200);
  },
  async 'before it saves: it uses the pair of a later sign-in'() {
    const bench = await startExpired();
    const { resume, child } = await startStopped(bench, 'refresh', `after ${TOKEN}`);
    await signIn(bench.oauth);
    const signedIn = await bench.store.load();
    expect(await resume()).toBe(signedIn?.token);
    expect(await bench.store.load()).toEqual(signedIn);
    expect(await ask(child, 'call')).toBe(200);
  },
  async 'before it saves: a deleted state stays deleted'() {
    const bench = await startExpired();
    const { resume } = await startStopped(bench, 'refresh', `after ${TOKEN}`);
    await bench.oauth.forget();
    await resume();
    expect(await bench.store.load()).toBeUndefined();
  },
  async 'while it revokes: a later sign-in is kept'() {
    const bench = await startExpired();
    const { resume } = await startStopped(bench, 'revoke', 'after /oauth/revoke');
    await signIn(bench.oauth);
    const signedIn = await bench.store.load();
    expect(await resume()).toBe('revoked');
    expect(await bench.store.load()).toEqual(signedIn);
  },
  async 'while it starts a sign-in: a pair refreshed meanwhile is kept'() {
    const bench = await startExpired();
    const { resume } = await startStopped(bench, 'authorize', 'after /oauth/register');
    expect(await ping(bench.oauth, bench.url)).toBe(200);
    const refreshed = await bench.store.load();
    const address = String(await resume());
    expect(await bench.store.load()).toMatchObject({ token: refreshed?.token });
    await bench.oauth.callback(await consent(address));
    expect(await ping(bench.oauth, bench.url)).toBe(200);
  },
};

describe('a process that is suspended while others take over its lock', () => {
  it('overwrites nothing that others have saved when it resumes', async () => {
    const runs = Object.entries(WHILE_STOPPED).map(async ([name, run]) => [name, await run().catch(String)]);
    const seen = Object.fromEntries(await Promise.all(runs));
    expect(seen).toEqual(Object.fromEntries(Object.keys(WHILE_STOPPED).map((name) => [name, undefined])));
  });
});
