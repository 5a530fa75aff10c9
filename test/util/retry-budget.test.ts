import { describe, expect, it } from 'vitest';
import { AudienceClient, type ClientOptions } from '../../src/index.ts';
import { clientOf, failureOf, quick, startServer } from '../support/server.ts';

type Respond = (sent: number) => Response | Promise<Response>;

/** A client of a service that is a function; `sent` counts the requests. */
function startService(respond: Respond, options: ClientOptions = {}): { client: AudienceClient; sent: () => number } {
  let sent = 0;
  const fetch = async (): Promise<Response> => respond(++sent);
  const client = new AudienceClient({
    ...quick,
    baseUrl: 'http://localhost',
    token: 'test-token',
    rateLimits: false,
    backoff: { min: 0, max: 0 },
    fetch,
    ...options,
  });
  return { client, sent: () => sent };
}

const failing = (): Response => new Response('', { status: 503 });
const working = (): Response => Response.json({ status: 'success', code: 200, message: '', data: [] });
const lost = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));

describe('the retry budget', () => {
  it.each([
    ['5xx responses', failing],
    ['lost connections', lost],
    ['responses of a proxy', (): Response => new Response('<html>')],
  ])('bounds the retries of 1,000 calls in an outage: %s', async (_, respond) => {
    const { client, sent } = startService(respond);
    const calls = Array.from({ length: 1_000 }, () => failureOf(client.webhooks.list()));
    const errors = await Promise.all(calls);
    expect(sent()).toBe(1_000 + 500 / 5);
    expect(String(errors.at(-1))).toMatch(/It was not retried: .*retry budget.*\(`retryBudget`\)/);
  });

  it('can be switched off, resized, and is shared by derived clients', async () => {
    const off = startService(failing, { retryBudget: false });
    await Promise.all(Array.from({ length: 200 }, () => failureOf(off.client.webhooks.list())));
    expect(off.sent()).toBe(1_000);
    const small = startService(failing, { retryBudget: { capacity: 6, cost: 2 } });
    await failureOf(small.client.webhooks.list());
    await failureOf(small.client.withOptions({ timeout: 1_000 }).webhooks.list());
    expect(small.sent()).toBe(2 + 3);
  });

  it('is filled by successes', async () => {
    let isUp = false;
    const { client, sent } = startService(() => (isUp ? working() : failing()), {
      retryBudget: { capacity: 10, cost: 5 },
    });
    await failureOf(client.webhooks.list());
    expect(sent()).toBe(3);
    isUp = true;
    for (let at = 0; at < 5; at++) await client.webhooks.list();
    isUp = false;
    await failureOf(client.webhooks.list());
    expect(sent()).toBe(3 + 5 + 2);
  });

  it('returns the cost of a retry that succeeds', async () => {
    const options = { retryBudget: { capacity: 5, cost: 5 } };
    const { client, sent } = startService((request) => (request % 2 === 1 ? failing() : working()), options);
    for (let at = 0; at < 3; at++) await client.webhooks.list();
    expect(sent()).toBe(6);
  });

  it('is not used by 429, by the renewal of a token, nor by the wait for a create in flight', async () => {
    const replies = [
      new Response('', { status: 429, headers: { 'retry-after': '0' } }),
      new Response('', { status: 401 }),
      new Response('', { status: 409 }),
      working(),
      failing(),
      working(),
    ];
    const { client, sent } = startService(() => replies.shift() ?? failing(), {
      token: () => 'another-token',
      retryBudget: { capacity: 5, cost: 5 },
    });
    await failureOf(client.audiences.create({ name: 'x' }, { onConflict: 'wait' }));
    await client.webhooks.list();
    expect(sent()).toBe(6);
  });

  it('is not filled by a retry that took nothing', async () => {
    const limited = (): Response => new Response('', { status: 429, headers: { 'retry-after': '0' } });
    const replies = [failing(), failing(), failing(), limited(), working()];
    const { client, sent } = startService(() => replies.shift() ?? failing(), {
      retryBudget: { capacity: 10, cost: 5 },
    });
    await failureOf(client.webhooks.list());
    await client.webhooks.list();
    await failureOf(client.webhooks.list());
    expect(sent()).toBe(3 + 2 + 1);
  });

  it('leaves the outcome of a create, and what to do about it', async () => {
    const { client } = startService(failing, { retryBudget: { capacity: 0 } });
    const error = await failureOf(client.audiences.create({ name: 'x' }, { idempotencyKey: 'key-1' }));
    expect(error).toMatchObject({ name: 'ServerError', outcome: 'unknown', idempotencyKey: 'key-1', attempts: 1 });
    expect(String(error)).toMatch(/retry budget.*retry with the same `idempotencyKey`/);
  });

  it.each([[{ capacity: -1 }], [{ cost: Number.NaN }], [{ capacty: 5 }], [true], [null], [7]])(
    'is refused where it is not one: %j',
    (retryBudget) => {
      const options: object = { retryBudget };
      expect(() => clientOf({ url: 'http://127.0.0.1:1' }, options)).toThrow(/`retryBudget/);
    },
  );
});

describe('a service that asks for no retry', () => {
  it.each([500, 503, 429, 408])('is obeyed: %i with x-should-retry: false', async (status) => {
    const server = await startServer([{ status, headers: { 'x-should-retry': 'False' } }]);
    expect(await failureOf(clientOf(server).webhooks.list())).toMatchObject({ status, attempts: 1 });
    expect(await server.seen()).toHaveLength(1);
  });

  it('does not keep a token from being renewed', async () => {
    const server = await startServer([{ status: 401, headers: { 'x-should-retry': 'false' } }, {}]);
    expect(await clientOf(server, { token: () => 'another-token' }).webhooks.list()).toEqual([]);
  });
});
