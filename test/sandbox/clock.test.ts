import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { Clock } from '../../src/sandbox/clock.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { credentials } from '../support/sandbox.ts';
import { randomOf } from '../support/seeded.ts';
import { startSandbox } from './support/sandbox-calls.ts';

const settled = async (): Promise<void> => {};

/** Creates a clock whose tasks are functions. */
const clockAt = (time: number) => new Clock<() => void>('manual', time, (run) => run());

describe('a manual clock', () => {
  it('a manual clock runs tasks in the order of time, then of scheduling, each at its own time', async () => {
    const clock = clockAt(1_000);
    const ran: string[] = [];
    const at = (time: number, name: string, order?: number) =>
      clock.schedule(time, () => ran.push(`${name} ${clock.now()}`), order);
    const reserved = clock.nextOrder();
    at(1_300, 'c');
    at(1_100, 'a');
    at(1_300, 'd');
    at(1_300, 'b', reserved);
    at(2_000, 'later');
    clock.schedule(1_100, () => at(1_150, 'nested'));
    expect(clock.tasks.map(({ time }) => time)).toEqual([1_100, 1_100, 1_300, 1_300, 1_300, 2_000]);
    await clock.advance(999, settled);
    expect(ran).toEqual(['a 1100', 'nested 1150', 'b 1300', 'c 1300', 'd 1300']);
    expect(clock.now()).toBe(1_999);
    await clock.advance(1, settled);
    expect(ran.at(-1)).toBe('later 2000');
  });

  it('a manual clock keeps the order of thousands of tasks', async () => {
    const random = randomOf(5);
    const clock = clockAt(0);
    const ran: number[] = [];
    const expected: number[] = [];
    for (let count = 0; count < 5_000; count++) {
      const time = Math.floor(random() * 1_000);
      clock.schedule(time, () => ran.push(time));
      expected.push(time);
    }
    await clock.advance(1_000, settled);
    expect(ran).toEqual(expected.toSorted((a, b) => a - b));
  });

  it('`runDue` runs what is due now, and nothing after `stop`', () => {
    const clock = clockAt(0);
    let ran = 0;
    clock.schedule(0, () => ran++);
    clock.runDue();
    clock.schedule(0, () => ran++);
    clock.stop();
    clock.runDue();
    expect(ran).toBe(1);
  });
});

describe('advance', () => {
  it('concurrent calls of `advance` run one after the other', async () => {
    const sandbox = createSandbox({ clock: 'manual', start: 0 });
    await Promise.all([sandbox.advance(600), sandbox.advance(400)]);
    expect(sandbox.now()).toBe(1_000);
  });

  it('`advance` refuses a time from the year 9000 on', async () => {
    const sandbox = createSandbox({ clock: 'manual' });
    for (const ms of [Number.POSITIVE_INFINITY, 8.64e15, Number.NaN])
      await expect(sandbox.advance(ms)).rejects.toThrow(
        /`ms` of `advance` must be a number of milliseconds of 0 or more/,
      );
    const queued = await Promise.allSettled([sandbox.advance(1.5e14), sandbox.advance(1.5e14)]);
    expect(queued.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((await sandbox.fetch('http://x/api/v2/usage')).status).toBe(406);
  });
});

describe('a running clock', () => {
  it('a task that runs late sees the time at which it was due', async () => {
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

  it('an endpoint receives no event of a job that ended before its registration', async () => {
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

  it('a clock runs at its speed', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const sandbox = createSandbox({ clock: { speed: 60 } });
    const start = sandbox.now();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sandbox.now() - start).toBe(600_000);
  });

  it('an event is sent without a request once an endpoint is registered', async () => {
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

  it('a wait for a job without duration needs one poll', async () => {
    const { client, sandbox } = start({ jobs: { duration: 0 } });
    expect(await client.audiences.createAndWait({ name: 'x' })).toMatchObject({ status: { id: 104 } });
    expect(sandbox.log.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('a wait under fake timers shares the time of the sandbox and sees every status', async () => {
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
