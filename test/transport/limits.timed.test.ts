import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientOf } from '../support/server.ts';

const INTERVAL = 1_500;
const LIMIT = 60;

/** A server that refuses the request that would make more than `LIMIT` in any window of `INTERVAL`. */
async function strictServer(): Promise<{ url: string; statuses: number[] }> {
  const accepted: number[] = [];
  const statuses: number[] = [];
  const server = createServer((_, response) => {
    const now = performance.now();
    const recent = accepted.filter((at) => at > now - INTERVAL).length;
    const status = recent < LIMIT ? 200 : 429;
    if (status === 200) accepted.push(now);
    statuses.push(status);
    const envelope = { status: status === 200 ? 'success' : 'error', code: status, message: 'm', data: [] };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(envelope));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, statuses };
}

describe('300 reads under 60 per 1.5 s', () => {
  it('meet no 429 of a strict sliding window, within 1.25 of the ideal time', async () => {
    const server = await strictServer();
    const client = clientOf(server, { rateLimits: { read: { limit: LIMIT, interval: INTERVAL } } });
    const started = performance.now();
    await Promise.all(Array.from({ length: 300 }, () => client.webhooks.list()));
    const ideal = (300 / LIMIT - 1) * INTERVAL;
    expect(server.statuses).toEqual(Array.from({ length: 300 }, () => 200));
    expect((performance.now() - started) / ideal).toBeLessThan(1.25);
  });
});
