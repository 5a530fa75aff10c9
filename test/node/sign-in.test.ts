import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ConfigurationError, OAuthError, TimeoutError } from '../../src/index.ts';
import { type SignInOptions, signInWithBrowser } from '../../src/node/index.ts';
import type { OAuthClient } from '../../src/oauth/index.ts';
import '../support/nothing-left.ts';
import { consent, ping, startOAuthBench } from '../support/oauth.ts';
import { failureOf } from '../support/server.ts';

const bench = (redirectUri = 'http://127.0.0.1/callback') => startOAuthBench({}, { redirectUri });

/** Where the browser comes back to, of an address to open. */
const returnOf = (url: string): URL => new URL(new URL(url).searchParams.get('redirect_uri') ?? '');

/** A sign-in that opens nothing; `visit` is the browser. */
const signIn = (oauth: OAuthClient, visit: (url: string) => unknown, options: SignInOptions = {}): Promise<void> =>
  signInWithBrowser(oauth, { open: false, onUrl: visit, ...options });

/** An address that was told, and the sign-in that waits for it. */
async function begin(oauth: OAuthClient, options: SignInOptions = {}) {
  const told = Promise.withResolvers<string>();
  const done = signIn(oauth, told.resolve, options);
  // Looked at later.
  done.catch(() => {});
  const url = await Promise.race([told.promise, done.then(() => '')]);
  const { state } = Object.fromEntries(new URL(url).searchParams);
  return { done, url, back: returnOf(url), state: state ?? '' };
}

/** Whether nobody listens there any more. */
async function expectGone(address: URL): Promise<void> {
  expect(await failureOf(fetch(address))).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
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
  it('ends with a token and a page that says so', async () => {
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

  it('tells the address on stderr unless told otherwise', async () => {
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

  it('goes on after a forged address, also with an answer of its own', async () => {
    const { oauth, exchanges } = await bench();
    const { done, url, back } = await begin(oauth);
    for (const query of ['code=stolen&state=forged', 'error=access_denied&state=', '']) {
      const page = await fetch(`${back}?${query}`);
      expect(page.status).toBe(400);
      expect(await page.text()).toContain('This address belongs to no sign-in.');
    }
    expect(exchanges()).toEqual([]);
    expect((await fetch(await consent(url))).status).toBe(200);
    await done;
    expect(exchanges()).toEqual([200]);
  });

  it('answers on the path of the redirect URI by GET alone', async () => {
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

  it('rejects with the refusal of the user, after telling so', async () => {
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

  it('shows what a server says as text', async () => {
    const { oauth, url: issuer } = await bench();
    const { done, back, state } = await begin(oauth);
    const answer = { state, iss: issuer, error: 'server_error', error_description: '<script>alert(1)</script>"&' };
    const page = await fetch(`${back}?${new URLSearchParams(answer)}`);
    const html = await page.text();
    expect(html).toContain('&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#38;');
    expect(html).not.toContain('<script');
    expect(await failureOf(done)).toMatchObject({ error: 'server_error' });
  });

  it('gives a browser that asks twice the same answer', async () => {
    const { oauth, exchanges, sandbox } = await bench();
    sandbox.faults.add({ on: '/oauth/token', delay: 100, times: 1 });
    const { done, url } = await begin(oauth);
    const address = await consent(url);
    const pages = await Promise.all([fetch(address), fetch(address)]);
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    await done;
    expect(exchanges()).toEqual([200]);
  });

  it('is made by a browser that hangs up before the answer', async () => {
    const { oauth, sandbox } = await bench();
    sandbox.faults.add({ on: '/oauth/token', delay: 100, times: 1 });
    const { done, url } = await begin(oauth);
    const { hostname, port, pathname, search } = new URL(await consent(url));
    const socket = connect(Number(port), hostname);
    socket.end(`GET ${pathname}${search} HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
    await expect.poll(() => sandbox.log.at(-1)?.path).toBe('/oauth/token');
    socket.destroy();
    await done;
    expect(await oauth.get()).not.toBe('');
  });

  it('rejects with what the callback meets, also when the service fails', async () => {
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

describe('a sign-in that nobody ends', () => {
  it('times out', async () => {
    const { oauth } = await bench();
    const { done, back } = await begin(oauth, { timeout: 200 });
    const error = await failureOf(done);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'sign-in-timeout', message: expect.stringContaining('within 200 ms') });
    await expectGone(back);
  });

  it('is aborted, with all its connections', async () => {
    const { oauth } = await bench();
    const controller = new AbortController();
    const { done, back } = await begin(oauth, { signal: controller.signal });
    // As browsers do, to be quick later.
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

  it('is aborted while it is prepared, or before', async () => {
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

  it('ends when the service is out of order', async () => {
    const { oauth, sandbox } = await bench();
    sandbox.faults.add({ status: 400 });
    expect(await failureOf(signIn(oauth, () => {}))).toBeInstanceOf(OAuthError);
  });
});

describe('the address that a sign-in listens on', () => {
  it('has the port that it was given', async () => {
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

  it('is free, or else the error says so', async () => {
    const port = await takePort('127.0.0.1');
    const { oauth, sandbox } = await bench(`http://127.0.0.1:${port}/callback`);
    const error = await failureOf(signIn(oauth, () => {}));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: expect.stringMatching(`^Port ${port} of 127.0.0.1 is in use.*without a port`),
    });
    expect(sandbox.log).toEqual([]);
  });

  it.each(['http://localhost/', 'http://[::1]/cb?a=1'])('may be %s', async (redirectUri) => {
    const { oauth } = await bench(redirectUri);
    const { done, url, back } = await begin(oauth);
    expect(back.href.replace(/:\d+\//, '/')).toBe(redirectUri);
    const answered = new URL(await consent(url));
    answered.hostname = '[::1]';
    expect((await fetch(answered)).status).toBe(200);
    await done;
  });

  it('is both of localhost', async () => {
    const { oauth: first } = await bench('http://localhost/callback');
    const { done, url, back } = await begin(first);
    for (const hostname of ['127.0.0.1', '[::1]']) {
      expect((await fetch(`http://${hostname}:${back.port}/callback`)).status).toBe(400);
    }
    await fetch(await consent(url));
    await done;
    const port = await takePort('::1');
    const { oauth } = await bench(`http://localhost:${port}/callback`);
    expect(await failureOf(signIn(oauth, () => {}))).toMatchObject({
      message: expect.stringContaining('of ::1 is in use'),
    });
    await expectGone(new URL(`http://127.0.0.1:${port}`));
  });

  it.each(['https://app.example.com/callback', 'https://127.0.0.1/callback'])('is not %s', async (redirectUri) => {
    const { oauth } = await bench(redirectUri);
    const error = await failureOf(signIn(oauth, () => {}));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ message: expect.stringContaining('http://127.0.0.1/callback') });
  });

  it('is given up for a timeout that is no number', async () => {
    const { oauth } = await bench();
    expect(await failureOf(signIn(oauth, () => {}, { timeout: Number.NaN }))).toBeInstanceOf(ConfigurationError);
    expect(await failureOf(signIn(oauth, () => {}, JSON.parse('{"timeOut":1}')))).toBeInstanceOf(ConfigurationError);
  });
});
