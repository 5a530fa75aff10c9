import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as oauth from '../../src/oauth/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { ping } from '../support/oauth.ts';
import { credentials } from '../support/sandbox.ts';
import { quick } from '../support/server.ts';

const baseUrl = 'https://api.example.com';
const key = 'browser-store-test';
const HOUR = 3_600_000;

beforeEach(() => oauth.browserTokenStore({ key }).save(undefined));
afterEach(() => {
  vi.useRealTimers();
});

/** Starts a sandbox in this page, with a user who has signed in and a token in the browser's store. */
async function startPage() {
  const sandbox = createSandbox({ clock: 'manual' });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  const open = ({ createOAuthClient, browserTokenStore } = oauth): oauth.OAuthClient => {
    const store = browserTokenStore({ key });
    const redirectUri = `${location.origin}/callback`;
    return createOAuthClient({ baseUrl, redirectUri, store, fetch: sandbox.fetch, ...quick });
  };
  const { url } = await open().authorize();
  // After the redirect, the page is another one.
  await open().callback(sandbox.oauth.consent(account, url));
  // Delay refreshes, so that they would overlap without the lock.
  sandbox.faults.add({ on: '/oauth/token', delay: 50 });
  const exchanges = () => sandbox.log.filter(({ path }) => path === '/oauth/token').map(({ status }) => status);
  return { sandbox, open, exchanges };
}

it('a token is stored until it is deleted, under its key', async () => {
  const [store, other] = [oauth.browserTokenStore({ key }), oauth.browserTokenStore({ key: `${key}-other` })];
  expect(await store.load()).toBeUndefined();
  const token = { token: 'a', expiresAt: '2027-01-01T00:00:00Z', more: { of: ['it'] } };
  await store.save(token);
  expect(await oauth.browserTokenStore({ key }).load()).toEqual(token);
  expect(await other.load()).toBeUndefined();
  await store.save(undefined);
  expect(await store.load()).toBeUndefined();
});

describe('two clients of a page', () => {
  it('refresh once when the service rejects their token', async () => {
    const { sandbox, open, exchanges } = await startPage();
    const tabs = [open(), open()];
    const before = await Promise.all(tabs.map((tab) => tab.get()));
    await sandbox.advance(2 * HOUR);
    expect(await Promise.all(tabs.map((tab) => ping(tab, baseUrl)))).toEqual([200, 200]);
    const after = new Set(await Promise.all(tabs.map((tab) => tab.get())));
    expect(after.size).toBe(1);
    expect(after).not.toContain(before[0]);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('sign out together', async () => {
    const { open } = await startPage();
    await open().revoke();
    await expect(open().get()).rejects.toMatchObject({ name: 'ReauthorizationRequiredError', error: 'no_grant' });
  });
});
