import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigurationError, OAuthError, TimeoutError } from '../../src/index.ts';
import { type SignInOptions, signInWithBrowser } from '../../src/node/index.ts';
import type { OAuthClient } from '../../src/oauth/index.ts';
import '../support/nothing-left.ts';
import { consent, ping, startOAuthBench } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

const bench = (redirectUri = 'http://127.0.0.1/callback') => startOAuthBench({}, { redirectUri });

/** Returns the address that the browser is sent back to. */
const returnOf = (url: string): URL => new URL(new URL(url).searchParams.get('redirect_uri') ?? '');

/** A sign-in that opens nothing; `visit` is the browser. */
const signIn = (oauth: OAuthClient, visit: (url: string) => unknown, options: SignInOptions = {}): Promise<void> =>
  signInWithBrowser(oauth, { open: false, onUrl: visit, ...options });

/** Starts a sign-in; returns its address, and its result. */
async function begin(oauth: OAuthClient, options: SignInOptions = {}) {
  const address = Promise.withResolvers<string>();
  const done = signIn(oauth, address.resolve, options);
  // Awaited later.
  done.catch(() => {});
  const url = await Promise.race([address.promise, done.then(() => '')]);
  const { state } = Object.fromEntries(new URL(url).searchParams);
  return { done, url, back: returnOf(url), state: state ?? '' };
}

/** Expects that no server listens there any more. */
async function expectGone(address: URL): Promise<void> {
  expect(await failureOf(fetch(address))).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
}

/** Returns a function that returns the paths of the requests that have arrived at servers of this process since. */
function noteArrivals(): () => readonly string[] {
  const paths: string[] = [];
  const note = (message: unknown): void => {
    const { request }: { request?: IncomingMessage } = Object(message);
    paths.push(request?.url?.split('?')[0] ?? '');
  };
  subscribe('http.server.request.start', note);
  onTestFinished(() => void unsubscribe('http.server.request.start', note));
  return () => paths;
}

async function takePort(host: string, port = 0): Promise<number> {
  const server = createServer();
  await once(server.listen(port, host), 'listening');
  onTestFinished(async () => {
    await once(server.close(), 'close');
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('a sign-in by the browser', () => {
  it('ends with a token, and a page that reports it', async () => {
    const { oauth, url, store } = await bench();
    const { done, url: address, back } = await begin(oauth);
    expect(back.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const page = await fetch(await consent(address));
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src 'none'; style-src 'unsafe-inline'"),
    });
    const html = await page.text();
    expect(html).toMatch(/You are signed in\.[\s\S]*You may close this window\./);
    expect(html).not.toMatch(/<script|code_/);
    expect(await done).toBeUndefined();
    expect(await store.load()).toMatchObject({ token: await oauth.get() });
    expect(await ping(oauth, url)).toBe(200);
    await expectGone(back);
  });

  it('prints the address on stderr by default', async () => {
    const { oauth } = await bench();
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const done = signInWithBrowser(oauth, { open: false });
    await expect.poll(() => printed.mock.calls.length).toBe(1);
    const [line = ''] = printed.mock.calls[0] ?? [];
    const [, address = ''] = /^Open this address to sign in: (http:\S+)$/.exec(line) ?? [];
    await fetch(await consent(address));
    await done;
  });

  it('continues after a forged address', async () => {
    const { oauth, exchanges } = await bench();
    const { done, url, back } = await begin(oauth);
    for (const query of ['code=stolen&state=forged', 'error=access_denied&state=', '']) {
      const page = await fetch(`${back}?${query}`);
      expect(page.status).toBe(400);
      expect(await page.text()).toContain('No sign-in is waiting for this page.');
    }
    expect(exchanges()).toEqual([]);
    expect((await fetch(await consent(url))).status).toBe(200);
    await done;
    expect(exchanges()).toEqual([200]);
  });

  it('responds only to GET on the path of the redirect URI', async () => {
    const { oauth } = await bench();
    const { done, url, back } = await begin(oauth);
    const status = async (path: string, method = 'GET') => (await fetch(`${back.origin}${path}`, { method })).status;
    expect(await status('/favicon.ico')).toBe(404);
    expect(await status('/callback/')).toBe(404);
    expect(await status('//callback')).toBe(404);
    expect(await status('/callback', 'POST')).toBe(405);
    const head = await fetch(await consent(url), { method: 'HEAD' });
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET']);
    await fetch(await consent(url));
    await done;
  });

  it('rejects with the refusal of the user, after the page is sent', async () => {
    const { oauth } = await bench();
    const { done, url, back } = await begin(oauth);
    const page = await fetch(await consent(url, 'deny'));
    expect(page.status).toBe(400);
    expect(await page.text()).toMatch(/The sign-in failed\.[\s\S]*access_denied/);
    const error = await failureOf(done);
    expect(error).toBeInstanceOf(OAuthError);
    expect(error).toMatchObject({ error: 'access_denied' });
    await expectGone(back);
  });

  it('escapes the messages of a server', async () => {
    const { oauth, url: issuer } = await bench();
    const { done, back, state } = await begin(oauth);
    const query = { state, iss: issuer, error: 'server_error', error_description: '<script>alert(1)</script>"&' };
    const page = await fetch(`${back}?${new URLSearchParams(query)}`);
    const html = await page.text();
    expect(html).toContain('&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#38;');
    expect(html).not.toContain('<script');
    expect(await failureOf(done)).toMatchObject({ error: 'server_error' });
  });

  it('sends the same page to a browser that requests twice', async () => {
    const { oauth, exchanges, sandbox } = await bench();
    const release = sandbox.faults.add({ on: '/oauth/token', delay: 60_000, times: 1 });
    const { done, url } = await begin(oauth);
    const address = await consent(url);
    const arrived = noteArrivals();
    const requests = [fetch(address), fetch(address)];
    await expect.poll(() => arrived().toSorted()).toEqual(['/callback', '/callback', '/oauth/token']);
    release();
    const pages = await Promise.all(requests);
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    await done;
    expect(exchanges()).toEqual([200]);
  });

  it('succeeds with a browser that hangs up before the response', async () => {
    const { oauth, sandbox } = await bench();
    const release = sandbox.faults.add({ on: '/oauth/token', delay: 60_000, times: 1 });
    const { done, url } = await begin(oauth);
    const { hostname, port, pathname, search } = new URL(await consent(url));
    const arrived = noteArrivals();
    const socket = connect(Number(port), hostname);
    socket.end(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    await expect.poll(() => arrived().at(-1)).toBe('/oauth/token');
    socket.destroy();
    release();
    await done;
    expect(await oauth.get()).not.toBe('');
  });

  it('rejects with the error of the callback, also when the service fails', async () => {
    const { oauth, sandbox } = await bench();
    const { done, url } = await begin(oauth);
    const address = await consent(url);
    sandbox.faults.add({ on: '/oauth/token', cut: 'before' });
    const page = await fetch(address);
    expect(page.status).toBe(400);
    expect(await page.text()).not.toMatch(/code_/);
    expect(await failureOf(done)).toMatchObject({ name: 'ConnectionError' });
  });
});

describe('a sign-in that is not completed', () => {
  it('a sign-in that is not completed times out', async () => {
    const { oauth } = await bench();
    // Virtual, because opening the port and the registration take their time on a busy machine.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { done, back } = await begin(oauth, { timeout: 90_000 });
    vi.advanceTimersByTime(89_999);
    expect((await fetch(back)).status).toBe(400);
    vi.advanceTimersByTime(1);
    const error = await failureOf(done);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'sign-in-timeout', message: expect.stringContaining('within 90000 ms') });
    expect(error).toMatchObject({ advice: expect.stringContaining('`forget()`') });
    await expectGone(back);
  });

  it('closes all connections when it is aborted', async () => {
    const { oauth } = await bench();
    const controller = new AbortController();
    const { done, back } = await begin(oauth, { signal: controller.signal });
    // Browsers open connections in advance.
    const idle = connect(Number(back.port), back.hostname);
    await once(idle, 'connect');
    const dropped = once(idle, 'close');
    idle.on('error', () => {});
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await failureOf(done)).toBe(reason);
    await dropped;
    await expectGone(back);
  });

  it('can be aborted during its preparation, or before', async () => {
    const { oauth, sandbox } = await bench();
    const controller = new AbortController();
    sandbox.faults.add({ on: '/oauth/register', delay: 60_000 });
    const done = signIn(oauth, () => {}, { signal: controller.signal });
    await expect.poll(() => sandbox.log.length).toBeGreaterThan(2);
    controller.abort('later');
    expect(await failureOf(done)).toBe('later');
    expect(await failureOf(signIn(oauth, () => {}, { signal: AbortSignal.abort('before') }))).toBe('before');
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no window');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no window'))],
  ])('ends when `onUrl` %s', async (_, onUrl) => {
    const { oauth } = await bench();
    expect(await failureOf(signIn(oauth, onUrl))).toMatchObject({ message: 'no window' });
  });

  it('ends when the service fails', async () => {
    const { oauth, sandbox } = await bench();
    sandbox.faults.add({ status: 400 });
    expect(await failureOf(signIn(oauth, () => {}))).toBeInstanceOf(OAuthError);
  });
});

describe('the address that a sign-in listens on', () => {
  it('has the port of the redirect URI', async () => {
    const { oauth: first } = await bench();
    const { done, back, url } = await begin(first);
    await fetch(await consent(url));
    await done;
    const { oauth } = await bench(back.href);
    const fixed = await begin(oauth);
    expect(fixed.back.href).toBe(back.href);
    await fetch(await consent(fixed.url));
    await fixed.done;
  });

  it('must be free', async () => {
    const port = await takePort('127.0.0.1');
    const { oauth, sandbox } = await bench(`http://127.0.0.1:${port}/callback`);
    const error = await failureOf(signIn(oauth, () => {}));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringContaining(`Port ${port} on 127.0.0.1 is already in use`),
      advice: expect.stringContaining('without a port'),
    });
    expect(sandbox.log).toEqual([]);
  });

  it.each(['http://localhost/', 'http://[::1]/cb?a=1'])('can be %s', async (redirectUri) => {
    const { oauth } = await bench(redirectUri);
    const { done, url, back } = await begin(oauth);
    expect(back.href.replace(/:\d+\//, '/')).toBe(redirectUri);
    const callback = new URL(await consent(url));
    callback.hostname = '[::1]';
    expect((await fetch(callback)).status).toBe(200);
    await done;
  });

  it('covers both addresses of localhost', async () => {
    const { oauth: first } = await bench('http://localhost/callback');
    const { done, url, back } = await begin(first);
    for (const hostname of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${hostname}:${back.port}/callback`)).status).toBe(400);
    }
    await fetch(await consent(url));
    await done;
    let port = 0;
    const failure = async (): Promise<string> => {
      port = await takePort('::1');
      const { oauth } = await bench(`http://localhost:${port}/callback`);
      return String(await failureOf(signIn(oauth, () => {})));
    };
    // Another program may use the same port of the other address.
    await expect.poll(failure).toContain('on ::1 is already in use');
    await expectGone(new URL(`http://127.0.0.1:${port}`));
  });

  it.each(['https://app.example.com/callback', 'https://127.0.0.1/callback'])('cannot be %s', async (redirectUri) => {
    const { oauth } = await bench(redirectUri);
    const error = await failureOf(signIn(oauth, () => {}));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringContaining('http://127.0.0.1/callback') });
  });

  it('is not opened with options that are invalid', async () => {
    const { oauth } = await bench();
    expect(await failureOf(signIn(oauth, () => {}, { timeout: Number.NaN }))).toBeInstanceOf(ConfigurationError);
    expect(await failureOf(signIn(oauth, () => {}, JSON.parse('{"timeOut":1}')))).toBeInstanceOf(ConfigurationError);
  });
});
