import { describe, expect, it, onTestFinished } from 'vitest';
import { ServerError } from '../../src/index.ts';
import { createSandbox, type FaultRule } from '../../src/sandbox/index.ts';
import { quickly } from '../support/quickly.ts';
import { credentials, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';
import { startVirtualTime } from '../support/virtual-time.ts';
import { startSandbox } from './support/sandbox-calls.ts';

const once = { maxRetries: 0 };

describe('a fault rule', () => {
  it('a status replaces the response of the service, with its Retry-After', async () => {
    const { client, sandbox, account } = await startBench({
      faults: [{ on: 'audiences.create', status: 503, retryAfter: 7, times: 1 }],
    });
    const raw = await failureOf(client.audiences.create({ name: 'x' }, once));
    expect(raw).toMatchObject({ name: 'ServerError', status: 503, outcome: 'unknown' });
    expect(ServerError.isInstance(raw) && raw.headers.get('retry-after')).toBe('7');
    expect((await client.audiences.list()).items).toEqual([]);
    expect(sandbox.log[0]).toMatchObject({ status: 503, fault: 'status 503', account: account.email });
    await client.audiences.create({ name: 'x' }, once);
  });

  it.each([
    ['before', 0, 0],
    ['after', 1, 0],
    ['body', 1, 200],
  ] as const)('a connection is cut %s, over HTTP and in process', async (cut, created, status) => {
    const { client, sandbox, connect, account } = await startBench({ faults: [{ on: 'audiences.create', cut }] });
    const inProcess = connect({ token: account.token('api'), fetch: sandbox.fetch });
    for (const [index, caller] of [client, inProcess].entries()) {
      const error = await failureOf(caller.audiences.create({ name: 'x' }, once));
      expect(error).toMatchObject({ name: 'ConnectionError', outcome: 'unknown' });
      expect((await caller.audiences.list()).items).toHaveLength(created * (index + 1));
    }
    expect(sandbox.log[0]).toMatchObject({ status, fault: `cut ${cut}` });
  });

  it('a read of a resource is no list, whose path has the same form', async () => {
    const { client } = await startBench({ faults: [{ on: 'audiences.get', status: 400 }] });
    expect((await client.audiences.list()).items).toEqual([]);
    expect(await failureOf(client.audiences.get(4))).toMatchObject({ status: 400 });
  });

  it('a malformed response has half of its body', async () => {
    const { client } = await startBench({ faults: [{ malformed: true, on: ({ path }) => path.endsWith('/usage') }] });
    expect(await failureOf(client.usage.get(undefined, once))).toMatchObject({ name: 'ResponseError', status: 200 });
  });

  it('a delay holds a request for milliseconds of the machine’s clock', async () => {
    const { sandbox, account, connect } = await startBench({
      faults: [
        { delay: 40, on: '*/usage' },
        { delay: 5_000, on: '*/webhooks/*' },
      ],
    });
    const client = connect({ token: account.token('api'), fetch: sandbox.fetch });
    const time = startVirtualTime();
    onTestFinished(() => time.end());
    const start = performance.now();
    await time.until(client.usage.get());
    expect(performance.now() - start).toBe(40);
    const late = failureOf(client.webhooks.list({ timeout: 50, ...once }));
    expect(await time.until(late)).toMatchObject({ name: 'TimeoutError' });
  });

  it('a delayed request in process rejects immediately with the reason of its signal', async () => {
    const sandbox = createSandbox({ faults: [{ delay: 60_000 }] });
    const reason = new Error('enough');
    const aborted = sandbox.fetch('http://x/api/v2/usage', { signal: AbortSignal.abort(reason) });
    await expect(aborted).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = sandbox.fetch('http://x/api/v2/usage', { signal: controller.signal });
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect.poll(() => sandbox.log).toMatchObject([{ status: 0, fault: 'delay 60000 ms' }]);
  });

  it('`inFlight` holds a create until the rule is removed: a duplicate is a 409, another create is not', async () => {
    const { sandbox, create, token } = startSandbox();
    const remove = sandbox.faults.add({ on: 'audiences.create', inFlight: 60_000, times: 1 });
    expect((await create(token)).status).toBe(200);
    const first = create(token, 'k');
    expect([(await create(token, 'k')).status, (await create(token, 'm')).status]).toEqual([409, 200]);
    remove();
    const { status, body } = await first;
    expect([status, (await create(token, 'k')).body]).toEqual([200, body]);
    expect(sandbox.log.map(({ fault }) => fault)).toEqual([
      undefined,
      undefined,
      undefined,
      'in flight 60000 ms',
      undefined,
    ]);
  });

  it('`inFlight` holds a create even if its client disconnects, and the client waits for the replay', () =>
    quickly(async () => {
      const { client, sandbox } = await startBench({}, { backoff: { min: 100, max: 100 } });
      const remove = sandbox.faults.add({ on: 'audiences.create', inFlight: 60_000, times: 1 });
      const created = client.audiences.create({ name: 'once' }, { timeout: 500 });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(sandbox.log.map(({ status }) => status)).toContain(409);
      remove();
      expect((await client.audiences.list()).items).toMatchObject([{ id: (await created).id }]);
    }));

  it('`inFlight` can be combined with a cut of the response', async () => {
    const { client, sandbox } = await startBench({ faults: [{ inFlight: 1, cut: 'after', times: 1 }] });
    await client.audiences.create({ name: 'once' });
    expect((await client.audiences.list()).items).toHaveLength(1);
    expect(sandbox.log[0]).toMatchObject({ status: 0, served: 200, fault: 'in flight 1 ms, cut after' });
  });

  it('`clear` releases delayed requests and creates in flight', async () => {
    const { sandbox, create, token } = startSandbox({ faults: [{ on: 'usage.get', delay: 60_000 }] });
    sandbox.faults.add({ inFlight: 60_000 });
    const delayed = sandbox.fetch('http://sandbox/api/v2/usage', { headers: { accept: 'application/json' } });
    const inFlight = create(token, 'k');
    await expect.poll(async () => (await create(token, 'k')).status).toBe(409);
    sandbox.faults.clear();
    expect([(await delayed).status, (await inFlight).status]).toEqual([401, 200]);
  });

  it('`close` cuts a create in flight', async () => {
    const { sandbox, create, token } = startSandbox({ faults: [{ inFlight: 60_000 }] });
    const created = create(token, 'k');
    await expect.poll(async () => (await create(token, 'k')).status).toBe(409);
    await sandbox.close();
    await expect(created).rejects.toThrow('fetch failed');
  });

  it('a rule applies to uploads and downloads, too', async () => {
    const { client } = await startBench({ faults: [{ on: 'PUT /uploads/*', status: 500 }] });
    const upload = client.uploads.upload({ kind: 'cohort', data: new Blob(['a\nb\n']) }, once);
    expect(await failureOf(upload)).toMatchObject({ status: 500 });
  });

  it('rules are added and removed; the first that applies wins', async () => {
    const { client, sandbox } = await startBench();
    const remove = sandbox.faults.add({ on: 'usage.get', status: 500 });
    sandbox.faults.add({ status: 502 });
    expect(await failureOf(client.usage.get(undefined, once))).toMatchObject({ status: 500 });
    remove();
    expect(await failureOf(client.usage.get(undefined, once))).toMatchObject({ status: 502 });
    sandbox.faults.clear();
    await client.usage.get();
  });

  it('a rate applies to requests that the seed decides', async () => {
    const run = async (seed: number): Promise<string> => {
      const sandbox = createSandbox({ seed, faults: [{ rate: 0.3, status: 500 }] });
      sandbox.accounts.create(credentials);
      const hits: boolean[] = [];
      for (let index = 0; index < 200; index++)
        hits.push((await sandbox.fetch('http://x/api/v2/usage')).status === 500);
      return hits.map(Number).join('');
    };
    const first = await run(3);
    expect(await run(3)).toBe(first);
    expect(await run(4)).not.toBe(first);
    const count = [...first].filter((hit) => hit === '1').length;
    expect(count).toBeGreaterThan(40);
    expect(count).toBeLessThan(80);
  });

  it.each<[FaultRule, string]>([
    [{}, 'set at least one of'],
    [{ status: 200 }, '`status` must be an error status'],
    [{ status: 500, cut: 'after' }, 'set only one of'],
    [{ rate: 2, status: 500 }, '`rate` must be a number from 0 to 1'],
    [{ retryAfter: 1, cut: 'after' }, '`retryAfter` requires `status`'],
    [{ delay: -1 }, '`delay` must be a number from 0 to 2147483647'],
    [{ delay: 2 ** 31 }, '`delay` must be a number from 0 to 2147483647'],
    [{ inFlight: -1 }, '`inFlight` must be a number from 0 to 2147483647'],
    [{ inFlight: 5, status: 500 }, 'cannot be combined with `status`'],
    [{ inFlight: 5, cut: 'before' }, 'cannot be combined with `status`'],
    [{ times: -1, status: 500 }, '`times` must be a number of 0 or more'],
    [{ on: 'audience.create', status: 500 }, '`on` must be an operation, a path'],
  ])('the rule %j is refused', (rule, message) => {
    expect(() => createSandbox({ faults: [rule] })).toThrow(message);
  });
});
