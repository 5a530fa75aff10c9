import { expect, it } from 'vitest';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { answer, type JobService, startJobService } from '../support/job-service.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';

const random = seeded('waits');
const upTo = (most: number): number => Math.floor(random() * most);
const oneOf = <T>(first: T, ...others: readonly T[]): T => [first, ...others][upTo(others.length + 1)] ?? first;

const time = inVirtualTime();

/** A response that says nothing about the job. */
const failure = (): Response | Promise<Response> =>
  oneOf<() => Response | Promise<Response>>(
    () => answer([], 500),
    () => answer([], 429),
    () => answer([], 503, { 'retry-after': oneOf('0', '1', '-5', 'abc', '1e99', '999999') }),
    () => new Response('<html>'),
    () => Promise.reject(new TypeError('fetch failed')),
  )();

/** A service that may list rows in any order or without fields, cut its pages, refuse its list, and fail for a while. */
function startBadService(): { readonly service: JobService; setFailing(share: number): void } {
  const service = startJobService({
    order: oneOf('newest first', 'oldest first', 'shuffled'),
    rows: oneOf('all', 'all', 'status', 'no status'),
    cap: oneOf(100, 25, 10),
    latency: oneOf(0, 50, 500, 3_000),
  });
  const list = oneOf(
    undefined,
    undefined,
    undefined,
    () => answer([]),
    () => answer([], 403),
    () => answer([], 503),
  );
  let share = 0;
  service.interfere = (url) => {
    if (random() < share) return failure();
    return url.searchParams.has('page') ? list?.() : undefined;
  };
  return {
    service,
    setFailing: (to) => {
      share = to;
    },
  };
}

/** Waits and watches that abort each other, throw, and pass events on. */
class Crowd {
  readonly #service: JobService;
  readonly #ids: readonly number[];
  readonly #controllers: AbortController[] = [];
  begun = 0;
  ended = 0;

  constructor(service: JobService, ids: readonly number[]) {
    this.#service = service;
    this.#ids = ids;
  }

  begin(): void {
    const done = (): void => {
      this.ended++;
    };
    this.begun++;
    this.#one(oneOf(1, ...this.#ids)).then(done, done);
  }

  abort(): void {
    oneOf(undefined, ...this.#controllers)?.abort();
  }

  async #one(id: number): Promise<void> {
    const { audiences, lookalikes } = this.#service.client;
    const controller = new AbortController();
    this.#controllers.push(controller);
    const options = { timeout: Number.POSITIVE_INFINITY, signal: controller.signal };
    const way = random();
    if (way < 0.7) await audiences.wait(id, { ...options, onUpdate: () => this.#react() });
    else if (way < 0.85) await lookalikes.wait(id, options);
    else for await (const _ of audiences.watch(id, options)) if (random() < 0.05) break;
  }

  #react(): void {
    if (random() < 0.01) this.abort();
    if (random() < 0.005 && this.begun < 400) this.begin();
    if (random() < 0.02)
      this.#service.client.waits.notify({ type: 'audience.x', data: this.#service.show(oneOf(1, ...this.#ids)) });
    if (random() < 0.02) throw new Error('broken');
  }
}

it.each(Array.from({ length: runs(2, 15, 500) }, (_, round) => round))(
  'every wait ends, none polls in a tight loop and nothing is left (round %i)',
  async () => {
    const { service, setFailing } = startBadService();
    const ids = service.add(20 + upTo(300));
    const crowd = new Crowd(service, ids);
    for (let count = 0; count < 40; count++) crowd.begin();
    for (let step = 0; step < 60; step++) {
      oneOf(
        () => crowd.begin(),
        () => ids.push(...service.add(1 + upTo(30)).filter((id) => !ids.includes(id))),
        () => service.remove(oneOf(1, ...ids)),
        () => service.set(oneOf(1, ...ids), oneOf(101, 102, 104, 107, 404)),
        () => crowd.abort(),
        () => setFailing(oneOf(0, 0.3, 1)),
      )();
      await time.pass(oneOf(100, 1_000, 10_000, 40_000));
    }
    setFailing(0);
    for (const id of ids) service.set(id, 104);
    for (let minute = 0; minute < 30 && crowd.ended < crowd.begun; minute++) await time.pass(60_000);
    expect(crowd.ended).toBe(crowd.begun);
    expect(service.client.waits.size).toBe(0);
    expect(service.mostInAMinute()).toBeLessThanOrEqual(60);
    expect(await time.timersLeft()).toBe(0);
  },
);
