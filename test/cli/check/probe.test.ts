import { describe, expect, test } from 'vitest';
import { Probe, type ProbeOptions, type RequestLimits, Stop } from '../../../src/cli/check/probe.ts';

/** A probe in virtual time, whose service responds as a function says. */
function start(respond: (count: number) => Response = success, limits: RequestLimits = { read: 500, write: 100 }) {
  let time = Date.UTC(2026, 0, 1);
  const sent: { readonly method: string; readonly url: string; readonly time: number; readonly headers: Headers }[] =
    [];
  const options: ProbeOptions = {
    baseUrl: 'https://api.example.com/base',
    token: 'secret',
    requestTimeout: Number.POSITIVE_INFINITY,
    clock: {
      now: () => time,
      async sleep(ms) {
        time += ms;
      },
    },
    fetch: async (input, init) => {
      const { method, url, headers } = new Request(input, init);
      sent.push({ method, url, time, headers });
      return respond(sent.length);
    },
  };
  const probe = new Probe(options, limits);
  const get = () => probe.send({ method: 'GET', path: '/api/v2/usage', why: 'test' });
  const post = () => probe.send({ method: 'POST', path: '/api/v2/projects/create', body: {}, why: 'test' });
  const elapsed = () => time - Date.UTC(2026, 0, 1);
  return { probe, sent, get, post, elapsed };
}

const success = () => Response.json({ status: 'success', code: 200, message: '', data: [] });
const refusal = (status: number, headers: HeadersInit = {}) =>
  Response.json({ status: 'error', code: status, message: `Refused ${status}`, data: [] }, { status, headers });

function mostPerMinute(times: readonly number[]): number {
  return Math.max(...times.map((start) => times.filter((time) => time >= start && time < start + 60_000).length));
}

describe('a probe', () => {
  test('sends at most 60 reads and 15 writes in any minute', async () => {
    const { sent, get, post } = start();
    for (let count = 0; count < 150; count++) await get();
    for (let count = 0; count < 40; count++) await post();
    const timesOf = (method: string) => sent.filter((request) => request.method === method).map(({ time }) => time);
    expect(mostPerMinute(timesOf('GET'))).toBe(60);
    expect(mostPerMinute(timesOf('POST'))).toBe(15);
  });

  test('ends at its hard limit, and keeps ten writes for cleaning up', async () => {
    const { probe, get, post } = start(success, { read: 2, write: 12 });
    await get();
    await get();
    await expect(get()).rejects.toMatchObject({ name: 'Stop', exitCode: 12 });
    await post();
    await post();
    await expect(post()).rejects.toThrow(Stop);
    probe.own(7);
    await probe.send({ method: 'POST', path: '/api/v2/projects/{id}/delete', id: 7, why: 'test', isCleanup: true });
    expect(probe.sent).toEqual({ read: 2, write: 3 });
  });

  test('never sends a GET to the path of a write', async () => {
    const { probe, sent } = start();
    for (const path of [
      '/api/v2/projects/create',
      '/api/v2/projects/{id}/delete',
      '/api/v2/deleteProject',
      '/a/cancel',
    ])
      await expect(probe.send({ method: 'GET', path, id: 0, why: 'test' })).rejects.toThrow('path of a write');
    expect(sent).toEqual([]);
  });

  test('never sends a write with an id that it did not create', async () => {
    const { probe, sent } = start();
    const request = { path: '/api/v2/projects/{id}/delete', id: 7, why: 'test' } as const;
    for (const method of ['POST', 'DELETE'] as const)
      await expect(probe.send({ ...request, method })).rejects.toThrow('foreign id');
    expect(sent).toEqual([]);
    probe.own(7);
    await probe.send({ ...request, method: 'POST' });
    expect(sent.map(({ url }) => url)).toEqual(['https://api.example.com/base/api/v2/projects/7/delete']);
  });

  test('waits after a 429 for its `Retry-After`, in seconds or as a date', async () => {
    const date = new Date(Date.UTC(2026, 0, 1) + 50_000).toUTCString();
    const { get, sent, elapsed } = start((count) =>
      count === 1
        ? refusal(429, { 'retry-after': '20' })
        : count === 2
          ? refusal(429, { 'retry-after': date })
          : success(),
    );
    expect((await get()).status).toBe(200);
    expect(sent).toHaveLength(3);
    expect(elapsed()).toBe(50_000);
  });

  test('ends if it should wait for longer than two minutes', async () => {
    const { get } = start(() => refusal(429, { 'retry-after': '121' }));
    await expect(get()).rejects.toMatchObject({ name: 'Stop', exitCode: 9 });
  });

  test('repeats a read once after a 5xx, and never a write', async () => {
    const { get, post, sent } = start(() => refusal(502));
    expect((await get()).status).toBe(502);
    expect(sent).toHaveLength(2);
    expect((await post()).status).toBe(502);
    expect(sent).toHaveLength(3);
  });

  test('repeats a documented read after an unusual 403, and ends if it is refused, too', async () => {
    let isBlocked = false;
    const { probe, get } = start(() => (isBlocked ? refusal(403) : success()));
    probe.trial = { method: 'GET', path: '/api/v2/webhooks/index', why: 'test' };
    await get();
    isBlocked = true;
    await expect(get()).rejects.toMatchObject({ name: 'Stop', exitCode: 12 });
  });

  test('continues after a 403 if a documented read still succeeds', async () => {
    const { probe, get, sent } = start((count) => (count % 2 === 1 ? refusal(403) : success()));
    probe.trial = { method: 'GET', path: '/api/v2/webhooks/index', why: 'test' };
    expect((await get()).status).toBe(403);
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual(['/base/api/v2/usage', '/base/api/v2/webhooks/index']);
  });

  test('repeats a documented read after eight refusals', async () => {
    const { probe, get, sent } = start((count) => (count === 9 ? success() : refusal(404)));
    probe.trial = { method: 'GET', path: '/api/v2/webhooks/index', why: 'test' };
    for (let count = 0; count < 8; count++) await get();
    expect(sent).toHaveLength(9);
  });

  test('sends neither a token nor another header to storage', async () => {
    const { probe, sent } = start();
    const url = 'https://storage.example.com/uploads/1?signature=x';
    await probe.send({ method: 'PUT', path: url, body: new Blob(['1\n2\n']), why: 'test' });
    expect(sent[0]?.url).toBe(url);
    expect([...(sent[0]?.headers ?? [])]).toEqual([]);
  });
});
