import { createServer, type ServerResponse } from 'node:http';
import type { RateLimit } from '../../../src/spec/limits.ts';
import { listenForTest } from '../../support/loopback.ts';

/** A request: its time of arrival on the server's monotonic clock, and its status. */
interface Arrival {
  readonly at: number;
  readonly status: 200 | 429;
}

/** Limit and latency of a strict server. */
export interface StrictOptions extends RateLimit {
  /** Returns the milliseconds by which the arrival of a request is delayed. */
  readonly latency?: () => number;
}

/** A service that keeps its own sliding-window log, by the times of arrival. */
export interface StrictServer {
  readonly url: string;
  /** In order of arrival. */
  readonly arrivals: readonly Arrival[];
  /** Returns the number of requests that received a 429. */
  refused(): number;
  /** Returns the maximum number of requests that arrived in any interval, refused ones included. */
  most(): number;
  /** Returns the milliseconds from the first arrival to the last. */
  took(): number;
}

const BUSY = 'Too many requests.';

function answer(response: ServerResponse, status: 200 | 429, wait: number): void {
  const body =
    status === 200
      ? { status: 'success', code: 200, message: 'ok', data: [] }
      : { status: 'error', code: 429, message: BUSY };
  const retryAfter = status === 429 && { 'retry-after': String(Math.max(1, Math.ceil(wait / 1_000))) };
  response.writeHead(status, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(body));
}

/** Returns the maximum number of times that are less than `interval` apart. */
function mostInWindow(times: readonly number[], interval: number): number {
  let from = 0;
  let most = 0;
  for (const [at, time] of times.entries()) {
    while (time - (times[from] ?? time) >= interval) from++;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

/** Starts a service that refuses a request if it has accepted `limit` requests in the `interval` before. */
export async function startStrictServer({ limit, interval, latency }: StrictOptions): Promise<StrictServer> {
  const arrivals: Arrival[] = [];
  const accepted: number[] = [];
  const arrive = (response: ServerResponse): void => {
    const at = performance.now();
    const oldest = accepted.at(-limit) ?? Number.NEGATIVE_INFINITY;
    const status = at - oldest < interval ? 429 : 200;
    arrivals.push({ at, status });
    if (status === 200) accepted.push(at);
    answer(response, status, oldest + interval - at);
  };
  const server = createServer((_, response) => {
    if (latency) setTimeout(arrive, latency(), response);
    else arrive(response);
  });
  const times = (): number[] => arrivals.map(({ at }) => at);
  return {
    url: await listenForTest(server),
    arrivals,
    refused: () => arrivals.filter(({ status }) => status === 429).length,
    most: () => mostInWindow(times(), interval),
    took: () => (arrivals.at(-1)?.at ?? 0) - (arrivals[0]?.at ?? 0),
  };
}
