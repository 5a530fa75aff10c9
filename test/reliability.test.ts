import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startBench } from './support/sandbox.ts';

/** Stands between client and sandbox: lets the service act, then cuts the connection, every other time. */
async function lossyProxy(target: string): Promise<{ url: string; bodies: Map<string, string[]> }> {
  const bodies = new Map<string, string[]>();
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const key = String(request.headers['idempotency-key']);
    const earlier = bodies.get(key) ?? [];
    bodies.set(key, [...earlier, body]);
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
        ['host', 'connection', 'content-length'].includes(name) ? [] : [[name, String(value)]],
      ),
      ...(request.method === 'POST' && { body }),
    });
    const text = await answer.text();
    if (earlier.length === 0) response.destroy();
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

describe('a create whose answer is lost, 30 times in a row', () => {
  it('makes one resource each, by byte-identical repeats', async () => {
    const { sandbox, url, account, connect } = await startBench({
      limits: { write: { limit: 999, interval: 60_000 } },
    });
    const proxy = await lossyProxy(url);
    const client = connect({ baseUrl: proxy.url, token: account.token('api'), rateLimits: false });
    const ids = new Set<number>();
    for (let at = 0; at < 30; at++) ids.add((await client.audiences.create({ name: `Audience ${at}` })).id);
    expect(ids.size).toBe(30);
    expect((await connect({ token: account.token('api') }).audiences.list()).items).toHaveLength(30);
    expect(proxy.bodies.size).toBe(30);
    for (const bodies of proxy.bodies.values()) {
      expect(bodies).toHaveLength(2);
      expect(bodies[0]).toBe(bodies[1]);
    }
    expect(sandbox.log.filter(({ replayed }) => replayed)).toHaveLength(30);
  });
});
