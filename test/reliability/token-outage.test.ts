import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { answer, type JobService, startJobService, waitFor } from '../support/job-service.ts';

const MINUTE = 60_000;
const time = inVirtualTime();

/** A page whose backend hands out tokens as long as there is a session. */
function startPage(): { readonly service: JobService; session: boolean; asked: number } {
  const page = {
    session: true,
    asked: 0,
    service: startJobService({
      client: {
        token: () => {
          page.asked++;
          if (!page.session) throw new Error('GET /token: 401 Nobody is signed in.');
          return 'test-token';
        },
      },
    }),
  };
  return page;
}

const forever = { timeout: Number.POSITIVE_INFINITY };

/** Returns whether a promise has not settled yet. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}

describe('a session that has ended', () => {
  it.each([1, 5])('ends %i waits after ten minutes, with the error of the token source', async (jobs) => {
    const page = startPage();
    const waiting = waitFor(page.service, page.service.add(jobs), forever);
    await time.pass(MINUTE);
    page.session = false;
    await time.pass(9.5 * MINUTE);
    expect(await isPending(waiting)).toBe(true);
    await time.pass(MINUTE);
    const reason = {
      code: 'token-unavailable',
      message: expect.stringContaining('Nobody is signed in'),
      cause: expect.objectContaining({ message: 'GET /token: 401 Nobody is signed in.' }),
    };
    expect(await time.until(waiting)).toMatchObject(Array.from({ length: jobs }, () => ({ reason })));
    const asked = page.asked;
    await time.pass(10 * MINUTE);
    expect(page.asked).toBe(asked);
    expect(await time.timersLeft()).toBe(0);
  });

  it('ends the waits whose requests have their own options, too', async () => {
    const page = startPage();
    const waiting = waitFor(page.service, page.service.add(2), { ...forever, request: { timeout: 5_000 } });
    await time.pass(MINUTE);
    page.session = false;
    await time.pass(11 * MINUTE);
    expect(await time.until(waiting)).toMatchObject([
      { reason: { code: 'token-unavailable' } },
      { reason: { code: 'token-unavailable' } },
    ]);
  });

  it('ends the iteration of a watch', async () => {
    const page = startPage();
    const [id = 0] = page.service.add(1);
    const steps = page.service.client.audiences.watch(id, forever)[Symbol.asyncIterator]();
    expect(await time.until(steps.next())).toMatchObject({ value: { id } });
    page.session = false;
    const next = steps.next().catch((error: unknown) => error);
    await time.pass(11 * MINUTE);
    expect(await time.until(next)).toMatchObject({ code: 'token-unavailable' });
  });
});

describe('an account whose password has changed', () => {
  it('ends waits immediately: the login is refused with 401', async () => {
    const service = startJobService({
      client: { token: undefined, credentials: { email: 'ada@example.com', password: 'correct horse' } },
    });
    let changed = false;
    service.interfere = ({ pathname }) => {
      if (changed) return answer([], 401);
      return pathname.endsWith('/auth/login') ? answer({ token: 'login-token' }) : undefined;
    };
    const waiting = waitFor(service, service.add(2), forever);
    await time.pass(MINUTE);
    changed = true;
    await time.pass(10_000);
    const reason = { code: 'authentication-failed', reason: 'credentials', operation: 'auth.login' };
    expect(await time.until(waiting)).toMatchObject([{ reason }, { reason }]);
  });
});

describe('a token source that fails for less than ten minutes', () => {
  it('ends no wait, however often that happens', async () => {
    const page = startPage();
    const ids = page.service.add(2);
    const waiting = waitFor(page.service, ids, forever);
    for (let outage = 0; outage < 2; outage++) {
      await time.pass(MINUTE);
      page.session = false;
      await time.pass(8 * MINUTE);
      page.session = true;
    }
    for (const id of ids) page.service.set(id, 104);
    expect(await time.until(waiting)).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
  });

  it('ends no wait while the machine sleeps for longer', async () => {
    const page = startPage();
    const [id = 0] = page.service.add(1);
    const wait = page.service.client.audiences.wait(id, forever);
    await time.pass(MINUTE);
    page.session = false;
    await time.pass(MINUTE);
    await time.sleepThrough(60 * MINUTE);
    await time.pass(MINUTE);
    page.session = true;
    page.service.set(id, 104);
    expect(await time.until(wait)).toMatchObject({ id, status: { id: 104 } });
  });
});
