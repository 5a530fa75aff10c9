import { readResponse } from '../../client/index.ts';
import { RATE_LIMITS } from '../../spec/limits.ts';
import type { Method } from '../../spec/operations.ts';
import { sleep } from '../../util/abort.ts';
import { isObject, parseJson } from '../../util/json.ts';
import { parseRetryAfter } from '../../util/retry-after.ts';
import { EXIT, type ExitCode } from '../terminal/exit-codes.ts';
import { fingerprint, type Reply } from './evidence.ts';

/** A request of the check. */
export interface ProbeRequest {
  readonly method: Method;
  /** Path below the base URL, with `{id}` for {@link ProbeRequest.id}. */
  readonly path: string;
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends the check; what it has learned so far is reported. */
export class Stop extends Error {
  readonly exitCode: ExitCode;
  constructor(reason: string, exitCode: ExitCode) {
    super(reason);
    this.exitCode = exitCode;
  }
}

/** Options of a {@link Probe}. */
export interface ProbeOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly fetch?: typeof fetch | undefined;
  /** Time source; tests pass a virtual one. @default the clock of this machine */
  readonly clock?: { now(): number; sleep(ms: number, signal?: AbortSignal): Promise<void> } | undefined;
  /** Milliseconds to wait for a response. @default 30_000 */
  readonly requestTimeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Shows a step, a request without ids and values, a pause, or the name of a project that may remain. */
  onProgress?(kind: 'step' | 'request' | 'pause' | 'left', text: string): void;
}

/** Maximum number of requests of a check. */
const MAX_REQUESTS = { read: 110, write: 20 } as const;
/** Half of the limits of the service, so that other users of the token keep the rest. */
const HALF_LIMITS = { read: RATE_LIMITS.read.limit / 2, write: RATE_LIMITS.write.limit / 2 } as const;
/** Interval of the limits, with a margin for requests that arrive closer together than they were sent. */
const INTERVAL_MS = 61_500;
/** Longest `Retry-After` to wait for. */
const MAX_PAUSE_MS = 120_000;
/** Pause after a 429 without `Retry-After`. */
const DEFAULT_PAUSE_MS = 60_000;
/** Maximum number of bytes to read of a body, as in the client. The check ignores larger bodies. */
const MAX_BODY_BYTES = 16 * 2 ** 20;
/** Pause before a read without a usable response is repeated. */
const REPEAT_PAUSE_MS = 2_000;
/** Time to delete what was created after the check was interrupted. */
const CLEANUP_MS = 5_000;
/** Milliseconds by which the clock of a service may run ahead during a check. */
const MAX_CLOCK_GAIN_MS = 10_000;

/** Sends the requests of a check: at half of the rate limits, and within a hard limit. */
export class Probe {
  readonly #options: ProbeOptions;
  readonly #clock: NonNullable<ProbeOptions['clock']>;
  readonly #sentAt = { read: [] as number[], write: [] as number[] };
  #signal: AbortSignal | undefined;
  /** Milliseconds by which the clock of the service is ahead, by the last response and by the first one. */
  #ahead = 0;
  #firstAhead: number | undefined;
  /** True if timestamps do not come from a real clock: a sandbox says so in a header, or the `Date` is too fast. */
  isClockForeign = false;
  /** Headers of the successful responses so far. */
  readonly successes: Headers[] = [];
  /** Response to a path that certainly does not exist. */
  unknown: Reply | undefined;
  /** Path of a documented read that shows whether the service still responds. */
  trial: string | undefined;

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

  readonly report: NonNullable<ProbeOptions['onProgress']> = (kind, text) => this.#options.onProgress?.(kind, text);

  pause(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#signal);
  }

  /** Permits requests for a few seconds after an interruption, to delete what was created. */
  endSoon(): void {
    if (this.#signal?.aborted) this.#signal = AbortSignal.timeout(CLEANUP_MS);
  }

  /** Returns whether a response looks like the response to a path that does not exist. */
  isLikeUnknown(reply: Reply): boolean {
    return this.unknown !== undefined && fingerprint(reply) === fingerprint(this.unknown);
  }

  /**
   * Repeats a documented read, before a refusal counts as a difference.
   *
   * @throws {Stop} if it is refused now.
   */
  async assertResponsive(): Promise<void> {
    const reply = this.trial && (await this.get(this.trial));
    if (!reply || reply.status === 0 || reply.status >= 500 || reply.envelope) return;
    const reason = 'The service blocks the check: it now refuses a documented read that succeeded before.';
    throw new Stop(reason, EXIT.cutShort);
  }

  get(path: string, more: Pick<ProbeRequest, 'id' | 'query'> = {}): Promise<Reply> {
    return this.send({ method: 'GET', path, ...more });
  }

  /**
   * Sends a request when the limits permit it, again after a 429, and a read once more if it fails. A status of 0 means
   * that there was no response.
   *
   * @throws {Stop} if a limit is reached, or the service asks for a long pause.
   */
  async send(request: ProbeRequest, isRepeat = false): Promise<Reply> {
    await this.#permit(request);
    const reply = await this.#fetch(request);
    const { status } = reply;
    if (status === 429) {
      const ms = parseRetryAfter(reply.headers, this.#clock.now()) ?? DEFAULT_PAUSE_MS;
      if (ms > MAX_PAUSE_MS)
        throw new Stop('The service limits the rate for longer than two minutes (429).', EXIT.limited);
      this.report('pause', `The service limits the rate: pausing for ${ms / 1_000} s.`);
      await this.pause(ms);
      return this.send(request, isRepeat);
    }
    if (isRepeat || request.method !== 'GET' || (status !== 0 && status < 500)) return reply;
    await this.pause(REPEAT_PAUSE_MS);
    return this.send(request, true);
  }

  /** Waits until the pace permits the request, and counts it. */
  async #permit({ method, path }: ProbeRequest): Promise<void> {
    const bucket = method === 'GET' ? 'read' : 'write';
    const times = this.#sentAt[bucket];
    const limit = MAX_REQUESTS[bucket];
    if (times.length >= limit) throw new Stop(`The check has used its ${limit} ${bucket} requests.`, EXIT.cutShort);
    this.#signal?.throwIfAborted();
    const wait = (times.at(-HALF_LIMITS[bucket]) ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - this.#clock.now();
    if (wait > 0) await this.pause(wait);
    times.push(this.#clock.now());
    this.report('request', `  ${method} ${path}`);
  }

  async #fetch({ method, path, id = '', query = {}, body, headers: more }: ProbeRequest): Promise<Reply> {
    const { fetch = globalThis.fetch, requestTimeout = 30_000, baseUrl, token } = this.#options;
    const url = new URL(`${baseUrl}${path.replace('{id}', encodeURIComponent(id))}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    try {
      const response = await fetch(url.href, {
        method,
        headers: { accept: 'application/json', ...type, authorization: `Bearer ${token}`, ...more },
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(requestTimeout), ...(this.#signal ? [this.#signal] : [])]),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const { status, headers, text, isTruncated } = await readResponse(response, MAX_BODY_BYTES);
      const date = Date.parse(headers.get('date') ?? '');
      if (!Number.isNaN(date)) this.#ahead = date - this.#clock.now();
      this.#firstAhead ??= this.#ahead;
      this.isClockForeign ||= this.#ahead - this.#firstAhead > MAX_CLOCK_GAIN_MS || headers.has('x-sandbox-time');
      const json = isTruncated ? undefined : parseJson(text);
      const isSuccess = status >= 200 && status < 300 && isObject(json) && json.status === 'success';
      if (isSuccess) this.successes.push(headers);
      return { status, headers, body: json, envelope: isSuccess ? json : undefined, at: this.now };
    } catch {
      this.#signal?.throwIfAborted();
      return { status: 0, headers: new Headers(), body: undefined, envelope: undefined, at: this.now };
    }
  }
}
