import type { Fetch } from '../../src/index.ts';

const success = JSON.stringify({ status: 'success', code: 200, message: '', data: [] });

/** Returns a `fetch` of a service that fails for a share of its requests, in each way that a service can. */
export function failingFetch(random: () => number, share: number): Fetch {
  const untilAborted = (signal: AbortSignal | null | undefined): Promise<never> =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  const broken = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
  return async (_url, init) => {
    await new Promise(setImmediate);
    init?.signal?.throwIfAborted();
    const faults: (() => Response | Promise<Response>)[] = [
      () => new Response('{}', { status: 503 }),
      () => new Response('{}', { status: 429, headers: { 'retry-after': '0' } }),
      () => new Response('{}', { status: 404 }),
      () => new Response('<html>'),
      () => Promise.reject(new TypeError('fetch failed')),
      () => new Response(broken()),
      () => untilAborted(init?.signal),
    ];
    const fault = random() < share ? faults[Math.floor(random() * faults.length)] : undefined;
    return fault ? fault() : new Response(success);
  };
}
