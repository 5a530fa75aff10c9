import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError, type StoredToken } from '../../src/index.ts';
import { browserTokenStore, type TextStorage } from '../../src/oauth/index.ts';
import { ping, signIn, startOAuthBench } from '../support/oauth.ts';

/** A synchronous storage, as a page has it. */
function storageOf(held: Map<string, string>): TextStorage {
  return {
    getItem: (key) => held.get(key) ?? null,
    setItem: (key, value) => void held.set(key, value),
    removeItem: (key) => void held.delete(key),
  };
}

/** An asynchronous storage. */
function slowStorageOf(held: Map<string, string>): TextStorage {
  const storage = storageOf(held);
  return {
    getItem: async (key) => storage.getItem(key),
    setItem: async (key, value) => storage.setItem(key, value),
    removeItem: async (key) => storage.removeItem(key),
  };
}

afterEach(() => void vi.unstubAllGlobals());

describe.each([
  ['synchronous', storageOf],
  ['asynchronous', slowStorageOf],
])('`browserTokenStore` with a storage that is %s', (_, make) => {
  it('saves, loads and removes a token under its key', async () => {
    const held = new Map<string, string>();
    const store = browserTokenStore({ storage: make(held) });
    expect(await store.load()).toBeUndefined();
    const token: StoredToken = { token: 'a', expiresAt: '2027-01-01T00:00:00Z', more: { of: ['it'] } };
    await store.save(token);
    expect([...held.keys()]).toEqual(['audience-activation']);
    expect(await store.load()).toEqual(token);
    const other = browserTokenStore({ storage: make(held), key: 'other' });
    expect(await other.load()).toBeUndefined();
    await store.save(undefined);
    expect(held.size).toBe(0);
  });

  it('lets one page start a sign-in and the next complete it, and three tabs refresh once', async () => {
    const { clientWith, url, sandbox, exchanges } = await startOAuthBench();
    const storage = make(new Map());
    await signIn({
      ...clientWith(browserTokenStore({ storage })),
      callback: (address) => clientWith(browserTokenStore({ storage })).callback(address),
    });
    const tabs = [1, 2, 3].map(() => clientWith(browserTokenStore({ storage })));
    await sandbox.advance(7_200_000);
    expect(await Promise.all(tabs.map((tab) => ping(tab, url)))).toEqual([200, 200, 200]);
    expect(exchanges()).toEqual([200, 200]);
  });
});

describe('`browserTokenStore`', () => {
  it.each([
    ['not JSON', 'token'],
    ['an array', '["token"]'],
    ['null', 'null'],
    ['empty', ''],
    ['without a token', '{"expiresAt":"2027-01-01T00:00:00Z"}'],
    ['with a token that is not a string', '{"token":1}'],
    ['with an expiry that is not a string', '{"token":"a","expiresAt":1}'],
  ])('ignores content that is %s', async (_, content) => {
    const storage = storageOf(new Map([['audience-activation', content]]));
    expect(await browserTokenStore({ storage }).load()).toBeUndefined();
  });

  it('runs work of several stores one after another, also after a failure', async () => {
    const storage = storageOf(new Map());
    const stores = [browserTokenStore({ storage }), browserTokenStore({ storage })];
    const order: string[] = [];
    const gate = Promise.withResolvers<void>();
    const works = stores.map((store, index) =>
      store.withLock(async () => {
        order.push(`begins ${index}`);
        await gate.promise;
        order.push(`ends ${index}`);
        if (index === 0) throw new Error('failed');
        return index;
      }),
    );
    const free = browserTokenStore({ storage, key: 'other' }).withLock(async () => 'other');
    expect(await free).toBe('other');
    await expect.poll(() => order).toEqual(['begins 0']);
    gate.resolve();
    expect(await Promise.allSettled(works)).toMatchObject([{ reason: { message: 'failed' } }, { value: 1 }]);
    expect(order).toEqual(['begins 0', 'ends 0', 'begins 1', 'ends 1']);
  });

  it('rejects with the error of its storage', async () => {
    const full: TextStorage = {
      ...storageOf(new Map()),
      setItem() {
        throw new DOMException('It is full', 'QuotaExceededError');
      },
    };
    await expect(browserTokenStore({ storage: full }).save({ token: 'a' })).rejects.toThrow('It is full');
  });

  it.each([
    ['has no Web Locks', {}],
    ['is not a browser', undefined],
  ])('throws a ConfigurationError where the platform %s', (_, navigator) => {
    vi.stubGlobal('navigator', navigator);
    const make = () => browserTokenStore({ storage: storageOf(new Map()) });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(/https/);
  });

  it('throws a ConfigurationError without `storage` where the platform has no IndexedDB', () => {
    expect(() => browserTokenStore()).toThrow(ConfigurationError);
    expect(() => browserTokenStore({ key: 'other' })).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('IndexedDB'),
        advice: expect.stringContaining('`fileTokenStore`'),
      }),
    );
  });
});
