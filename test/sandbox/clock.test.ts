import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { Clock } from '../../src/sandbox/clock.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { credentials } from '../support/sandbox.ts';
import { startSandbox } from '../support/sandbox-calls.ts';
import { randomOf } from '../support/seeded.ts';

const settled = async (): Promise<void> => {};

describe('a manual clock', () => {
  it('runs what is due in the order of time, then of its making, each at its own time', async () => {
    const clock = new Clock('manual', 1_000);
    const ran: string[] = [];
    const at = (time: number, name: string, order?: number) =>
      clock.at(time, () => ran.push(`${name} ${clock.now()}`), order);
    const reserved = clock.order();
    at(1_300, 'c');
    at(1_100, 'a');
    at(1_300, 'd');
    at(1_300, 'b', reserved);
    const callOff = at(1_200, 'never');
    at(2_000, 'later');
    clock.at(1_100, () => at(1_150, 'nested'));
    callOff();
    callOff();
    await clock.advance(999, settled);
    expect(ran).toEqual(['a 1100', 'nested 1150', 'b 1300', 'c 1300', 'd 1300']);
    expect(clock.now()).toBe(1_999);
    await clock.advance(1, settled);
    expect(ran.at(-1)).toBe('later 2000');
  });

  it('keeps its order among thousands, half of them called off', async () => {
    const random = randomOf(5);
    const clock = new Clock('manual', 0);
    const ran: number[] = [];
    const expected: number[] = [];
    for (let count = 0; count < 5_000; count++) {
      const time = Math.floor(random() * 1_000);
      const callOff = clock.at(time, () => ran.push(time));
      if (random() < 0.5) callOff();
      else expected.push(time);
    }
    await clock.advance(1_000, settled);
    expect(ran).toEqual(expected.toSorted((a, b) => a - b));
  });

  it('runs what is due at once before the next request, and nothing after it was stopped', () => {
    const clock = new Clock('manual', 0);
    let ran = 0;
    clock.at(0, () => ran++);
    clock.settle();
    clock.at(0, () => ran++);
    clock.stop();
    clock.settle();
    expect(ran).toBe(1);
  });
});

describe('advance', () => {
  it('called while another runs follows it', async () => {
    const sandbox = createSandbox({ clock: 'manual', start: 0 });
    await Promise.all([sandbox.advance(600), sandbox.advance(400)]);
    expect(sandbox.now()).toBe(1_000);
  });

  it('goes no further than dates go', async () => {
    const sandbox = createSandbox({ clock: 'manual' });
    for (const ms of [Number.POSITIVE_INFINITY, 8.64e15, Number.NaN])
      await expect(sandbox.advance(ms)).rejects.toThrow(/takes milliseconds from 0/);
    const queued = await Promise.allSettled([sandbox.advance(6e15), sandbox.advance(6e15)]);
    expect(queued.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await sandbox.fetch('http://x/api/v2/usage')).status).toBe(406);
  });
});

describe('a clock that runs by itself', () => {
  it('runs what nobody looked at when it was due, at the time it was due', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { create, call, token, sandbox } = startSandbox({ clock: { speed: 3_600 }, start: Date.UTC(2026, 0, 1) });
    const audience_id = (await create(token)).body.data[0].id;
    const body = { audience_id, interval_hours: 1 };
    const { id } = (await call('POST', '/api/v2/schedules/create', { token, body })).body.data[0];
    await vi.advanceTimersByTimeAsync(50_500);
    expect((await call('GET', `/api/v2/schedules/${id}`, { token })).body.data[0].replays).toBe(50);
    const built = (await call('GET', `/api/v2/audiences/${audience_id}`, { token })).body.data[0];
    expect([built.status.id, built.updated_at]).toEqual([104, '2026-01-01 00:10:00']);
    expect(sandbox.jobs.running).toEqual([]);
  });

  it('tells no endpoint of what ended before it was there', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let sent = 0;
    const deliver = async (): Promise<Response> => new Response(null, { status: 200 + (sent++ && 0) });
    const { create, token, sandbox, account } = startSandbox({ clock: { speed: 3_600 }, deliver });
    await create(token);
    await vi.advanceTimersByTimeAsync(10_000);
    const events = ['audience.completed'];
    sandbox.webhooks.create({ account, name: 'Late', url: 'https://receiver.example/', events });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toBe(0);
  });

  it('runs as fast as told', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sandbox = createSandbox({ clock: { speed: 60 } });
    const began = sandbox.now();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sandbox.now() - began).toBe(600_000);
  });

  it('sends what is due though nobody asks, once there is an endpoint', async () => {
    const sent: string[] = [];
    const sandbox = createSandbox({
      clock: { speed: 6_000 },
      async deliver(request) {
        sent.push(JSON.parse(await request.text()).type);
        return new Response();
      },
    });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.create(credentials);
    sandbox.webhooks.create({
      account,
      name: 'Mine',
      url: 'https://receiver.example/',
      events: ['audience.completed'],
    });
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${account.token('api')}`,
    };
    await sandbox.fetch('http://x/api/v2/audiences/create', { method: 'POST', headers, body: '{}' });
    await expect.poll(() => sent).toEqual(['audience.completed']);
  });
});

describe('a test that waits', () => {
  const start = (options: SandboxOptions = {}) => {
    const { sandbox, token } = startSandbox({ clock: 'real', ...options });
    const client = new AudienceClient({ baseUrl: 'http://localhost', token, fetch: sandbox.fetch, logLevel: 'off' });
    onTestFinished(() => client.close());
    return { client, sandbox };
  };

  it('on jobs of no duration needs one look', async () => {
    const { client, sandbox } = start({ jobs: { duration: 0 } });
    expect(await client.audiences.createAndWait({ name: 'x' })).toMatchObject({ status: { id: 104 } });
    expect(sandbox.log.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('in fake time shares it with the sandbox, and sees every status', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { client } = start();
    const seen: number[] = [];
    const onUpdate = ({ status }: { status: { id: number } }): void => void seen.push(status.id);
    const waiting = client.audiences.createAndWait({ name: 'x' }, { wait: { onUpdate } });
    await vi.advanceTimersByTimeAsync(610_000);
    expect(await waiting).toMatchObject({ status: { id: 104 } });
    expect([...new Set(seen)]).toEqual([100, 102, 104]);
  });
});
