import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClientOptions } from '../../src/index.ts';
import { BucketUse } from '../../src/otel/bucket-use.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { delivery, recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { startJobService } from '../support/job-service.ts';
import { quickly } from '../support/quickly.ts';
import type { Script } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { countOf, startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

async function start(script: Script, options: ClientOptions = {}) {
  const server = await startServer(script);
  const sdk = startTelemetry(undici());
  return { server, client: clientOf(server, { telemetry: sdk.telemetry, ...options }), ...sdk };
}

describe('metrics', () => {
  it('count each request with its status, and each retry with its reason', async () => {
    const { server, client, points } = await start([{ status: 503 }, { data: [] }, { fault: 'cut' }], {
      maxRetries: 1,
    });
    await client.webhooks.list();
    await failureOf(client.request('POST', '/api/v2/anything/7'));
    const { hostname, port } = new URL(server.url);
    const common = { 'server.address': hostname, 'server.port': Number(port) };
    const read = { ...common, 'http.request.method': 'GET', 'url.template': '/api/v2/webhooks/index' };
    const requests = await points('http.client.request.duration');
    expect(requests.map(({ attributes, value }) => [attributes, countOf([{ value } as never])])).toEqual([
      [{ ...read, 'http.response.status_code': 503, 'error.type': '503' }, 1],
      [{ ...read, 'http.response.status_code': 200 }, 1],
      [{ ...common, 'http.request.method': 'POST', 'error.type': 'connection-failed' }, 1],
    ]);
    expect(await points('audience_activation.retries')).toMatchObject([
      {
        value: 1,
        attributes: {
          'audience_activation.operation': 'webhooks.list',
          'audience_activation.retry.reason': 'transient',
          'error.type': 'server-error',
        },
      },
    ]);
    expect((await points('audience_activation.call.duration')).map(({ attributes }) => attributes)).toMatchObject([
      { 'audience_activation.operation': 'webhooks.list', 'audience_activation.outcome': 'success' },
      { 'audience_activation.operation': 'request', 'audience_activation.outcome': 'failure' },
    ]);
  });

  it('measure the wait for a permit, and how much of its bucket is used', () =>
    quickly(async () => {
      const { client, points } = await start(
        Array.from({ length: 3 }, () => ({ data: [] })),
        {
          rateLimits: { read: { limit: 2, interval: 200 } },
        },
      );
      await Promise.all([1, 2, 3].map(() => client.webhooks.list()));
      const [queued] = await points('audience_activation.permit.wait');
      expect(queued?.attributes).toMatchObject({ 'audience_activation.bucket': 'read' });
      expect(queued?.value).toMatchObject({ count: 3, max: expect.any(Number) });
      expect(Object(queued?.value).max).toBeGreaterThan(0.15);
      const [use] = await points('audience_activation.bucket.use');
      expect(use?.attributes).toEqual({ 'audience_activation.bucket': 'read' });
      expect(use?.value).toBeGreaterThan(0);
      expect(use?.value).toBeLessThanOrEqual(1.5);
    }));

  it('show what is left of the build budget', async () => {
    const build_budget = { hour: { limit: 10, used: 3 }, day: { limit: 50, used: 70 } };
    const { client, points } = await start([{ data: { build_budget } }, { data: { build_budget: { hour: 'none' } } }]);
    await client.usage.get();
    await client.usage.get();
    const left = await points('audience_activation.build_budget.left');
    expect(left.map(({ attributes, value }) => [attributes['audience_activation.window'], value])).toEqual([
      ['hour', 7],
      ['day', 0],
    ]);
  });

  it('count deliveries by result', async () => {
    const { telemetry, points } = startTelemetry(undici());
    const receiver = createWebhookReceiver({ secrets: SECRET, logger: recordingLogger(), telemetry });
    await receiver.handle(await delivery(wireEvent('evt_1')));
    await receiver.handle(await delivery(wireEvent('evt_1')));
    await receiver.handle(await delivery(wireEvent('evt_2'), { headers: { 'service-signature': 't=1,v1=0' } }));
    const type = { 'audience_activation.event.type': 'audience.completed' };
    expect(
      (await points('audience_activation.deliveries')).map(({ attributes, value }) => [attributes, value]),
    ).toEqual([
      [{ ...type, 'audience_activation.delivery.result': 'handled' }, 1],
      [{ ...type, 'audience_activation.delivery.result': 'duplicate' }, 1],
      [{ 'audience_activation.delivery.result': 'refused', 'error.type': 'malformed-header' }, 1],
    ]);
    expect(countOf(await points('audience_activation.delivery.duration'))).toBe(3);
  });
});

describe('in virtual time', () => {
  const time = inVirtualTime();

  it('metrics count the waits in progress, and measure the lateness of their ends', async () => {
    const { telemetry, points } = startTelemetry(undici());
    const { client, add, set } = startJobService({ client: { telemetry } });
    const [first = 0, second = 0] = add(2);
    const waits = [first, second].map((id) => client.audiences.wait(id, { timeout: 60_000 }));
    await time.pass(10_000);
    expect(await points('audience_activation.waits')).toMatchObject([{ value: 2 }]);
    set(first, 104);
    await time.until(Promise.allSettled(waits));
    expect(await points('audience_activation.waits')).toMatchObject([{ value: 0 }]);
    const [lateness] = await points('audience_activation.wait.lateness');
    expect(lateness?.attributes).toEqual({
      'audience_activation.job.kind': 'audience',
      'audience_activation.job.source': 'list',
    });
    expect(lateness?.value).toMatchObject({ count: 1 });
    expect((await points('audience_activation.wait.duration')).map(({ attributes }) => attributes)).toMatchObject([
      { 'audience_activation.outcome': 'completed' },
      { 'audience_activation.outcome': 'timeout' },
    ]);
  });
});

describe('the use of a bucket', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('the use of a bucket is the share of the limit that the requests of the last interval used', () => {
    const use = new BucketUse();
    const rate = { limit: 4, interval: 1_000 };
    for (let request = 0; request < 3; request++) {
      use.add('read', rate);
      vi.advanceTimersByTime(400);
    }
    expect([...use.shares()]).toEqual([['read', 0.5]]);
    vi.advanceTimersByTime(1_000);
    expect([...use.shares()]).toEqual([['read', 0]]);
  });

  it('the use of a bucket is the highest use of its limits, at most twice the limit', () => {
    const use = new BucketUse();
    use.add('read', { limit: 100, interval: 1_000 });
    for (let request = 0; request < 9; request++) use.add('read', { limit: 2, interval: 1_000 });
    use.add('write', { limit: 0, interval: 1_000 });
    expect([...use.shares()]).toEqual([
      ['read', 2],
      ['write', 1],
    ]);
  });
});
