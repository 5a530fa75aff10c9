import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { verifyWebhook } from '../../src/webhooks/index.ts';
import { serve } from '../support/file-server.ts';
import { quickly } from '../support/quickly.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
interface Received {
  readonly body: string;
  readonly signature: string;
}

/** Starts a receiver that responds with `status`, and an endpoint that subscribes to audience events. */
async function start(status: (attempt: number) => number | undefined = () => 200, options: SandboxOptions = {}) {
  const received: Received[] = [];
  const { url } = await serve(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    received.push({ body, signature: String(request.headers['service-signature']) });
    const code = status(received.length);
    if (code !== undefined) response.writeHead(code).end();
  });
  const bench = await startBench(options);
  const { sandbox, account } = bench;
  const endpoint = sandbox.webhooks.create({
    account,
    name: 'Mine',
    url,
    events: ['audience.completed', 'audience.failed'],
  });
  const verify = ({ body, signature }: Received, secrets: string | string[] = endpoint.secret) =>
    verifyWebhook(body, signature, secrets, { now: () => sandbox.now() });
  return { ...bench, received, endpoint, verify };
}

describe('deliveries of the sandbox', () => {
  it('a delivery holds the resource as its GET returns it, signed, in the documented envelope', async () => {
    const { client, sandbox, received, verify } = await start();
    const { id } = await client.audiences.create({ name: 'Visitors' });
    await sandbox.advance(11 * MINUTE);
    const [first] = received;
    if (!first) throw new Error('Nothing was received.');
    const event = await verify(first);
    expect(event).toMatchObject({ schema_version: 1, id: expect.stringMatching(/^evt_/), type: 'audience.completed' });
    expect(Date.parse(event.created_at)).toBeLessThanOrEqual(sandbox.now());
    const raw = await (await client.audiences.get(id).asResponse()).json();
    expect(JSON.parse(first.body).data).toEqual(raw.data[0]);
    expect((await client.webhooks.list())[0]).toMatchObject({ is_active: true, last_delivery_at: expect.any(String) });
    expect(JSON.stringify(await client.webhooks.list())).not.toContain('whsec_');
  });

  it('an endpoint that is changed keeps what is left out, and gets the next attempt of an event at its new URL', async () => {
    const { client, sandbox, received, endpoint } = await start(() => 500);
    const urls: (string | undefined)[] = [];
    const { url } = await serve((request, response) => {
      urls.push(request.url);
      response.end();
    });
    await client.audiences.create({ name: 'Visitors' });
    await sandbox.advance(10 * MINUTE);
    expect(received).toHaveLength(1);
    sandbox.webhooks.update(endpoint.id, { url: `${url}/moved`, events: ['audience.failed'] });
    await sandbox.advance(2 * MINUTE);
    expect([received.length, urls]).toEqual([1, ['/moved']]);
    expect((await client.webhooks.list())[0]).toMatchObject({ name: 'Mine', events: ['audience.failed'] });
    for (const changes of [{ url: 'ftp://example.com/' }, { events: ['other'] }])
      expect(() => sandbox.webhooks.update(endpoint.id, changes)).toThrow('must be');
    expect(() => sandbox.webhooks.update(99, {})).toThrow('does not exist');
  });

  it('a failed delivery has six attempts at the documented waits, with one id and a new timestamp each', async () => {
    const { client, sandbox, received, verify } = await start(() => 503);
    await client.audiences.create({ name: 'Visitors' });
    await sandbox.advance(24 * HOUR);
    const { deliveries } = sandbox.webhooks;
    const [first] = deliveries;
    expect(deliveries.map(({ at }) => (at - (first?.at ?? 0)) / MINUTE)).toEqual([0, 1, 6, 31, 151, 511]);
    expect(deliveries.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 503]),
    );
    expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(1);
    expect(new Set(received.map(({ signature }) => signature)).size).toBe(6);
    for (const attempt of received.slice(0, 5))
      expect(await failureOf(verify(attempt))).toMatchObject({ reason: 'too-old' });
  });

  it('an endpoint with only a `url` subscribes to every event, for the first account', async () => {
    const types: string[] = [];
    const deliver = async (request: Request): Promise<Response> => {
      types.push(JSON.parse(await request.text()).type);
      return new Response();
    };
    const sandbox = createSandbox({ clock: 'manual', deliver });
    expect(() => sandbox.webhooks.create({ url: 'https://receiver.example/' })).toThrow('Create an account first');
    const token = sandbox.accounts.create(credentials).token('api');
    sandbox.webhooks.create({ url: 'https://receiver.example/' });
    const json = 'application/json';
    const headers = { accept: json, 'content-type': json, authorization: `Bearer ${token}` };
    for (const name of ['audiences', 'cohorts'])
      await sandbox.fetch(`http://x/api/v2/${name}/create`, { method: 'POST', headers, body: '{}' });
    await sandbox.advance(HOUR);
    expect(types.toSorted()).toEqual(['audience.completed', 'cohort.completed']);
  });

  it('a receiver has ten seconds to respond', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sandbox = createSandbox({ deliver: () => new Promise(() => {}) });
    const account = sandbox.accounts.create(credentials);
    const { id } = sandbox.webhooks.create({ account, name: 'x', url: 'https://receiver.example/', events: [] });
    sandbox.webhooks.test(id);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(sandbox.webhooks.deliveries).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sandbox.webhooks.deliveries).toMatchObject([{ attempt: 1 }]);
    await sandbox.close();
  });

  it('a delivery without a response in time has failed', () =>
    quickly(async () => {
      const { client, sandbox } = await start((attempt) => (attempt === 1 ? undefined : 204), {
        limits: { deliveryTimeout: 1_500 },
      });
      await client.audiences.create({ name: 'Visitors' });
      await sandbox.advance(12 * MINUTE);
      expect(sandbox.webhooks.deliveries).toMatchObject([{ attempt: 1 }, { attempt: 2, status: 204 }]);
      expect(sandbox.webhooks.deliveries[0]).not.toHaveProperty('status');
    }));

  it('deliveries carry two signatures for 24 hours after a rotation, first the signature of the new secret', async () => {
    const { sandbox, received, endpoint, verify } = await start();
    const { secret } = sandbox.webhooks.rotate(endpoint.id);
    sandbox.webhooks.test(endpoint.id);
    await sandbox.advance(24 * HOUR);
    sandbox.webhooks.test(endpoint.id);
    await sandbox.advance(0);
    const [during, after] = received;
    if (!during || !after) throw new Error('Expected two deliveries.');
    const now = (): number => sandbox.now() - 24 * HOUR;
    for (const key of [secret, endpoint.secret]) {
      expect(await verifyWebhook(during.body, during.signature, key, { now })).toMatchObject({
        type: 'webhook.test',
      });
    }
    expect(during.signature.match(/v1=/g)).toHaveLength(2);
    expect(await verify(after, secret)).toMatchObject({ type: 'webhook.test' });
    expect(await failureOf(verify(after))).toMatchObject({ reason: 'no-match' });
  });

  it('a paused endpoint receives nothing until it is resumed, a deleted one is gone', async () => {
    const { client, sandbox, endpoint } = await start(() => 500);
    sandbox.webhooks.test(endpoint.id);
    await sandbox.advance(0);
    sandbox.webhooks.pause(endpoint.id);
    expect(() => sandbox.webhooks.test(endpoint.id)).toThrow('is not active');
    await sandbox.advance(24 * HOUR);
    expect(sandbox.webhooks.deliveries).toHaveLength(1);
    expect(await client.webhooks.list()).toMatchObject([{ is_active: false }]);
    sandbox.webhooks.resume(endpoint.id);
    sandbox.webhooks.test(endpoint.id);
    await sandbox.advance(0);
    expect(sandbox.webhooks.deliveries).toHaveLength(2);
    sandbox.webhooks.delete(endpoint.id);
    expect(await client.webhooks.list()).toEqual([]);
    expect(() => sandbox.webhooks.test(endpoint.id)).toThrow(`The webhook endpoint ${endpoint.id} does not exist.`);
  });

  it('20 consecutive exhausted deliveries disable an endpoint and notify its creator', async () => {
    const status = { now: 500 };
    const { client, sandbox, endpoint, account } = await start(() => status.now);
    const send = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index++) sandbox.webhooks.test(endpoint.id);
      await sandbox.advance(9 * HOUR);
    };
    await send(19);
    status.now = 200;
    await send(1);
    status.now = 500;
    await send(19);
    expect(await client.webhooks.list()).toMatchObject([{ is_active: true }]);
    expect(account.notifications).toEqual([]);
    await send(1);
    expect(sandbox.webhooks.deliveries).toHaveLength(39 * 6 + 1);
    const [off] = await client.webhooks.list();
    expect(off).toMatchObject({ is_active: false, updated_at: off?.last_delivery_at });
    expect(account.notifications).toEqual([
      `Webhook endpoint ${endpoint.id} "Mine" was disabled: 20 deliveries or redeliveries in a row failed all six attempts.`,
    ]);
    await sandbox.advance(24 * HOUR);
    expect(sandbox.webhooks.deliveries).toHaveLength(39 * 6 + 1);
  });

  it('an event has one id at every endpoint; a test ignores subscriptions', async () => {
    const { client, sandbox, account, endpoint, received } = await start();
    const { url } = (await client.webhooks.list())[0] ?? { url: '' };
    const second = sandbox.webhooks.create({ account, name: 'Second', url, events: ['audience.completed'] });
    const none = sandbox.webhooks.create({ account, name: 'None', url, events: [] });
    await client.audiences.create({ name: 'Visitors' });
    await sandbox.advance(HOUR);
    expect(new Set(received.map(({ body }) => JSON.parse(body).id)).size).toBe(1);
    expect(sandbox.webhooks.deliveries.map(({ endpointId }) => endpointId)).toEqual([endpoint.id, second.id]);
    sandbox.webhooks.test(none.id);
    await sandbox.advance(0);
    expect(JSON.parse(received.at(-1)?.body ?? '')).toMatchObject({
      type: 'webhook.test',
      company_id: expect.any(Number),
      data: { message: expect.any(String), endpoint_id: none.id },
    });
  });

  it('deliveries of `deliver` time out and count by their status', async () => {
    const read = new Response('logged');
    await read.text();
    const responses = [new Promise<Response>(() => {}), Promise.resolve(read)];
    const deliver = (): Promise<Response> => responses.shift() ?? Promise.resolve(new Response());
    const { sandbox, endpoint } = await start(undefined, { deliver, limits: { deliveryTimeout: 50 } });
    sandbox.webhooks.test(endpoint.id);
    await Promise.all([sandbox.advance(2 * HOUR), sandbox.advance(MINUTE)]);
    expect(sandbox.webhooks.deliveries.map(({ status }) => status)).toEqual([undefined, 200]);
    const now = sandbox.now();
    await sandbox.advance(0);
    expect(sandbox.now()).toBe(now);
  });

  it.each([
    [{ url: 'nope' }, '`url` must be an http(s) URL'],
    [{ url: 'http://user:pw@127.0.0.1/' }, '`url` must not contain a user or a password'],
    [{ events: ['audience.complete'] }, 'not "audience.complete"'],
  ])('an endpoint with %j is refused', async (wrong, message) => {
    const { sandbox, account } = await start();
    const input = { account, name: 'x', url: 'http://127.0.0.1/', events: [], ...wrong };
    expect(() => sandbox.webhooks.create(input)).toThrow(message);
  });
});
