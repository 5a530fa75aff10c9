import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { clientOf } from '../../support/server.ts';

const INTERVAL = 1_500;
const LIMIT = 60;
/** Milliseconds that the limiter adds to an interval, for requests that take unequally long to arrive. */
const MARGIN = 100;

/** One request: when it left, when it arrived, how it was answered. */
interface Seen {
  readonly sent: number;
  readonly arrived: number;
  readonly status: number;
}

/** A server that refuses the request that would make more than `LIMIT` in any window of `INTERVAL`. */
async function strictServer(): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(({ headers }, response) => {
    const arrived = performance.now();
    const recent = seen.filter((one) => one.status === 200 && one.arrived > arrived - INTERVAL).length;
    const status = recent < LIMIT ? 200 : 429;
    seen.push({ sent: Number(headers['x-sent']), arrived, status });
    const envelope = { status: status === 200 ? 'success' : 'error', code: status, message: 'm', data: [] };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(envelope));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Says of each request when it left. */
const stamped: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  request.headers.set('x-sent', String(performance.now()));
  return fetch(request);
};

describe('300 reads under 60 per 1.5 s', () => {
  it('leave within the limit in every window, and meet no 429 unless the machine held some up', async () => {
    const server = await strictServer();
    const client = clientOf(server, {
      rateLimits: { read: { limit: LIMIT, interval: INTERVAL } },
      fetch: stamped,
    });
    const started = performance.now();
    await Promise.all(Array.from({ length: 300 }, () => client.webhooks.list()));
    const took = performance.now() - started;
    const sent = server.seen.map((one) => one.sent).toSorted((a, b) => a - b);
    expect(sent.length).toBeGreaterThanOrEqual(300);
    const windows = sent.slice(LIMIT).map((time, at) => time - (sent[at] ?? 0));
    expect(Math.min(...windows)).toBeGreaterThanOrEqual(INTERVAL);
    const transits = server.seen.map((one) => one.arrived - one.sent);
    // Later than the margin by the machine's doing, not by the client's: then only the first check holds.
    if (Math.max(...transits) - Math.min(...transits) >= MARGIN) return;
    expect(server.seen.map(({ status }) => status)).toEqual(Array.from({ length: 300 }, () => 200));
    const ideal = (300 / LIMIT - 1) * INTERVAL;
    expect(took / ideal).toBeLessThan(1.25);
  });
});
