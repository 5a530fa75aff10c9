import type { RateLimit } from '../../../src/spec/limits.ts';
import { mostInWindow } from '../../support/most-in-window.ts';

/** A request: its time of arrival, and its status. */
interface Arrival {
  readonly at: number;
  readonly status: 200 | 429;
}

/** A service in this process that keeps its own sliding-window log, by the times of arrival. */
export interface StrictService {
  /** In order of arrival. */
  readonly arrivals: readonly Arrival[];
  /** Responds to a request that arrives now. */
  respond(): Response;
  /** Returns the number of requests that received a 429. */
  refused(): number;
  /** Returns the maximum number of requests that arrived in any interval, refused ones included. */
  most(): number;
  /** Returns the milliseconds from the first arrival to the last. */
  took(): number;
}

/** Creates a service that refuses a request if it has accepted `limit` requests in the `interval` before. */
export function createStrictService({ limit, interval }: RateLimit): StrictService {
  const arrivals: Arrival[] = [];
  const accepted: number[] = [];
  return {
    arrivals,
    respond() {
      const at = performance.now();
      const oldest = accepted.at(-limit) ?? Number.NEGATIVE_INFINITY;
      const wait = oldest + interval - at;
      arrivals.push({ at, status: wait > 0 ? 429 : 200 });
      if (wait > 0) {
        const headers = { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))) };
        return Response.json({ status: 'error', code: 429, message: 'Too many requests.' }, { status: 429, headers });
      }
      accepted.push(at);
      return Response.json({ status: 'success', code: 200, message: 'ok', data: [] });
    },
    refused: () => arrivals.filter(({ status }) => status === 429).length,
    most: () =>
      mostInWindow(
        arrivals.map(({ at }) => at),
        interval,
      ),
    took: () => (arrivals.at(-1)?.at ?? 0) - (arrivals[0]?.at ?? 0),
  };
}
