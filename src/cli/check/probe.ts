import { RATE_LIMITS } from '../../spec/limits.ts';
import type { Method } from '../../spec/operations.ts';
import { sleep } from '../../util/abort.ts';
import { parseRetryAfter } from '../../util/retry-after.ts';
import { envelopeOf, fingerprint, type Id, type Reply, readBody } from './evidence.ts';

/** Time source of a check; tests pass a virtual one. */
export interface Clock {
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A request of the check. */
export interface ProbeRequest {
  readonly method: Method;
  /** Path below the base URL, with `{id}` for {@link ProbeRequest.id}. */
  readonly path: string;
  readonly id?: Id;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why it is sent, for the progress. */
  readonly why: string;
}

/** Progress of a check. A request is shown without ids and values. */
export type CheckEvent =
  | { readonly type: 'step'; readonly text: string }
  | ({ readonly type: 'request' } & Pick<ProbeRequest, 'method' | 'path' | 'why'>)
  | { readonly type: 'pause'; readonly ms: number }
  /** A project of the check may be left: its delete failed, or was not confirmed. */
  | { readonly type: 'left'; readonly name: string };

/** Ends the check; what it has learned so far is reported. */
export class Stop extends Error {
  readonly exitCode: number;
  constructor(reason: string, exitCode: number) {
    super(reason);
    this.exitCode = exitCode;
  }
}

/** Exit codes of a check that ends early. */
export const STOPPED = { unexpected: 1, authentication: 7, limited: 9, cutShort: 12 } as const;

/** Options of a {@link Probe}. */
export interface ProbeOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch?: typeof fetch | undefined;
  /** @default the clock of this machine */
  readonly clock?: Clock | undefined;
  /** Milliseconds to wait for a response. @default 30_000 */
  readonly requestTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  onProgress?(event: CheckEvent): void;
}

/** Requests of a check at most. */
const MAX_REQUESTS = { read: 110, write: 20 } as const;
/** Half of the limits of the service, so that other users of the token keep the rest. */
const HALF_LIMITS = { read: RATE_LIMITS.read.limit / 2, write: RATE_LIMITS.write.limit / 2 } as const;
/** Interval of the limits, with a margin for requests that arrive closer together than they were sent. */
const INTERVAL_MS = 61_500;
/** Longest `Retry-After` to wait for. */
const MAX_PAUSE_MS = 120_000;
/** Pause after a 429 without a `Retry-After`. */
const DEFAULT_PAUSE_MS = 60_000;
/** 429s in the entire check after which it ends. */
const MAX_THROTTLES = 5;
/** Bytes of a body that are read at most, as the client does by default; of a larger one, nothing is judged. */
const MAX_BODY_BYTES = 16 * 2 ** 20;
/** Pause before a read without a usable response is repeated. */
const REPEAT_PAUSE_MS = 2_000;
/** Time to delete what was created after the check was interrupted. */
const CLEANUP_MS = 5_000;
/** Refusals after which a documented read is repeated. */
const REFUSALS_BEFORE_TRIAL = 8;
const REFUSALS: readonly number[] = [400, 401, 403, 404, 405, 410];
/** Milliseconds by which the clock of a service may run ahead during a check. */
const MAX_CLOCK_GAIN_MS = 10_000;

/** Sends the requests of a check: at half of the rate limits, and within a hard limit. */
export class Probe {
  readonly #options: ProbeOptions;
  readonly #clock: Clock;
  readonly #sentAt = { read: [] as number[], write: [] as number[] };
  #signal: AbortSignal | undefined;
  #throttles = 0;
  #refusals = 0;
  /** Milliseconds by which the clock of the service is ahead, by the last response and by the first one. */
  #ahead = 0;
  #firstAhead: number | undefined;
  /** True if timestamps do not come from a real clock: a sandbox says so in a header, or the `Date` is too fast. */
  isClockForeign = false;
  /** Headers of the successful responses so far. */
  readonly successes: Headers[] = [];
  /** Response to a path that certainly does not exist. */
  unknown: Reply | undefined;
  /** Documented read that shows whether the service still responds. */
  trial: ProbeRequest | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#signal = options.signal;
    this.#clock = options.clock ?? { now: Date.now, sleep };
  }

  /** Number of requests so far. */
  get sent(): { readonly read: number; readonly write: number } {
    return { read: this.#sentAt.read.length, write: this.#sentAt.write.length };
  }

  /** Time of the service's clock, or the time of this machine if the service's time is unknown. */
  get now(): number {
    return this.#clock.now() + this.#ahead;
  }

  pause(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#signal);
  }

  /** Permits requests for a few seconds after an interruption, to delete what was created. */
  endSoon(): void {
    if (this.#signal?.aborted) this.#signal = AbortSignal.timeout(CLEANUP_MS);
  }

  /**
   * Sends a request when the limits permit it, again after a 429, and a read again if it fails. A status of 0 means that
   * there was no response.
   *
   * @throws {Stop} if a limit is reached, the service asks for a long pause, or it blocks the check.
   */
  async send(request: ProbeRequest): Promise<Reply> {
    const reply = await this.#attempt(request);
    if (request.method === 'GET' && (reply.status === 0 || reply.status >= 500)) {
      await this.pause(REPEAT_PAUSE_MS);
      return this.#attempt(request);
    }
    const { status, format } = reply;
    // A firewall may respond with a page or a redirect.
    const isElsewhere = (status >= 300 && status < 400) || (status === 200 && format === 'html');
    if (!REFUSALS.includes(status) && !isElsewhere) return reply;
    // After many refusals, or a refusal that differs from the refusals of unknown paths, the service may refuse
    // everything.
    const isDenied = (status === 401 || status === 403) && !this.isLikeUnknown(reply);
    if (++this.#refusals % REFUSALS_BEFORE_TRIAL === 0 || isDenied) await this.assertResponsive();
    return reply;
  }

  /**
   * Repeats a documented read, before a refusal counts as a difference.
   *
   * @throws {Stop} if it is refused now.
   */
  async assertResponsive(): Promise<void> {
    const trial = this.trial && (await this.#attempt(this.trial));
    if (!trial || trial.status === 0 || trial.status >= 500 || envelopeOf(trial)) return;
    const reason = 'The service blocks the check: it now refuses a documented read that succeeded before.';
    throw new Stop(reason, STOPPED.cutShort);
  }

  /** Returns whether a response looks like the response to a path that does not exist. */
  isLikeUnknown(reply: Reply): boolean {
    return this.unknown !== undefined && fingerprint(reply) === fingerprint(this.unknown);
  }

  async #attempt(request: ProbeRequest): Promise<Reply> {
    for (;;) {
      await this.#permit(request);
      const reply = await this.#fetch(request);
      if (reply.status !== 429) return reply;
      const pause = parseRetryAfter(reply.headers, this.#clock.now()) ?? DEFAULT_PAUSE_MS;
      if (pause > MAX_PAUSE_MS || ++this.#throttles > MAX_THROTTLES)
        throw new Stop('The service limits the rate for longer than two minutes (429).', STOPPED.limited);
      this.#options.onProgress?.({ type: 'pause', ms: pause });
      await this.pause(pause);
    }
  }

  /** Waits until the pace permits the request, and counts it. */
  async #permit({ method, path, why }: ProbeRequest): Promise<void> {
    const bucket = method === 'GET' ? 'read' : 'write';
    const times = this.#sentAt[bucket];
    const limit = MAX_REQUESTS[bucket];
    if (times.length >= limit) throw new Stop(`The check has used its ${limit} ${bucket} requests.`, STOPPED.cutShort);
    this.#signal?.throwIfAborted();
    const oldest = times.at(-HALF_LIMITS[bucket]);
    const wait = oldest === undefined ? 0 : oldest + INTERVAL_MS - this.#clock.now();
    if (wait > 0) await this.pause(wait);
    times.push(this.#clock.now());
    this.#options.onProgress?.({ type: 'request', method, path, why });
  }

  async #fetch({ method, path, id, query = {}, body, headers: more }: ProbeRequest): Promise<Reply> {
    const { fetch = globalThis.fetch, requestTimeout = 30_000, baseUrl, token } = this.#options;
    const url = new URL(`${baseUrl}${path.replace('{id}', encodeURIComponent(String(id)))}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const signal = this.#signal;
    const [ended, timer] = [new AbortController(), new AbortController()];
    sleep(requestTimeout, ended.signal).then(
      () => timer.abort(),
      () => {},
    );
    try {
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(url.href, {
        method,
        headers: { accept: 'application/json', ...type, authorization: `Bearer ${token}`, ...more },
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timer.signal]) : timer.signal,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { status, headers } = response;
      const read = readBody(await readText(response));
      this.#readClock(headers);
      const reply = { status, headers, ...read, redirect: redirectOf(headers, url, baseUrl, id), at: this.now };
      if (envelopeOf(reply)) this.successes.push(headers);
      return reply;
    } catch {
      signal?.throwIfAborted();
      return { status: 0, headers: new Headers(), ...readBody(''), at: this.now };
    } finally {
      ended.abort();
    }
  }

  #readClock(headers: Headers): void {
    const date = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(date)) this.#ahead = date - this.#clock.now();
    this.#firstAhead ??= this.#ahead;
    const isFast = this.#ahead - this.#firstAhead > MAX_CLOCK_GAIN_MS;
    this.isClockForeign ||= isFast || headers.has('x-sandbox-time');
  }
}

/** Returns the path of a redirect below the base URL, with `{id}` for the id of the request. */
function redirectOf(headers: Headers, from: URL, baseUrl: string, id: Id | undefined): string | undefined {
  const location = headers.get('location');
  if (location === null || !URL.canParse(location, from)) return undefined;
  const { origin, pathname } = new URL(location, from);
  if (!`${origin}${pathname}`.startsWith(`${baseUrl}/`)) return undefined;
  const path = `${origin}${pathname}`.slice(baseUrl.length);
  return path
    .split('/')
    .map((segment) => (segment === String(id) ? '{id}' : segment))
    .join('/');
}

/** Reads a body, up to a size; of a larger one, the check judges nothing. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (bytes > MAX_BODY_BYTES) return '(too large)';
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
