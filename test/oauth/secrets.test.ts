import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient, type OAuthClientOptions } from '../../src/oauth/index.ts';
import { everything } from '../support/everything.ts';
import { consent, MCP, REDIRECT, startOAuthBench } from '../support/oauth.ts';
import { failureOf, quick } from '../support/server.ts';

/** Responses of a server that repeats the request's body. */
const RESPONSES = [
  (body: string) => Response.json({ error: 'invalid_grant', error_description: body }, { status: 400 }),
  (body: string) => Response.json({ error: body, error_description: body }, { status: 401 }),
  (body: string) => Response.json({ error: 'server_error', error_description: body }, { status: 500 }),
  (body: string) => new Response(body, { status: 502 }),
  (body: string) => Response.json({ access_token: 7, token_type: body }),
  (body: string) =>
    Response.json({ access_token: 'new-token-1234', token_type: body, refresh_token: 'new-refresh-1234' }),
  (body: string) => new Response(body, { status: 200, headers: { 'content-type': body.slice(0, 20) } }),
  (body: string): Response => {
    throw new TypeError('fetch failed', { cause: new Error(`could not send ${body}`) });
  },
];

it.each(RESPONSES.map((respond, at) => [at, respond] as const))(
  'errors, logs, URLs and inspection show no secret: response %i',
  async (_, respond) => {
    const { url } = await startOAuthBench();
    const store = memoryTokenStore();
    const seen: unknown[] = [];
    const addresses: string[] = [];
    const secrets = new Set<string>();
    let echoing = false;
    const recording: OAuthClientOptions['fetch'] = async (input, init) => {
      addresses.push(String(input));
      const form = new URLSearchParams(String(init?.body ?? ''));
      for (const name of ['code', 'code_verifier', 'refresh_token', 'token', 'client_secret']) {
        for (const value of form.getAll(name)) secrets.add(value);
      }
      const bearer = new Headers(init?.headers).get('authorization')?.replace(/^\w+ /, '');
      if (bearer) secrets.add(bearer);
      return echoing && !String(input).includes('well-known') ? respond(String(init?.body)) : fetch(input, init);
    };
    const write = (...line: unknown[]): void => void seen.push(line);
    const logger = { error: write, warn: write, info: write, debug: write };
    const options = { redirectUri: REDIRECT, store, fetch: recording, ...quick, maxRetries: 1, logger } as const;
    const oauth = createOAuthClient({ baseUrl: url, ...options, logLevel: 'debug' });
    const { url: address } = await oauth.authorize();
    const back = await consent(address);
    echoing = true;
    seen.push(await oauth.callback(back).catch((error) => error));
    echoing = false;
    await oauth.callback(await consent((await oauth.authorize()).url));
    await (await oauth.fetch(`${url}${MCP}`)).text();
    const rejected = await oauth.get();
    echoing = true;
    seen.push(oauth, await oauth.revoke().catch((error) => error));
    seen.push(await oauth.get({ rejected }).catch((error) => error));
    const shown = seen
      .map((one) => [inspect(one, { depth: 20, showHidden: true }), everything(one)].join('\n'))
      .join('\n');
    expect(secrets.size).toBeGreaterThanOrEqual(4);
    for (const secret of secrets) {
      expect(shown).not.toContain(secret);
      expect(addresses.join('\n')).not.toContain(secret);
    }
    expect(shown).not.toMatch(/new-(?:token|refresh)-1234/);
  },
);

it('an error shows no part of a refresh token that the length limit of a description would split', async () => {
  const { url } = await startOAuthBench();
  const sent: string[] = [];
  let before = -1;
  const echoing: OAuthClientOptions['fetch'] = async (input, init) => {
    const token = new URLSearchParams(String(init?.body ?? '')).get('refresh_token');
    if (before < 0 || token === null) return fetch(input, init);
    sent.push(token);
    const description = `${'x'.repeat(before)}${token}${'y'.repeat(1_000)}`;
    return Response.json({ error: 'invalid_request', error_description: description }, { status: 400 });
  };
  const options = {
    redirectUri: REDIRECT,
    store: memoryTokenStore(),
    fetch: echoing,
    ...quick,
    maxRetries: 0,
  } as const;
  const oauth = createOAuthClient({ baseUrl: url, ...options });
  await oauth.callback(await consent((await oauth.authorize()).url));
  const rejected = await oauth.get();
  for (before = 270; before < 300; before += 3) {
    const shown = everything(await failureOf(oauth.get({ rejected })));
    expect(shown).toContain('invalid_request');
    expect(shown).not.toContain(sent.at(-1)?.slice(0, 6));
  }
  expect(sent).toHaveLength(10);
});
