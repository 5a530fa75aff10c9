import { getEventListeners } from 'node:events';
import { AudienceClient } from '../../src/index.ts';
import { randomOf } from '../support/seeded.ts';

/**
 * Makes calls of one client, of which some are aborted at random moments, and reports what is left at the end, and the
 * heap in use after each tenth.
 */
const [, , baseUrl = '', calls = '', aborted = '', seed = ''] = process.argv;
const TENTHS = 10;
const AT_ONCE = 50;
const random = randomOf(Number(seed));
const REASON = { why: 'the user left' };
/** States in which a call is aborted; the paths are those of the server. */
const PATHS = ['/api/v2/quick', '/api/v2/stalled', '/api/v2/half', '/api/v2/busy'] as const;

const ends = new Map<string, number>();
const count = (what: string): void => void ends.set(what, (ends.get(what) ?? 0) + 1);
const client = new AudienceClient({
  baseUrl,
  token: 'test-token',
  rateLimits: false,
  logLevel: 'off',
  onEnd: ({ outcome, attempt }) => count(`${outcome} in attempt ${attempt}`),
});
const { signal } = new AbortController();

const inUse = (): string[] => process.getActiveResourcesInfo().filter((name) => /^(?:TCP|Timeout)/.test(name));

async function succeed(): Promise<void> {
  await client.webhooks.list({ signal });
  count('succeeded');
}

/** Makes calls until one of them has been aborted before its end. */
async function abort(at: number): Promise<void> {
  while (!(await isAborted(at)));
}

async function isAborted(at: number): Promise<boolean> {
  const controller = new AbortController();
  const path = PATHS[at % PATHS.length] ?? PATHS[0];
  const calling = client.request('GET', path, { signal: controller.signal });
  const end = (): void => controller.abort(REASON);
  const when = Math.floor(random() * 8);
  if (when === 0) queueMicrotask(end);
  else if (when === 1) setImmediate(end);
  else setTimeout(end, when);
  const isLate = await calling.then(
    () => true,
    (error: unknown) => {
      count(error === REASON ? 'aborted' : `failed: ${String(error)}`);
      return false;
    },
  );
  if (getEventListeners(controller.signal, 'abort').length > 0) count('listeners left');
  return !isLate;
}

/** Runs a tenth of the work, `AT_ONCE` at a time. */
async function tenth(total: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < total / TENTHS; at = next++) await work(at);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const heap: number[] = [];
const before = inUse();
for (let round = 0; round < TENTHS; round++) {
  await tenth(Number(calls), succeed);
  await tenth(Number(aborted), abort);
  globalThis.gc?.();
  heap.push(process.memoryUsage().heapUsed);
}
const listeners = getEventListeners(signal, 'abort').length;
await client.close();
// Idle connections stay open for the seconds that the server announces.
for (let tries = 0; tries < 600 && inUse().length > before.length; tries++) {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
process.send?.({ ends: Object.fromEntries(ends), listeners, left: inUse().slice(before.length), heap });
