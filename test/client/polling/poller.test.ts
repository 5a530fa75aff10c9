import { describe, expect, it } from 'vitest';
import {
  type Audience,
  AudienceClient,
  AuthenticationError,
  type ClientOptions,
  JobCancelledError,
  JobFailedError,
  JobNeedsInfoError,
  WaitTimeoutError,
} from '../../../src/index.ts';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { answer, type JobService, startJobService } from '../../support/job-service.ts';
import { credentials } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

type Step = () => Response | Promise<Response>;

const at =
  (id: number, more: object = {}): Step =>
  () =>
    answer([{ ...wireAudience(42, { id, name: `S${id}` }), ...more }]);
const refusal =
  (status: number): Step =>
  () =>
    answer([], status);

/** Starts a service that responds with one step after the other, and with the last one to all further requests. */
function startScript(...steps: readonly Step[]): JobService {
  const service = startJobService();
  service.interfere = () => (steps[service.reads.length - 1] ?? steps.at(-1))?.();
  return service;
}

/** Starts a sandbox in this process with a client of it. */
function startSandbox(options: SandboxOptions = {}, limits: ClientOptions = {}) {
  const sandbox = createSandbox(options);
  const account = sandbox.accounts.create(credentials);
  const connect = (): AudienceClient =>
    new AudienceClient({
      baseUrl: 'http://localhost',
      token: account.token('api'),
      logLevel: 'off',
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
      ...limits,
    });
  return { sandbox, account, connect, client: connect() };
}

describe('in virtual time', () => {
  const time = inVirtualTime();

  describe('a wait', () => {
    it('starts immediately and resolves at 104, through statuses it does not know', async () => {
      const { client, reads } = startScript(at(101), at(987), at(104));
      const startedAt = performance.now();
      const updates: string[] = [];
      const waiting = client.audiences.wait(42, {
        onUpdate: ({ status }, { elapsed, source }) =>
          updates.push(`${status.id} ${source} ${elapsed === performance.now() - startedAt}`),
      });
      expect((await time.until(waiting)).status.id).toBe(104);
      expect(updates).toEqual(['101 poll true', '987 poll true', '104 poll true']);
      expect(reads[0]?.at).toBe(startedAt);
      for (const [index, { at: sentAt }] of reads.entries())
        expect((reads[index + 1]?.at ?? Number.POSITIVE_INFINITY) - sentAt).toBeGreaterThanOrEqual(500);
    });

    it('calls `onUpdate` when the status or `updated_at` has changed, and not at each poll', async () => {
      const updated = (text: string): object => ({ updated_at: `2026-11-20 ${text}` });
      const steps = [
        at(101, updated('10:00:00')),
        at(101, updated('10:00:00')),
        at(101, updated('10:00:07')),
        at(101, updated('10:00:07')),
        at(102, updated('10:00:07')),
        at(104, updated('10:00:09')),
      ];
      const { client, reads } = startScript(...steps);
      const seen: string[] = [];
      const onUpdate = ({ status, updated_at }: Audience): void =>
        void seen.push(`${status.id} ${updated_at.slice(-2)}`);
      await time.until(client.audiences.wait(42, { onUpdate }));
      expect(seen).toEqual(['101 00', '101 07', '102 07', '104 09']);
      expect(reads).toHaveLength(steps.length);
    });

    it('calls `onUpdate` with each status, although `updated_at` goes back', async () => {
      const steps = [101, 102, 104].map((id, hour) => at(id, { updated_at: `2026-10-25 0${3 - hour}:00:00` }));
      const seen: number[] = [];
      const onUpdate = ({ status }: Audience): void => void seen.push(status.id);
      await time.until(startScript(...steps).client.audiences.wait(42, { onUpdate }));
      expect(seen).toEqual([101, 102, 104]);
    });

    it.each([
      [at(107), JobNeedsInfoError, 'job-needs-info', 'Audience 42 cannot be completed as defined (status 107 S107).'],
      [at(422), JobFailedError, 'job-failed', 'Audience 42 failed (status 422 S422).'],
      [at(400), JobFailedError, 'job-failed', 'You can safely create the audience again'],
      [
        at(400, { is_lookalike: true }),
        JobCancelledError,
        'job-cancelled',
        'Audience 42 was cancelled (status 400 S400).',
      ],
    ])('rejects with the error for how the job ended (%#)', async (step, ErrorClass, code, text) => {
      const error = await time.until(failureOf(startScript(step).client.audiences.wait({ id: 42 })));
      expect(error).toBeInstanceOf(ErrorClass);
      expect(error).toMatchObject({ code, kind: 'audience', id: 42, resource: { id: 42, name: 'Visitors' } });
      expect(String(error)).toContain(text);
    });

    it('survives 429, 408, 5xx, the page of a proxy and lost connections', async () => {
      const { client, reads } = startScript(
        refusal(429),
        refusal(408),
        refusal(503),
        () => new Response('<html>'),
        () => Promise.reject(new TypeError('fetch failed')),
        at(104),
      );
      expect(await time.until(client.audiences.wait(42))).toMatchObject({ id: 42 });
      expect(reads).toHaveLength(6);
    });

    it.each([401, 403, 404])('ends with the error of a %i', async (status) => {
      const { client } = startScript(at(101), refusal(status));
      expect(await time.until(failureOf(client.audiences.wait(42)))).toMatchObject({ status });
    });

    it('continues while a resource that the client has just created is not found, with `createAndWait` and `wait`', async () => {
      const { sandbox, client } = startSandbox({ jobs: { duration: 1_000 } });
      sandbox.faults.add({ on: 'audiences.get', status: 404, times: 3 });
      expect((await time.until(client.audiences.createAndWait({ name: 'One' }))).status.id).toBe(104);
      const { id } = await time.until(client.audiences.create({ name: 'Two' }));
      sandbox.faults.add({ on: 'audiences.get', status: 404, times: 3 });
      expect((await time.until(client.audiences.wait(id))).status.id).toBe(104);
    });

    it('ends with a 404 ten seconds after the create', async () => {
      const { sandbox, client } = startSandbox({ jobs: { duration: 60_000 } });
      sandbox.faults.add({ on: 'audiences.get', status: 404 });
      const startedAt = performance.now();
      const error = await time.until(failureOf(client.audiences.createAndWait({ name: 'One' })));
      expect(error).toMatchObject({ name: 'NotFoundError', created: { kind: 'audience' } });
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(10_000);
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });

    it('ends with an error if the response is not an audience', async () => {
      const { client } = startScript(() => answer([{ id: 42 }]));
      expect(await time.until(failureOf(client.audiences.wait(42)))).toMatchObject({ code: 'response-invalid' });
    });

    it('a wait times out with the last known state', async () => {
      const { client, reads } = startScript(at(101));
      const error = await time.until(failureOf(client.audiences.wait(42, { timeout: 300 })));
      expect(error).toBeInstanceOf(WaitTimeoutError);
      expect(error).toMatchObject({
        kind: 'audience',
        id: 42,
        resource: { status: { id: 101 } },
        message: 'The wait for audience 42 timed out after 300 ms (last known status: 101 S101).',
        advice: 'The job keeps running: wait for the job again, or raise `timeout`.',
      });
      expect(await failureOf(client.audiences.wait(42, { timeout: 0 }))).toMatchObject({
        name: 'WaitTimeoutError',
        message: expect.stringContaining('(status unknown)'),
      });
      expect(reads).toHaveLength(1);
    });

    it('names the error of its last poll when it times out', async () => {
      const { client } = startScript(refusal(503));
      const error = await time.until(failureOf(client.audiences.wait(42, { timeout: 1_000 })));
      expect(error).toMatchObject({
        message: expect.stringContaining('(status unknown; the last poll failed: audiences.get failed: 503.'),
        cause: { status: 503 },
      });
    });

    it('rejects with the reason of its signal, and sends nothing more', async () => {
      const { client, reads } = startScript(at(101));
      const controller = new AbortController();
      const { signal } = controller;
      const wait = failureOf(client.audiences.wait(42, { signal, onUpdate: () => controller.abort('enough') }));
      expect(await time.until(wait)).toBe('enough');
      expect(await failureOf(client.audiences.wait(42, { signal }))).toBe('enough');
      await time.pass(60_000);
      expect(reads).toHaveLength(1);
      expect(await time.timersLeft()).toBe(0);
    });

    it('ends when the client is closed, which refuses later waits', async () => {
      const { client, reads } = startScript(at(101));
      const wait = failureOf(client.audiences.wait(42, { onUpdate: () => void client.close() }));
      expect(await time.until(wait)).toMatchObject({ code: 'client-closed' });
      expect(await failureOf(client.audiences.wait(42))).toMatchObject({ code: 'client-closed' });
      expect(reads).toHaveLength(1);
    });

    it('continues when its callback throws', async () => {
      const { client } = startScript(at(101), at(104));
      const onUpdate = () => {
        throw new Error('broken');
      };
      expect(await time.until(client.audiences.wait(42, { onUpdate }))).toMatchObject({ id: 42 });
    });
  });

  describe('waits for jobs of every kind', () => {
    it('started together share the pages of their lists', async () => {
      const { client, sandbox } = startSandbox({ jobs: { duration: 60_000 } });
      const many = <T>(create: (index: number) => Promise<T>): Promise<T[]> =>
        time.until(Promise.all(Array.from({ length: 5 }, (_, index) => create(index))));
      const audiences = await many((index) => client.audiences.create({ name: `Audience ${index}` }));
      const cohorts = await many((index) => client.cohorts.create({ name: `Cohort ${index}` }));
      const before = sandbox.log.length;
      const sources = new Set<string>();
      const onUpdate = (_: unknown, { source }: { readonly source: string }): void => void sources.add(source);
      const waiting = Promise.all([
        ...audiences.map((audience) => client.audiences.wait(audience, { onUpdate })),
        ...cohorts.map((cohort) => client.cohorts.wait(cohort, { onUpdate })),
      ]);
      await time.pass(10_000);
      const lists = ['/api/v2/audiences/index', '/api/v2/cohorts/index'];
      const reads = () => sandbox.log.slice(before);
      expect(new Set(reads().map(({ path }) => path))).toEqual(new Set(lists));
      // A burst for each list, then pages with new waits at growing periods.
      expect(reads().length).toBeLessThanOrEqual(22);
      const ended = await time.until(waiting);
      expect(ended.map(({ status }) => status.id)).toEqual([...audiences.map(() => 104), ...cohorts.map(() => 4)]);
      expect(sources).toEqual(new Set(['list']));
      expect(new Set(reads().map(({ path }) => path))).toEqual(new Set(lists));
    });
  });

  describe('watch', () => {
    it('yields each change of status, the last one final, and does not throw', async () => {
      const { client } = startScript(at(101), at(101), at(102), at(107));
      const statuses: number[] = [];
      const watching = (async () => {
        for await (const { status } of client.audiences.watch(42)) statuses.push(status.id);
      })();
      await time.until(watching);
      expect(statuses).toEqual([101, 102, 107]);
    });

    it('polls separately for each iteration', async () => {
      const { client, reads } = startScript(at(104));
      const watch = client.audiences.watch(42);
      for (const _ of [1, 2]) {
        const steps = watch[Symbol.asyncIterator]();
        expect(await time.until(steps.next())).toMatchObject({ value: { id: 42 } });
        expect(await steps.next()).toEqual({ done: true, value: undefined });
      }
      expect(reads).toHaveLength(2);
    });

    it('sends nothing more after a break', async () => {
      const { client, reads } = startScript(at(101));
      const watching = (async () => {
        for await (const _ of client.audiences.watch(42)) break;
      })();
      await time.until(watching);
      await time.pass(60_000);
      expect(reads).toHaveLength(1);
      expect(client.waits.size).toBe(0);
    });

    it('throws an error that shows the code that called it', async () => {
      const { client } = startScript(refusal(403));
      const watch = client.audiences.watch(42);
      const error = await time.until(failureOf(watch[Symbol.asyncIterator]().next()));
      expect(error).toMatchObject({ status: 403, stack: expect.stringContaining('poller.test.ts') });
    });
  });

  describe('createAndWait', () => {
    it('creates once, reports the created resource and waits for its end', async () => {
      const { client, sandbox } = startSandbox();
      const created: number[] = [];
      const audience = await time.until(
        client.audiences.createAndWait({ name: 'x' }, { onCreated: ({ id }) => created.push(id) }),
      );
      expect(created).toEqual([audience.id]);
      expect(audience.status).toEqual({ id: 104, name: 'Completed' });
      expect(sandbox.log.filter(({ method }) => method === 'POST')).toHaveLength(1);
    });

    it('reports what was created when its wait fails, so that it can be waited for again', async () => {
      const { client, sandbox, account, connect } = startSandbox();
      const onCreated = (): void => void account.changePassword('new');
      const options = { idempotencyKey: 'k', onCreated };
      const error = await time.until(failureOf(client.audiences.createAndWait({ name: 'x' }, options)));
      if (!AuthenticationError.isInstance(error) || !error.created) throw error;
      const { id } = error.created;
      expect(error).toMatchObject({ outcome: 'done', idempotencyKey: 'k', created: { kind: 'audience', id } });
      expect(error.advice).toContain(
        `The audience ${id} was created and its job keeps running: wait for the job again with \`client.waits.wait(error.created)\`.`,
      );
      expect(JSON.parse(JSON.stringify(error)).created).toEqual({ kind: 'audience', id });
      sandbox.jobs.finish('audience', id, 104);
      expect(await time.until(connect().waits.wait(error.created))).toMatchObject({ id, status: { id: 104 } });
    });

    it.each([{}, { wait: { signal: undefined } }])(
      'rejects with the reason of its signal while it waits: %o',
      async (more) => {
        const { client } = startSandbox();
        const controller = new AbortController();
        const reason = new Error('enough');
        const onCreated = (): void => controller.abort(reason);
        const options = { signal: controller.signal, onCreated, ...more };
        const creating = client.audiences.createAndWait({ name: 'x' }, options);
        expect(await time.until(failureOf(creating))).toBe(reason);
      },
    );

    it('ends its wait at its deadline, which covers the create, too', async () => {
      const { client } = startSandbox({ jobs: { duration: 60_000 } });
      const deadline = 20_000;
      const startedAt = performance.now();
      const error = await time.until(failureOf(client.audiences.createAndWait({ name: 'x' }, { deadline })));
      expect(performance.now() - startedAt).toBeCloseTo(deadline, -3);
      expect(error).toMatchObject({ name: 'WaitTimeoutError', created: { kind: 'audience' } });
      const longer = { deadline: 600_000, wait: { timeout: 10_000 } };
      expect(await time.until(failureOf(client.audiences.createAndWait({ name: 'x' }, longer)))).toMatchObject({
        message: expect.stringContaining('10000 ms'),
      });
    });

    it('refuses a `timeout` option, which could limit the wait or a request', async () => {
      const { client, sandbox } = startSandbox();
      const options: object = { timeout: 1_000 };
      const error = {
        name: 'ConfigurationError',
        advice: expect.stringMatching(/`wait: \{ timeout \}`.*`request: \{ timeout \}`/),
      };
      expect(await failureOf(client.audiences.createAndWait({ name: 'x' }, options))).toMatchObject(error);
      expect(await failureOf(client.cohorts.import(new Uint8Array(3), {}, options))).toMatchObject(error);
      const update: object = { onUpdate() {} };
      const misplaced = {
        message: '`createAndWait` and `cohorts.import` have no `onUpdate` option.',
        advice: 'Use `wait: { onUpdate }`.',
      };
      expect(await failureOf(client.audiences.createAndWait({ name: 'x' }, update))).toMatchObject(misplaced);
      expect(sandbox.log).toEqual([]);
    });
  });
});
