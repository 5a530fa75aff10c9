import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions, type CreateOptions, type RateLimiter } from '../../../src/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { answer } from '../../support/job-service.ts';
import { failureOf } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const time = inVirtualTime();
const SECOND = 1_000;
const HOUR = 3_600_000;

const refuse = (seconds: number, headers: Readonly<Record<string, string>> = {}): Response =>
  answer([], 429, { 'retry-after': String(seconds), ...headers });
const accept = (): Response => answer([wireAudience()]);

/** Starts a client whose nth create `respond` answers; its usage report names the seconds until the next build. */
function start(respond: (n: number) => Response | Promise<Response>, usage: number, options: ClientOptions = {}) {
  let creates = 0;
  const budget = { hour: { limit: 1, used: 1 }, day: { limit: 9, used: 1 }, retry_after_seconds: usage };
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: 't',
    logLevel: 'off',
    rateLimits: false,
    fetch: async (input, init) =>
      new Request(input, init).method === 'POST' ? respond(++creates) : answer({ build_budget: budget }),
    ...options,
  });
  onTestFinished(() => client.close());
  return {
    create: (options?: CreateOptions) => client.audiences.create({ name: 'A' }, options),
    creates: () => creates,
  };
}

it('a `Retry-After` that is shorter than the budget says does not repeat refusals', async () => {
  for (const seconds of [0, 1]) {
    const { create, creates } = start(() => refuse(seconds), 3_600);
    const error = await time.until(failureOf(create()));
    expect(error).toMatchObject({ code: 'build-budget-exhausted', retryAfter: 3_600, outcome: 'refused' });
    expect(creates()).toBe(1);
  }
});

it('a queued create fails immediately when the hold becomes longer than it may wait', async () => {
  const respond = (n: number): Response => (n === 1 ? refuse(1) : n === 2 ? refuse(3_600) : accept());
  const { create } = start(respond, 1);
  const patient = { maxRetryWait: 24 * HOUR };
  const waiting = [create(patient)];
  await time.pass(100);
  waiting.push(create(patient), create(patient));
  const failure = failureOf(create({ maxRetryWait: 5 * SECOND }));
  await time.pass(2 * SECOND);
  expect(await failure).toMatchObject({ code: 'build-budget-exhausted', outcome: 'not-sent' });
  await time.until(Promise.all(waiting));
});

it('a limiter that ignores the signal does not block the creates behind a call that has ended', async () => {
  let writes = 0;
  const limiter: RateLimiter = {
    acquire: (bucket) => (bucket === 'write' && ++writes === 2 ? new Promise(() => {}) : Promise.resolve()),
    pause: () => {},
  };
  const { create } = start((n) => (n === 1 ? refuse(1) : accept()), 1, { limiter });
  await time.until(failureOf(create({ maxRetries: 0 })));
  const ended = failureOf(create({ deadline: 3 * SECOND }));
  const next = create();
  expect(await time.until(ended)).toMatchObject({ code: 'deadline-exceeded' });
  expect(await time.until(next)).toMatchObject({ id: 42 });
});

it('a refusal that asks for no retry holds other creates back, too', async () => {
  const { create, creates } = start(() => refuse(3_600, { 'x-should-retry': 'false' }), 1);
  for (let at = 0; at < 3; at++) {
    expect(await time.until(failureOf(create()))).toMatchObject({ code: 'build-budget-exhausted' });
  }
  expect(creates()).toBe(1);
});
