import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceError, TimeoutError } from '../../../src/index.ts';
import { quickly } from '../../support/quickly.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { settlesNow } from '../../support/settles-now.ts';
import { wireAudience } from '../../support/wire-audience.ts';

describe('timeout', () => {
  it.each(['stall', 'stall-body'] as const)('covers the entire response: %s', (fault) =>
    quickly(async () => {
      const server = await startServer([{ fault }]);
      const client = clientOf(server, { maxRetries: 0, timeout: 200 });
      const error = await failureOf(client.webhooks.list());
      expect(error).toBeInstanceOf(TimeoutError);
      expect(error).toMatchObject({ name: 'TimeoutError', code: 'attempt-timeout', attempts: 1 });
    }),
  );

  it('applies to each attempt: a retry has the full time', () =>
    quickly(async () => {
      const server = await startServer([{ fault: 'stall' }, { data: [], delay: 300 }]);
      expect(await clientOf(server, { timeout: 800 }).webhooks.list()).toEqual([]);
    }));

  it('a timeout of 0 fails the call immediately, `Infinity` never', () =>
    quickly(async () => {
      const server = await startServer([{ data: [], delay: 50 }]);
      const client = clientOf(server, { maxRetries: 0 });
      expect(await failureOf(client.webhooks.list({ timeout: 0 }))).toBeInstanceOf(TimeoutError);
      const create = client.audiences.create({ name: 'A' }, { timeout: 0, maxRetries: 4 });
      expect(await failureOf(create)).toMatchObject({ outcome: 'not-sent', attempts: 0 });
      expect(await client.webhooks.list({ timeout: Number.POSITIVE_INFINITY })).toEqual([]);
    }));
});

describe('deadline', () => {
  it('covers all attempts and the waits between them', async () => {
    const server = await startServer([{ status: 503 }, { fault: 'stall' }]);
    // Virtual, because two requests take their time on a busy machine.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const call = clientOf(server, { timeout: 60_000 }).webhooks.list({ deadline: 10_000 });
    const failure = failureOf(call);
    await expect
      .poll(async () => {
        vi.advanceTimersByTime(5);
        return (await server.seen()).length;
      })
      .toBe(2);
    vi.advanceTimersByTime(10_000);
    const error = await failure;
    expect(error).toMatchObject({ name: 'TimeoutError', code: 'deadline-exceeded', attempts: 2 });
    expect(error).toSatisfy((it: Error) => AudienceError.isInstance(it.cause) && it.cause.code === 'server-error');
  });

  it('a call with a deadline of 0 sends nothing, and says so', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { deadline: 0 }));
    expect(error).toMatchObject({ code: 'deadline-exceeded', outcome: 'not-sent' });
    expect(await server.seen()).toEqual([]);
  });

  it('passed while a create was under way leaves its outcome unknown', () =>
    quickly(async () => {
      const server = await startServer([{ fault: 'stall' }]);
      const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, { deadline: 200 }));
      expect(error).toMatchObject({ code: 'deadline-exceeded', outcome: 'unknown' });
    }));
});

describe('abort', () => {
  const reason = { why: 'the user left' };

  it('rejects with the caller’s own reason, before sending', async () => {
    const server = await startServer([{ data: [] }]);
    expect(await failureOf(clientOf(server).webhooks.list({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['in flight', { fault: 'stall' } as const, 'request'],
    ['in mid-body', { fault: 'stall-body' } as const, 'headers'],
    ['during back-off', { status: 503, headers: { 'retry-after': '60' } } as const, 'retry'],
  ])('rejects immediately %s', async (_, step, state) => {
    const server = await startServer([step]);
    const reached = new Set<string>();
    const client = clientOf(server, {
      async fetch(...request) {
        const response = await fetch(...request);
        reached.add('headers');
        return response;
      },
      onRetry: () => reached.add('retry'),
    });
    const controller = new AbortController();
    const call = failureOf(client.webhooks.list({ signal: controller.signal }));
    await expect.poll(async () => (await server.seen()).length).toBe(1);
    if (state !== 'request') await expect.poll(() => [...reached]).toContain(state);
    expect(await settlesNow(call)).toBe(false);
    controller.abort(reason);
    expect(await settlesNow(call)).toBe(true);
    expect(await call).toBe(reason);
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('the outcome of an aborted create', () => {
  it.each([
    ['not-sent', [{ data: [] }], AbortSignal.abort()],
    ['unknown', [{ fault: 'stall' } as const], undefined],
    ['unknown', [{ status: 503, headers: { 'retry-after': '60' } }], undefined],
    ['refused', [{ status: 429, headers: { 'retry-after': '60' } }], undefined],
  ] as const)('is %s', async (outcome, steps, aborted) => {
    const server = await startServer([...steps]);
    const controller = new AbortController();
    const onRetry = (): void => controller.abort();
    const signal = aborted ?? controller.signal;
    const creating = clientOf(server, { onRetry }).projects.create({ name: 'x' }, { signal });
    const failed = failureOf(creating);
    if (!aborted) await expect.poll(async () => (await server.seen()).length).toBe(1);
    if ('fault' in steps[0]) controller.abort();
    expect(await failed).toBe(signal.reason);
    expect(creating.outcome).toBe(outcome);
  });

  it('is known after a success, and absent for other calls', async () => {
    const server = await startServer([{ data: [{ id: 1, name: 'x' }] }, { data: [] }]);
    const client = clientOf(server);
    const creating = client.projects.create({ name: 'x' });
    await creating;
    const listing = client.webhooks.list();
    await listing;
    expect([creating.outcome, listing.outcome]).toEqual(['done', undefined]);
  });
});

describe('close', () => {
  it('ends calls under way and refuses later ones', async () => {
    const server = await startServer([{ fault: 'stall' }]);
    const client = clientOf(server);
    const derived = client.withOptions({ timeout: 5_000 });
    const pending = [failureOf(client.webhooks.list()), failureOf(derived.audiences.get(1))];
    await expect.poll(async () => (await server.seen()).length).toBe(2);
    await client.close();
    for (const error of [...(await Promise.all(pending)), await failureOf(client.webhooks.list())]) {
      expect(error).toMatchObject({ name: 'AudienceError', code: 'client-closed' });
    }
  });
});
