import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions, type WaitingEvent } from '../../../src/index.ts';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { credentials } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

const time = inVirtualTime();

/** A client of a sandbox in this process, the waits that it reports, and its log lines at level `info`. */
function startScene(options: ClientOptions = {}, sandboxOptions: SandboxOptions = {}) {
  const sandbox = createSandbox(sandboxOptions);
  const account = sandbox.accounts.create(credentials);
  const events: WaitingEvent[] = [];
  const lines: string[] = [];
  const ignore = (): void => {};
  const client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: account.token('api'),
    fetch: sandbox.fetch,
    logLevel: 'info',
    logger: { error: ignore, warn: ignore, debug: ignore, info: (line) => lines.push(line) },
    onWaiting: (event) => events.push(event),
    ...options,
  });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  const waits = (): string[] => lines.filter((line) => line.includes('is waiting'));
  return { sandbox, account, client, events, waits };
}

const secondsUntil = ({ until }: WaitingEvent): number =>
  Math.round(((until?.getTime() ?? Number.NaN) - Date.now()) / 1_000);

const refusing =
  (status: number, headers: Record<string, string> = {}, message = 'No.'): typeof fetch =>
  () =>
    Promise.resolve(
      new Response(JSON.stringify({ status: 'error', code: status, message, data: [] }), { status, headers }),
    );

const named = (count: number): { name: string }[] =>
  Array.from({ length: count }, (_, n) => ({ name: `Project ${n}` }));

describe('a call that waits for five seconds', () => {
  it('a call that waits five seconds for a permit reports the limit and when the permit is expected; the line is logged once for all', async () => {
    const { client, events, waits } = startScene();
    const creates = Promise.all(named(35).map((body) => client.projects.create(body)));
    await time.pass(4_900);
    expect(events).toEqual([]);
    await time.pass(200);
    expect(events).toHaveLength(5);
    expect(events.map(({ operation, reason, bucket }) => [operation, reason, bucket])).toEqual(
      Array(5).fill(['projects.create', 'rate-limit', 'write']),
    );
    expect(events.map(secondsUntil)).toEqual(Array(5).fill(56));
    expect(waits()).toEqual([
      expect.stringMatching(
        /^projects\.create is waiting: the `write` limit, 30 requests per minute, is used up until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$/,
      ),
    ]);
    expect(waits()).toEqual([events[0]?.message]);
    expect(await time.until(creates)).toHaveLength(35);
    expect(events).toHaveLength(5);
  });

  it('reports when it will continue, however long the queue is', async () => {
    const { client, events, waits } = startScene();
    const startedAt = performance.now();
    const ends: number[] = [];
    const creates = named(100).map(async (body) => {
      await client.projects.create(body);
      ends.push(Math.round((performance.now() - startedAt) / 1_000));
    });
    await time.pass(5_100);
    const expected = events.map((event) => secondsUntil(event) + 5);
    await time.until(Promise.all(creates));
    expect(expected).toEqual(ends.slice(30));
    // One line for each burst of 30.
    expect(waits()).toHaveLength(3);
  });

  it('a call that waits five seconds for its token reports that', async () => {
    const token = (): Promise<string> => new Promise((resolve) => setTimeout(() => resolve('slow'), 8_000));
    const { client, events, waits } = startScene({ token });
    await time.until(failureOf(client.audiences.get(1, { maxRetries: 0 })));
    expect(events).toMatchObject([{ reason: 'token', operation: 'audiences.get' }, { reason: 'token' }]);
    expect(events[0]).not.toHaveProperty('until');
    expect(waits()[0]).toBe('audiences.get is waiting: the token source has not returned a token.');
  });

  it('a call that waits five seconds for the build budget reports when that allows the next build', async () => {
    const { client, events, waits } = startScene({ maxRetryWait: 7_200_000 }, { limits: { buildsPerHour: 1 } });
    await time.until(client.audiences.create({ name: 'One' }));
    const [second, third] = [client.audiences.create({ name: 'Two' }), client.audiences.create({ name: 'Three' })];
    await time.pass(6_000);
    expect(events.map(({ reason }) => reason)).toEqual(['build-budget', 'build-budget']);
    expect(events.map((event) => Math.round(secondsUntil(event) / 60))).toEqual([60, 60]);
    expect(waits()).toEqual([expect.stringContaining('is waiting: the build budget is used up until ')]);
    await time.until(Promise.all([second, third]));
  });

  it('a call that waits five seconds for the next attempt reports its time and the error', async () => {
    const { client, events, waits } = startScene({ fetch: refusing(503), backoff: { min: 20_000, max: 20_000 } });
    const call = failureOf(client.audiences.get(1, { maxRetries: 1 }));
    await time.pass(6_000);
    expect(events).toMatchObject([{ reason: 'backoff', attempt: 1 }]);
    expect(events.map(secondsUntil)).toEqual([14]);
    expect(waits()).toEqual([
      expect.stringMatching(/the next attempt follows at \S+Z, after: audiences\.get failed: 503 No/),
    ]);
    await time.until(call);
    expect(events).toHaveLength(1);
  });

  it('a call that waits five seconds for a `Retry-After` reports that the service has asked for it', async () => {
    const { client, events, waits } = startScene({ fetch: refusing(503, { 'retry-after': '30' }) });
    const call = failureOf(client.audiences.get(1, { maxRetries: 1 }));
    await time.pass(6_000);
    expect(events).toMatchObject([{ reason: 'retry-after' }]);
    expect(events.map(secondsUntil)).toEqual([24]);
    expect(waits()).toEqual([
      expect.stringMatching(/the service asked the client to wait until \S+Z, after: audiences/),
    ]);
    await time.until(call);
  });

  it('a call that waits five seconds for a create in flight reports it once, although it is asked for repeatedly', async () => {
    const { client, events, waits } = startScene({ fetch: refusing(409, {}, 'In progress.') });
    const call = failureOf(client.projects.create({ name: 'x' }, { idempotencyKey: 'k' }));
    await time.pass(6_000);
    expect(events).toMatchObject([{ reason: 'conflict', idempotencyKey: 'k' }]);
    expect(events.map(secondsUntil)).toEqual([54]);
    expect(waits()).toEqual([
      expect.stringMatching(
        /an earlier request with the same idempotency key may still be in flight, and the client keeps asking for its response until /,
      ),
    ]);
    expect(await time.until(call)).toMatchObject({ outcome: 'unknown' });
    expect(events).toHaveLength(1);
  });

  it('is reported to the hook of a client made by `withOptions`', async () => {
    const { client, events } = startScene({ rateLimits: { read: { limit: 1, interval: 60_000 } } });
    const derived: WaitingEvent[] = [];
    const other = client.withOptions({ onWaiting: (event) => derived.push(event) });
    const calls = [client.projects.list(), other.projects.list()];
    await time.pass(6_000);
    expect([events, derived]).toMatchObject([[], [{ operation: 'projects.list', reason: 'rate-limit' }]]);
    await time.until(Promise.all(calls));
  });
});

describe('a call that does not wait for long', () => {
  it('reports nothing, and leaves no timer', async () => {
    const { client, events, waits } = startScene({ token: () => 'x', fetch: refusing(404) });
    await time.until(failureOf(client.audiences.get(1)));
    expect(await time.timersLeft()).toBe(0);
    await time.pass(10_000);
    expect([events, waits()]).toEqual([[], []]);
  });

  it('leaves no timer after an abort during its wait', async () => {
    const { client, events } = startScene({ fetch: refusing(503), backoff: { min: 20_000, max: 20_000 } });
    const controller = new AbortController();
    const call = failureOf(client.audiences.get(1, { signal: controller.signal }));
    await time.pass(1_000);
    controller.abort(new Error('enough'));
    expect(await call).toBe(controller.signal.reason);
    expect(await time.timersLeft()).toBe(0);
    expect(events).toEqual([]);
  });
});

describe('the error after a deadline', () => {
  it('names the limit that the call waited for, and until when it is used up', async () => {
    const { client } = startScene({ rateLimits: { read: { limit: 1, interval: 60_000 } } });
    await time.until(client.projects.list());
    const error = await time.until(failureOf(client.audiences.list({}, { deadline: 50 })));
    expect(String(error)).toMatch(
      /^TimeoutError: audiences\.list exceeded its `deadline` of 50 ms before it was sent: the `read` limit, 1 request per minute, is used up until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$/,
    );
  });

  it('names the token that the call waited for', async () => {
    const { client } = startScene({ token: () => new Promise(() => {}) });
    const error = await time.until(failureOf(client.audiences.get(1, { deadline: 50 })));
    expect(String(error)).toBe(
      'TimeoutError: audiences.get exceeded its `deadline` of 50 ms before it was sent: the token source has not returned a token.',
    );
  });

  it('says that the service was silent', async () => {
    const { client } = startScene({ fetch: () => new Promise(() => {}) });
    const error = await time.until(failureOf(client.audiences.get(1, { deadline: 50 })));
    expect(String(error)).toBe(
      'TimeoutError: audiences.get exceeded its `deadline` of 50 ms after 1 request: the last request got no complete response.',
    );
  });
});
