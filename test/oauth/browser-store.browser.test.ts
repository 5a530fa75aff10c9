import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import * as oauth from '../../src/oauth/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { ping } from '../support/oauth.ts';
import { credentials } from '../support/sandbox.ts';
import { quick } from '../support/server.ts';

const baseUrl = 'https://api.example.com';
const key = 'browser-store-test';
const HOUR = 3_600_000;

beforeEach(() => localStorage.removeItem(key));
afterEach(() => {
  vi.useRealTimers();
  localStorage.removeItem(key);
});

/** Loads the package a second time in a frame of the same origin, which shares only the browser with this page. */
function openFrame(): Promise<{ readonly oauth: typeof oauth; readonly storage: Storage }> {
  const frame = document.createElement('iframe');
  const address = new URL('../../src/oauth/index.ts', import.meta.url).href;
  frame.srcdoc = `<script type="module">
    const detail = { oauth: await import(${JSON.stringify(address)}), storage: localStorage };
    frameElement.dispatchEvent(new parent.CustomEvent('ready', { detail }));
  </script>`;
  onTestFinished(() => frame.remove());
  return new Promise((resolve) => {
    frame.addEventListener('ready', (event) => {
      if (event instanceof CustomEvent) resolve(event.detail);
    });
    document.body.append(frame);
  });
}

/** Starts a sandbox in this page, with a user who has signed in and a token in the page's storage. */
async function startPage() {
  const sandbox = createSandbox({ clock: 'manual' });
  onTestFinished(() => sandbox.close());
  const account = sandbox.accounts.create(credentials);
  const open = ({ createOAuthClient, browserTokenStore } = oauth, storage = localStorage): oauth.OAuthClient => {
    const store = browserTokenStore({ storage, key });
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

describe('two tabs of a browser with one storage', () => {
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

  it('refresh once when their token has expired', async () => {
    const { sandbox, open, exchanges } = await startPage();
    const tabs = [open(), open()];
    await Promise.all(tabs.map((tab) => tab.get()));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * HOUR });
    await sandbox.advance(2 * HOUR);
    expect(await Promise.all(tabs.map((tab) => ping(tab, baseUrl)))).toEqual([200, 200]);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('refresh once together with a frame that has its own copy of the package', async () => {
    const { sandbox, open, exchanges } = await startPage();
    const inFrame = await openFrame();
    expect(inFrame.oauth.createOAuthClient).not.toBe(oauth.createOAuthClient);
    const tabs = [open(), open(inFrame.oauth, inFrame.storage)];
    await Promise.all(tabs.map((tab) => tab.get()));
    await sandbox.advance(2 * HOUR);
    expect(await Promise.all(tabs.map((tab) => ping(tab, baseUrl)))).toEqual([200, 200]);
    expect(new Set(await Promise.all(tabs.map((tab) => tab.get()))).size).toBe(1);
    expect(exchanges()).toEqual([200, 200]);
  });

  it('sign out together', async () => {
    const { open } = await startPage();
    await open().revoke();
    await expect(open().get()).rejects.toMatchObject({ name: 'ReauthorizationRequiredError', error: 'no_grant' });
  });
});
