import { describe, expect, it, onTestFinished } from 'vitest';
import { createRateLimiter } from '../../src/client/rate-limit/rate-limiter.ts';
import { AudienceClient, memoryTokenStore } from '../../src/index.ts';
import { createOAuthClient } from '../../src/oauth/index.ts';
import { RATE_LIMITS } from '../../src/spec/limits.ts';
import { parseSignatureHeader } from '../../src/webhooks/signature.ts';
import { expectLinearTime } from '../support/linear-time.ts';
import { REDIRECT } from '../support/oauth.ts';
import { failureOf, quick } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';
import { someOf } from '../support/volume.ts';
import { HOSTILE_RESPONSES } from './support/hostile.ts';

/** Creates a client whose requests get one response, and that sends each call once. */
function clientWith(response: () => Response): AudienceClient {
  const fetch = async (): Promise<Response> => response();
  const options = { baseUrl: 'http://localhost', token: 'test-token', mcpToken: 'test-token', fetch, ...quick };
  const client = new AudienceClient({ ...options, maxRetries: 0, rateLimits: false });
  onTestFinished(() => client.close());
  return client;
}

describe('a client handles in linear time', () => {
  it('calls that are queued for the rate limit, and their end', () =>
    expectLinearTime(
      (size) => async () => {
        const limiter = createRateLimiter(RATE_LIMITS);
        const controller = new AbortController();
        const options = { scope: 's', priority: 'foreground', signal: controller.signal } as const;
        const calls = Array.from({ length: size }, () => limiter.acquire('read', options).catch(() => {}));
        controller.abort();
        await Promise.all(calls);
      },
      8_000,
    ));

  it.each([
    ['backslashes', '%5C', '\\'],
    ['slashes', '/', '/'],
    ['percent signs', '%25', '%25'],
    ['entities', '%26amp%3B', '&amp;'],
    ['equal letters', 'a', 'a'],
  ])('a refusal by storage that repeats a query of %s', (_, query, text) =>
    expectLinearTime((size) => {
      const message = text.repeat(900 / text.length);
      const body = `<Error><Code>${message}</Code><Message>${message}</Message>${text.repeat(size)}`;
      const client = clientWith(() => new Response(body, { status: 403 }));
      const url = `https://storage.example/slot?sig=${query.repeat(size / query.length)}B`;
      const slot = { reference: 'r', url, expires_at: '' };
      return () => failureOf(client.uploads.send(slot, new Uint8Array(1)));
    }, 32_000),
  );

  it('results whose datastreams have equal names', () =>
    expectLinearTime((size) => {
      const uri = 'https://storage.example/f.csv';
      const stream = { name: 'Same', status: 'Delivered', results: { uri } };
      const data = { ...wireActivation(uri), datastreams: Array.from({ length: size }, () => stream) };
      const client = clientWith(() => Response.json({ status: 'success', code: 200, message: '', data }));
      return async () => {
        const names = new Set<string>();
        for await (const { fileName } of client.activations.download(7)) names.add(fileName);
        expect([names.size, [...names].at(-1)]).toEqual([size, `Same-${size}.csv`]);
      };
    }, 2_000));

  it('a description of a resource whose address has thousands of slashes, and shows a part of it', () =>
    expectLinearTime((size) => {
      const baseUrl = 'https://api.example.com';
      const resource = `${baseUrl}${'/'.repeat(size)}x?token=canary`;
      const fetch = async (_: unknown, init?: RequestInit): Promise<Response> =>
        init?.method === 'POST' ? new Response(null, { status: 401 }) : Response.json({ resource });
      const oauth = createOAuthClient({ baseUrl, redirectUri: REDIRECT, store: memoryTokenStore(), fetch });
      return async () => {
        const error = await failureOf(oauth.authorize());
        expect(error).toMatchObject({ error: 'invalid_target' });
        expect(String(error).length).toBeLessThan(1_000);
      };
    }, 32_000));

  it('a signature header that consists of spaces', () =>
    expectLinearTime((size) => {
      const header = `t=${' '.repeat(size)}x`;
      return () => failureOf(Promise.resolve(header).then(parseSignatureHeader));
    }, 4_080));

  it.each(someOf(HOSTILE_RESPONSES).map((hostile) => [hostile(40).status, hostile(40).body, hostile] as const))(
    'a response with status %i like %j',
    (_, __, hostile) =>
      expectLinearTime((size) => {
        const { status, body } = hostile(size);
        const client = clientWith(() => new Response(body, { status }));
        return () => client.audiences.create({ name: 'x' }).catch(() => {});
      }, 64_000),
  );

  it.each(['a\n\n', '\n', ':\n', 'data\n\n', 'data: x\n\n', 'data:{\n\n', 'event: x\n', 'data: x\r\r', 'data:\n'])(
    'an event stream of %j',
    (block) =>
      expectLinearTime((size) => {
        const body = block.repeat(size / block.length);
        const client = clientWith(() => new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
        const message = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;
        return () => client.mcp.send(message).catch(() => {});
      }, 64_000),
  );
});
