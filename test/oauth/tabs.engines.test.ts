import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type EngineBrowser, type Tab } from '../support/engines.ts';
import { runs } from '../support/volume.ts';
import { startTabs } from './oauth-tabs.ts';

const METADATA = '/.well-known/oauth-authorization-server';

/** Starts a call in a tab without waiting for its end, because the tab closes or leaves the page before. */
const beginPing = (tab: Tab): Promise<void> => tab.run(() => void page.ping());

const waitsForLock = (tab: Tab): Promise<boolean> =>
  tab.run(async () => (await navigator.locks.query()).pending?.length === 1);

describe.each(ENGINES)('two tabs of $name', ({ launch }) => {
  let browser: EngineBrowser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  /** Opens two tabs, of which the second has signed in. */
  async function startSignedIn() {
    const scene = await startTabs(browser);
    const tabs = [await scene.open(), await scene.open()] as const;
    await scene.signIn(tabs[1]);
    return { ...scene, tabs };
  }

  it(
    'refresh each token once',
    async () => {
      const { tabs, refreshes } = await startSignedIn();
      const count = runs(10, 10, 100);
      const results = await Promise.all(tabs.map((tab) => tab.run((times) => page.pingAtExpiries(times), count)));
      const allSucceed = Array(count).fill(200);
      expect(results).toEqual([allSucceed, allSucceed]);
      expect(refreshes()).toEqual(allSucceed);
    },
    runs(180_000, 180_000, 600_000),
  );

  it('continue after one of them closes while it holds the lock', async () => {
    const { tabs, oidc, refreshes } = await startSignedIn();
    const [closing, other] = tabs;
    oidc.endAccessTokens();
    const lost = oidc.loseResponse(METADATA);
    await beginPing(closing);
    await lost;
    const result = other.run(() => page.ping());
    await expect.poll(() => waitsForLock(other)).toBe(true);
    expect(refreshes()).toEqual([]);
    await closing.close();
    expect(await result).toBe(200);
    expect(refreshes()).toEqual([200]);
  });

  it('need a new sign-in after one of them closes before it receives the new tokens', async () => {
    const { tabs, oidc, refreshes, signIn } = await startSignedIn();
    const [closing, other] = tabs;
    oidc.endAccessTokens();
    const lost = oidc.loseResponse('/token');
    await beginPing(closing);
    await lost;
    await closing.close();
    expect(await other.run(() => page.ping())).toBe('invalid_grant');
    expect(refreshes()).toEqual([200, 400]);
    await signIn(other);
    expect(await other.run(() => page.ping())).toBe(200);
  });

  it('continue after one of them is restored from the back/forward cache', async () => {
    const { tabs, oidc, refreshes, url } = await startSignedIn();
    const [restored, other] = tabs;
    expect(await restored.run(() => page.ping())).toBe(200);
    await restored.goto(`${url}/empty`);
    for (const count of [1, 2]) {
      oidc.endAccessTokens();
      expect(await other.run(() => page.ping())).toBe(200);
      expect(refreshes()).toHaveLength(count);
    }
    await restored.back();
    await expect.poll(() => restored.run(() => page.isRestored)).toBe(true);
    expect(await restored.run(() => page.ping())).toBe(200);
    oidc.endAccessTokens();
    expect(await restored.run(() => page.ping())).toBe(200);
    expect(await other.run(() => page.ping())).toBe(200);
    expect(refreshes()).toEqual([200, 200, 200]);
  });

  it('continue after one of them leaves the page while it holds the lock, and returns', async () => {
    const { tabs, oidc, refreshes, url } = await startSignedIn();
    const [leaving, other] = tabs;
    oidc.endAccessTokens();
    const lost = oidc.loseResponse(METADATA);
    await beginPing(leaving);
    await lost;
    await leaving.goto(`${url}/empty`);
    expect(await other.run(() => page.ping())).toBe(200);
    await leaving.back();
    // WebKit has released the lock, and continues the refresh nevertheless.
    await expect.poll(() => leaving.run(() => page.transactions)).toBe(0);
    expect(await Promise.all(tabs.map((tab) => tab.run(() => page.ping())))).toEqual([200, 200]);
    expect(refreshes()).toEqual([200]);
  });

  it('reject with `token-unavailable` where the browser refuses storage', async () => {
    const { open, url } = await startTabs(browser);
    const tab = await open();
    await tab.goto(`${url}/sandboxed`);
    const load = (): Promise<unknown> => tab.run(() => page.store.load().catch(({ name, code }) => [name, code]));
    expect(await load()).toEqual(['AudienceError', 'token-unavailable']);
    const get = (): Promise<unknown> => tab.run(() => page.oauth.get().catch(({ name, code }) => [name, code]));
    expect(await get()).toEqual(['AudienceError', 'token-unavailable']);
  });
});
