import '../support/nothing-left.ts';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import {
  AudienceClient,
  apiToken,
  type ClientOptions,
  loginToken,
  memoryTokenStore,
  type TokenSource,
} from '../../src/index.ts';
import { everything } from '../support/everything.ts';
import { type Fault, LOST, startFaultProxy } from '../support/fault-proxy.ts';
import { answer } from '../support/job-service.ts';
import { quickly } from '../support/quickly.ts';
import { startBench } from '../support/sandbox.ts';
import { clientOf, failureOf, quick } from '../support/server.ts';
import { someOf } from '../support/volume.ts';

const TOKEN = 'CANARY-token-1';
const secrets = { email: 'canary@example.com', password: 'CANARY "pass" wörd-2' };
const headers = { 'x-api-key': 'CANARY-header-3', 'X-Session-Token': 'CANARY-header-4' };

/** Responses that repeat the entire request. */
const ECHOES = [200, 301, 400, 401, 403, 404, 406, 409, 422, 429, 500, 503].flatMap((status): Fault[] => [
  { kind: 'answer', status, echo: 'text', headers: { 'x-echo': `Bearer ${TOKEN}` } },
  { kind: 'answer', status, echo: 'envelope' },
]);

/** Every way in which a call ends. */
const FAULTS: readonly Fault[] = [...LOST, ...someOf(ECHOES)];

const failing: TokenSource = { get: () => Promise.reject(new Error('the vault is closed')) };

const visible = (value: unknown): string =>
  [inspect(value, { depth: 20, showHidden: true, showProxy: true }), everything(value)].join('\n');

it.each(FAULTS.map((fault, at) => [at, fault] as const))(
  'no secret shows in errors, logs or inspection, whatever happens: fault %i',
  (_, fault) =>
    quickly(async () => {
      const { url } = await startBench();
      const proxy = await startFaultProxy(url, () => fault);
      const lines: unknown[] = [];
      const write = (...line: unknown[]): void => void lines.push(line);
      const logger = { error: write, warn: write, info: write, debug: write };
      const hook = (event: unknown): void => void lines.push(event);
      const shared = {
        ...quick,
        baseUrl: proxy.url,
        headers,
        logger,
        logLevel: 'debug',
        timeout: 80,
        maxRetries: 1,
        maxRetryWait: 10,
        onRequest: hook,
        onResponse: hook,
        onRetry: hook,
      } as const satisfies ClientOptions;
      const tokens: ClientOptions[] = [
        { token: TOKEN, mcpToken: TOKEN },
        { token: () => TOKEN },
        { credentials: secrets },
        { token: loginToken(secrets) },
        { token: apiToken(secrets, { store: memoryTokenStore() }) },
        { token: failing },
      ];
      const seen: unknown[] = [];
      for (const token of tokens) {
        await using client = new AudienceClient({ ...shared, ...token });
        const create = client.audiences.create({ name: 'x' }, { headers: { 'x-secret': 'CANARY-call-5' } });
        if (typeof token.token === 'object') seen.push(token.token);
        seen.push(client, create, await failureOf(create));
        seen.push(await client.audiences.list().catch((error: unknown) => error));
        seen.push(await client.auth.login(secrets).catch((error: unknown) => error));
        seen.push(await client.audiences.wait(1, { timeout: 20 }).catch((error: unknown) => error));
      }
      const text = [...seen, ...lines].map(visible).join('\n');
      expect(text.length).toBeGreaterThan(1_000);
      expect([...text.matchAll(/CANARY/g)].map(({ index }) => text.slice(index - 60, index + 26))).toEqual([]);
    }),
);

it('no secret shows in an error after hundreds of others: tokens of a function, headers, logins', async () => {
  const message = `${TOKEN} CANARY-header CANARY-call`;
  const fetch = async (input: Request | URL | string): Promise<Response> =>
    String(input instanceof Request ? input.url : input).endsWith('/auth/login')
      ? answer({ token: 'CANARY-issued' })
      : Response.json({ status: 'error', code: 418, message, data: [] }, { status: 418 });
  let issued = 0;
  const options = { headers: { 'x-api-key': 'CANARY-header' }, rateLimits: false, fetch } as const;
  const service = { url: 'http://localhost' };
  const fixed = clientOf(service, { token: TOKEN, ...options });
  const rotating = clientOf(service, { token: () => `rotated-${++issued}`, ...options });
  for (let at = 0; at < 250; at++) {
    await fixed.auth.login({ email: 'me@example.com', password: `password-${at}` });
    await failureOf(rotating.webhooks.list({ headers: { 'x-token': `other-${at}` } }));
  }
  const call = { headers: { 'x-token': 'CANARY-call' } };
  expect(everything(await failureOf(fixed.webhooks.list(call)))).not.toContain('CANARY');
  expect(everything(await failureOf(rotating.webhooks.list(call)))).not.toMatch(/CANARY-header|CANARY-call/);
});
