import { type Audience, AudienceClient, type ClientOptions, type WaitOptions } from '../../src/index.ts';
import { mostInWindow } from './most-in-window.ts';
import type { VirtualTime } from './virtual-time.ts';
import { wireAudience } from './wire-audience.ts';

/** Options of a service with a list of audiences, whose jobs the test ends. */
export interface JobServiceOptions {
  /** Order of the listed rows: by falling ids, by rising ids, or neither. @default 'newest first' */
  readonly order?: 'newest first' | 'oldest first' | 'shuffled';
  /** Fields that a listed row contains. @default 'all' */
  readonly rows?: 'all' | 'status' | 'no status';
  /** Maximum number of rows on a page. @default 100 */
  readonly cap?: number;
  /** Time from a request to its response. Milliseconds. @default 50 */
  readonly latency?: number;
  readonly client?: ClientOptions;
}

/** A read request to the service. */
interface JobRead {
  readonly at: number;
  /** Page number of a list read; absent in the read of a single audience. */
  readonly page?: number;
  readonly id?: number;
}

/** A service in this process, for tests in virtual time, and a client of it. */
export interface JobService {
  readonly client: AudienceClient;
  readonly reads: JobRead[];
  /** Responds to a request in place of the service, if it returns a response. */
  interfere: (url: URL, request: Request) => Response | Promise<Response> | undefined;
  /** Adds running jobs; returns their ids. */
  add(count: number): number[];
  set(id: number, status: number): void;
  remove(id: number): void;
  /** Returns the audience as its GET does. */
  show(id: number): Record<string, unknown>;
  /** Returns the numbers of the pages read, in order. */
  lists(): number[];
  /** Returns the ids of the single audiences read, in order. */
  singles(): number[];
  /** Returns the maximum number of reads in any minute. */
  mostInAMinute(): number;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const wireTime = (): string => new Date().toISOString().slice(0, 19).replace('T', ' ');

/** Returns a response of the service. */
export function answer(data: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  const body = { status: status < 400 ? 'success' : 'error', code: status, message: '', data };
  return new Response(JSON.stringify(body), { status, headers });
}

/** Sorts ids in an order that is neither rising nor falling. */
const shuffled = (ids: readonly number[]): number[] =>
  ids.toSorted((a, b) => ((a * 7_919) % 1_009) - ((b * 7_919) % 1_009) || a - b);

/** Starts the service with an empty list. */
export function startJobService(options: JobServiceOptions = {}): JobService {
  const { order = 'newest first', rows = 'all', cap = 100, latency = 50 } = options;
  const states = new Map<number, { readonly status: number; readonly updated: string }>();
  let listed: number[] | undefined;
  const list = (): number[] => {
    const ids = [...states.keys()];
    if (order === 'shuffled') return shuffled(ids);
    return order === 'newest first' ? ids.reverse() : ids;
  };
  const show = (id: number): Record<string, unknown> => {
    const { status, updated } = states.get(id) ?? { status: 100, updated: '' };
    return { ...wireAudience(id, { id: status, name: `S${status}` }), updated_at: updated };
  };
  const row = (id: number): unknown => {
    if (rows === 'all') return show(id);
    const { name, status } = show(id);
    return rows === 'status' ? { id, name, status } : { id, name };
  };
  const service: JobService = {
    reads: [],
    interfere: () => undefined,
    add(count) {
      listed = undefined;
      const ids = Array.from({ length: count }, (_, at) => states.size + at + 1);
      for (const id of ids) states.set(id, { status: 100, updated: wireTime() });
      return ids;
    },
    set: (id, status) => void states.set(id, { status, updated: wireTime() }),
    remove(id) {
      listed = undefined;
      states.delete(id);
    },
    show,
    lists: () => service.reads.flatMap(({ page }) => page ?? []),
    singles: () => service.reads.flatMap(({ id }) => id ?? []),
    mostInAMinute: () =>
      mostInWindow(
        service.reads.map(({ at }) => at),
        60_000,
      ),
    client: new AudienceClient({
      baseUrl: 'http://localhost',
      token: 'test-token',
      logLevel: 'off',
      ...options.client,
      fetch: (input, init) => respond(new Request(input, init)),
    }),
  };
  async function respond(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const page = url.searchParams.get('page');
    const at = performance.now();
    const id = Number(url.pathname.split('/').at(-1));
    service.reads.push(page === null ? { at, id } : { at, page: Number(page) });
    await sleep(latency);
    request.signal.throwIfAborted();
    const answered = await service.interfere(url, request);
    if (answered) return answered;
    if (page === null) return states.has(id) ? answer([show(id)]) : answer([], 404);
    listed ??= list();
    const size = Math.min(cap, Number(url.searchParams.get('per_page')));
    return answer(listed.slice((Number(page) - 1) * size, Number(page) * size).map(row));
  }
  return service;
}

/** Waits for jobs; resolves with the result of each wait. */
export const waitFor = (
  { client }: JobService,
  ids: readonly number[],
  options?: WaitOptions<Audience>,
): Promise<PromiseSettledResult<Audience>[]> => Promise.allSettled(ids.map((id) => client.audiences.wait(id, options)));

/** Ends jobs at 104; returns the milliseconds until `waiting` has settled. */
export async function lateness(
  time: VirtualTime,
  service: JobService,
  ids: readonly number[],
  waiting: Promise<unknown>,
): Promise<number> {
  for (const id of ids) service.set(id, 104);
  const ended = performance.now();
  await time.until(waiting);
  return performance.now() - ended;
}
