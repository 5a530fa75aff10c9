import { afterEach, describe, expect, it, vi } from 'vitest';
import { apiToken, mcpToken, memoryTokenStore, type StoredToken, type TokenStore } from '../../src/index.ts';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { consent, ping, signIn, startOAuthBench } from '../support/oauth.ts';
import { credentials } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const HOUR = 3_600_000;
const TOKEN = '/oauth/token';

/** A signed-in client whose access token the service rejects. */
async function startExpired(options: SandboxOptions = {}) {
  const bench = await startOAuthBench(options);
  await signIn(bench.oauth);
  const old = await bench.oauth.get();
  await bench.sandbox.advance(HOUR);
  return { ...bench, old, before: await bench.store.load() };
}

/** Sets the client's clock ahead. */
function jumpAhead(ms: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('the access token', () => {
  it('is refreshed once for a hundred concurrent calls, which all succeed', async () => {
    const { sandbox, clientWith, store, url, exchanges } = await startExpired({
      limits: { mcp: { limit: 10_000, interval: HOUR } },
    });
    const oauth = clientWith(store, { fetch: sandbox.fetch });
    const statuses = await Promise.all(Array.from({ length: 100 }, () => ping(oauth, url)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(exchanges()).toEqual([200, 200]);
  });

  it('is refreshed a minute before it expires, not earlier', async () => {
    const { oauth, exchanges } = await startOAuthBench();
    await signIn(oauth);
    jumpAhead(HOUR - 62_000);
    await oauth.get();
    expect(exchanges()).toHaveLength(1);
    jumpAhead(4_000);
    await Promise.all([oauth.get(), oauth.get()]);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('comes from the store when another client has already refreshed it', async () => {
    const { oauth, clientWith, store, url, exchanges, old } = await startExpired();
    const sibling = clientWith(store);
    expect(await sibling.get()).toBe(old);
    expect(await ping(oauth, url)).toBe(200);
    expect(await ping(sibling, url)).toBe(200);
    expect(await sibling.get()).toBe(await oauth.get());
    expect(exchanges()).toEqual([200, 200]);
  });

  it('is refreshed for the other callers when the first one aborts', async () => {
    const { oauth, sandbox, old, exchanges } = await startExpired();
    sandbox.faults.add({ on: TOKEN, delay: 50, times: 1 });
    const reason = new Error('no longer needed');
    const controller = new AbortController();
    const first = oauth.get({ rejected: old, signal: controller.signal });
    const second = oauth.get({ rejected: old });
    controller.abort(reason);
    expect(await failureOf(first)).toBe(reason);
    expect(await second).not.toBe(old);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('is never the rejected one, even if a concurrent flight returns that', async () => {
    const { oauth, sandbox } = await startOAuthBench();
    await signIn(oauth);
    const token = await oauth.get();
    jumpAhead(HOUR - 30_000);
    sandbox.faults.add({ on: TOKEN, status: 400, times: 1 });
    const [early, late] = await Promise.all([oauth.get(), oauth.get({ rejected: token })]);
    expect([early, late === token]).toEqual([token, false]);
  });
});

describe('a refresh', () => {
  it.each([
    ['a 503', { status: 503 }, { error: 'temporarily_unavailable' }],
    ['a cut connection', { cut: 'before' }, { code: 'connection-failed' }],
  ] as const)('a refresh that fails by %s keeps the tokens, and the next refresh succeeds', async (_, fault, error) => {
    const { oauth, sandbox, store, url, before } = await startExpired();
    const endFault = sandbox.faults.add({ on: TOKEN, ...fault });
    expect(await failureOf(ping(oauth, url))).toMatchObject(error);
    expect(await store.load()).toEqual(before);
    endFault();
    expect(await ping(oauth, url)).toBe(200);
  });

  it('a refresh that fails before the token expires leaves the current token in use, and is retried after ten seconds', async () => {
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const { clientWith, store, sandbox, exchanges } = await startOAuthBench({}, { logger, logLevel: 'warn' });
    const oauth = clientWith(store, { maxRetries: 0 });
    await signIn(oauth);
    const token = await oauth.get();
    const now = vi.spyOn(performance, 'now');
    const start = performance.now();
    jumpAhead(HOUR - 30_000);
    const endFault = sandbox.faults.add({ on: TOKEN, status: 503 });
    expect([await oauth.get(), await oauth.get()]).toEqual([token, token]);
    expect(exchanges()).toEqual([200, 503]);
    expect(warn).toHaveBeenCalledOnce();
    endFault();
    now.mockReturnValue(start + 11_000);
    expect(await oauth.get()).not.toBe(token);
  });

  it('a refresh whose response is lost requires a new sign-in', async () => {
    const { oauth, sandbox, store, url, exchanges } = await startExpired();
    sandbox.faults.add({ on: TOKEN, cut: 'after', times: 1 });
    expect(await failureOf(ping(oauth, url))).toMatchObject({
      name: 'ReauthorizationRequiredError',
      code: 'reauthorization-required',
      error: 'invalid_grant',
      advice: expect.stringContaining('authorize()'),
    });
    expect(exchanges()).toEqual([200, 0, 400]);
    expect(await store.load()).toMatchObject({ token: '' });
    await signIn(oauth);
    expect(await ping(oauth, url)).toBe(200);
  });

  it('a refresh that receives invalid_grant uses the newer pair in the store and deletes nothing', async () => {
    const { clientWith, store, url, exchanges, old, before } = await startExpired();
    const sibling = clientWith(store);
    await sibling.get({ rejected: old });
    const renewed = await store.load();
    // Another process ignored the lock, so the first read returns an outdated pair.
    const reads: (StoredToken | undefined)[] = [before];
    const unlocked: TokenStore = {
      ...store,
      load: async () => reads.shift() ?? store.load(),
      withLock: (work) => work(),
    };
    const late = clientWith(unlocked);
    expect(await late.get({ rejected: old })).toBe(renewed?.token);
    expect(exchanges()).toEqual([200, 200, 400]);
    expect(await store.load()).toEqual(renewed);
    expect(await ping(late, url)).toBe(200);
  });

  it('saves the new pair when the store cannot be read again', async () => {
    const { clientWith, store, url, exchanges } = await startExpired();
    const load: TokenStore['load'] = () => (exchanges().length > 1 ? Promise.reject(new Error('busy')) : store.load());
    const late = clientWith({ ...store, load });
    expect(await ping(late, url)).toBe(200);
    expect(await store.load()).toMatchObject({ token: await late.get() });
    expect(exchanges()).toEqual([200, 200]);
  });

  it('a refresh that loses the lock of the store does not send the refresh token again', async () => {
    const { clientWith, store, old } = await startExpired();
    const lock = Promise.withResolvers<never>();
    const works: Promise<unknown>[] = [];
    const losing: TokenStore = {
      ...store,
      withLock(work) {
        const running = work();
        works.push(running);
        return Promise.race([running, lock.promise]);
      },
    };
    // As WebKit does when the user leaves the page: it releases the lock, and the request fails.
    const cut = vi.fn(() => {
      lock.reject(new Error('The page was left.'));
      throw new TypeError('Load failed');
    });
    const oauth = clientWith(losing, {
      fetch: async (input, init) => (String(input).endsWith(TOKEN) ? cut() : fetch(input, init)),
    });
    await expect(oauth.get({ rejected: old })).rejects.toMatchObject({ code: 'token-unavailable' });
    await Promise.allSettled(works);
    expect(cut).toHaveBeenCalledOnce();
  });

  it('a refresh whose new pair cannot be saved keeps the pair in memory, logs a warning, and saves it later', async () => {
    const warn = vi.fn();
    const logger = { warn, error() {}, info() {}, debug() {} };
    const { clientWith, url, sandbox, exchanges } = await startOAuthBench({}, { logger, logLevel: 'warn' });
    const store = memoryTokenStore();
    let full = false;
    const save: TokenStore['save'] = (token) => (full ? Promise.reject(new Error('disk full')) : store.save(token));
    const oauth = clientWith({ ...store, save });
    await signIn(oauth);
    await sandbox.advance(HOUR);
    full = true;
    expect(await ping(oauth, url)).toBe(200);
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('disk full'));
    const token = await oauth.get();
    await sandbox.advance(HOUR);
    expect(await ping(oauth, url)).toBe(200);
    expect(exchanges()).toEqual([200, 200, 200]);
    expect(await oauth.get()).not.toBe(token);
    full = false;
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + 11_000);
    await oauth.get();
    expect(await store.load()).toMatchObject({ token: await oauth.get() });
    expect(exchanges()).toEqual([200, 200, 200]);
  });

  it('a refresh whose new pair cannot be saved gives way to a sign-in in another process', async () => {
    const { clientWith, sandbox, url } = await startOAuthBench();
    const store = memoryTokenStore();
    const refuse: TokenStore['save'] = () => Promise.reject(new Error('disk full'));
    await signIn(clientWith(store));
    await sandbox.advance(HOUR);
    const unsaved = clientWith({ ...store, save: refuse });
    expect(await ping(unsaved, url)).toBe(200);
    const other = clientWith(store);
    await signIn(other);
    await sandbox.advance(HOUR);
    expect(await ping(other, url)).toBe(200);
    expect(await ping(unsaved, url)).toBe(200);
    expect(await unsaved.get()).toBe(await other.get());
  });

  it('a refresh whose store cannot be read rejects with `token-unavailable`', async () => {
    const { clientWith, store } = await startOAuthBench();
    const oauth = clientWith({ ...store, load: () => Promise.reject(new Error('no such disk')) });
    expect(await failureOf(oauth.get())).toMatchObject({
      code: 'token-unavailable',
      message: 'The token store cannot be read: no such disk',
    });
  });
});

describe('a grant', () => {
  it('is required, and no request starts a sign-in', async () => {
    const { oauth, url, sandbox } = await startOAuthBench();
    expect(await failureOf(ping(oauth, url))).toMatchObject({ code: 'reauthorization-required', error: 'no_grant' });
    expect(sandbox.log).toHaveLength(0);
  });

  it('is revoked at the server, then deleted from the store', async () => {
    const { oauth, url, store, sandbox, account } = await startOAuthBench();
    await signIn(oauth);
    expect(account.connections()).toHaveLength(1);
    await oauth.revoke();
    expect(account.connections()).toHaveLength(0);
    expect(await store.load()).toMatchObject({ token: '' });
    expect(await failureOf(ping(oauth, url))).toMatchObject({ error: 'no_grant' });
    await oauth.revoke();
    expect(sandbox.log.filter(({ path }) => path === '/oauth/revoke')).toHaveLength(1);
  });

  it('is kept when it cannot be revoked', async () => {
    const { clientWith, store, sandbox, url } = await startOAuthBench();
    const oauth = clientWith(store, { maxRetries: 1 });
    await signIn(oauth);
    const endFault = sandbox.faults.add({ on: '/oauth/revoke', status: 503 });
    expect(await failureOf(oauth.revoke())).toMatchObject({ error: 'temporarily_unavailable' });
    expect(await ping(oauth, url)).toBe(200);
    endFault();
    await oauth.revoke();
    expect(await failureOf(oauth.get())).toMatchObject({ error: 'no_grant' });
  });

  it('is deleted from the store only by `forget`, together with the registration', async () => {
    const { oauth, store, account } = await startOAuthBench();
    await signIn(oauth);
    await oauth.forget();
    expect(await store.load()).toBeUndefined();
    expect(account.connections()).toHaveLength(1);
    expect(await failureOf(oauth.get())).toMatchObject({ error: 'no_grant' });
  });

  it('is kept out of the store of another token source, and other tokens out of its store', async () => {
    const { oauth, clientWith, url } = await startOAuthBench();
    const others = memoryTokenStore();
    await apiToken(credentials, { store: others, baseUrl: url }).get({});
    const held = await others.load();
    expect(await failureOf(clientWith(others).authorize())).toMatchObject({ code: 'configuration-invalid' });
    expect(await others.load()).toEqual(held);
    const own = memoryTokenStore();
    await signIn(clientWith(own));
    const signedIn = await own.load();
    expect(await failureOf(mcpToken(credentials, { store: own, baseUrl: url }).get({}))).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('"oauth"'),
    });
    expect(await own.load()).toEqual(signedIn);
    expect(await failureOf(oauth.get())).toMatchObject({ error: 'no_grant' });
  });

  it('a grant of an issuer that is not allowed is not refreshed', async () => {
    const { oauth, clientWith, store } = await startOAuthBench();
    await oauth.callback(await consent((await oauth.authorize()).url));
    const text = JSON.stringify(await store.load());
    await store.save(JSON.parse(text.replace(/"issuer":"[^"]+"/g, '"issuer":"https://evil.example.com"')));
    const late = clientWith(store);
    expect(await failureOf(late.get({ rejected: await late.get() }))).toMatchObject({
      code: 'configuration-invalid',
      message: expect.stringContaining('allowedIssuers'),
    });
  });
});
