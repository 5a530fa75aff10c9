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
  /** Path below the base URL, with `{id}` for {@link ProbeRequest.id}; or an absolute URL outside the API. */
  readonly path: string;
  readonly id?: Id;
  readonly query?: Readonly<Record<string, string | number>>;
  /** JSON, or a `Blob` without a type for storage. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why it is sent, for the progress. */
  readonly why: string;
  /** True for the requests that remove what the check has created, for which a part of the limit is kept. */
  readonly isCleanup?: boolean;
}

/** Progress of a check. A request is shown without ids and values. */
export type CheckEvent =
  | { readonly type: 'step'; readonly text: string }
  | ({ readonly type: 'request' } & Pick<ProbeRequest, 'method' | 'path' | 'why'>)
  | { readonly type: 'pause'; readonly ms: number };

/** Ends the check; what it has learned so far is reported. */
export class Stop extends Error {
  override readonly name = 'Stop';
  readonly exitCode: number;
  constructor(reason: string, exitCode: number) {
    super(reason);
    this.exitCode = exitCode;
  }
}

/** Exit codes of a check that ends early. */
export const STOPPED = { unexpected: 1, authentication: 7, limited: 9, cutShort: 12 } as const;

/** Hard limits of a check: requests in all. */
export interface RequestLimits {
  readonly read: number;
  readonly write: number;
}

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

const REAL_CLOCK: Clock = { now: () => Date.now(), sleep: (ms, signal) => sleep(ms, signal) };
const REQUEST_TIMEOUT_MS = 30_000;
/** Interval of the limits in milliseconds, with a margin for requests that arrive closer together than they were sent. */
const INTERVAL_MS = 61_500;
/** Half of the limits of the service, so that other users of the token keep the rest. */
const HALF_LIMITS = { read: RATE_LIMITS.read.limit / 2, write: RATE_LIMITS.write.limit / 2 } as const;
/** Longest `Retry-After` to wait for. */
const MAX_PAUSE_MS = 120_000;
/** Pause after a 429 without a `Retry-After`. */
const DEFAULT_PAUSE_MS = 60_000;
/** 429s in the entire check after which it ends. */
const MAX_THROTTLES = 5;
/** Statuses that count as refusals of a path. */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 405, 410];
/** Bytes of a body that are read at most, as the client does by default; of a larger one, nothing is judged. */
const MAX_BODY_BYTES = 16 * 2 ** 20;
/** Time to delete what was created after the check was interrupted. */
const CLEANUP_MS = 5_000;
/** Pause before a read without a usable response is repeated. */
const REPEAT_PAUSE_MS = 2_000;
/** Requests of the write limit that only cleaning up may use. */
const CLEANUP_RESERVE = 10;
/** Refusals after which a documented read is repeated. */
const REFUSALS_BEFORE_TRIAL = 8;

/** Segments that name a write. A GET is never sent to such a path: a service that also acts on GET would act. */
const WRITE_WORD =
  /^(?:create|store|add|new|insert|save|submit|delete|destroy|remove|drop|trash|purge|cancel|stop|abort|revoke|update|edit|replace|activate|deactivate|run|start|claim|reset|logout|login|export|import|send|publish|refresh|sync|clone|copy|duplicate|retry|rebuild|trigger|execute|archive|restore)$/i;

/** Returns whether a path is certainly, or by its words, that of a write. */
export const isWritePath = (path: string): boolean =>
  path.split(/[/?_.-]|(?<=[a-z])(?=[A-Z])/).some((word) => WRITE_WORD.test(word));

/** Sends the requests of a check: at half of the rate limits, within hard limits, and never a write with a foreign id. */
export class Probe {
  readonly #options: ProbeOptions;
  readonly #limits: RequestLimits;
  readonly #clock: Clock;
  readonly #sentAt = { read: [] as number[], write: [] as number[] };
  readonly #own = new Set<string>();
  #signal: AbortSignal | undefined;
  /** True once the check was interrupted, and only cleans up. */
  #isEnding = false;
  #throttles = 0;
  /** Milliseconds by which the clock of the service is ahead. */
  #ahead = 0;
  #refusals = 0;
  /** Headers of the successful responses of the API so far. */
  readonly successes: Headers[] = [];
  /** Response to a path that certainly does not exist. */
  unknown: Reply | undefined;
  /** Documented read that shows whether the service still responds. */
  trial: ProbeRequest | undefined;

  constructor(options: ProbeOptions, limits: RequestLimits) {
    this.#options = options;
    this.#signal = options.signal;
    this.#limits = limits;
    this.#clock = options.clock ?? REAL_CLOCK;
  }

  /** Number of requests so far. */
  get sent(): RequestLimits {
    return { read: this.#sentAt.read.length, write: this.#sentAt.write.length };
  }

  /** Time of the service's clock, as far as it is known; else that of this machine. */
  get now(): number {
    return this.#clock.now() + this.#ahead;
  }

  /** Waits on the clock of the check. */
  pause(ms: number): Promise<void> {
    return this.#clock.sleep(ms, this.#signal);
  }

  /** Permits an id in writes: that of something that this check has certainly created. */
  own(id: Id): void {
    this.#own.add(String(id));
  }

  /** Permits requests for a few seconds after an interruption, to delete what was created. */
  endSoon(): void {
    this.#isEnding = true;
    this.#signal = AbortSignal.timeout(CLEANUP_MS);
  }

  /**
   * Sends a request. Waits until half of the limits permit it, and after a 429; repeats a read once that has no usable
   * response. A status of 0 means that there was no response.
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
    // After many refusals, and after one unlike those of unknown paths, all may be refused now.
    const isDenied = request.path.startsWith('/') && (status === 401 || status === 403);
    const isMany = ++this.#refusals % REFUSALS_BEFORE_TRIAL === 0;
    if (isMany || (isDenied && !this.isLikeUnknown(reply))) await this.assertResponsive();
    return reply;
  }

  /**
   * Repeats a documented read, before a refusal counts as a difference.
   *
   * @throws {Stop} if it is refused now.
   */
  async assertResponsive(): Promise<void> {
    if (!this.trial || this.#isEnding) return;
    const trial = await this.#attempt(this.trial);
    if (trial.status === 0 || trial.status >= 500 || envelopeOf(trial)) return;
    const reason = 'The service blocks the check: it now refuses a documented read that succeeded before.';
    throw new Stop(reason, STOPPED.cutShort);
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
  async #permit({ method, path, id, isCleanup, why }: ProbeRequest): Promise<void> {
    const bucket = method === 'GET' ? 'read' : 'write';
    if (method === 'GET' && path.startsWith('/') && isWritePath(path))
      throw new Error(`GET ${path} is the path of a write.`);
    if (path.includes('{id}') && id === undefined) throw new Error(`${method} ${path} has no id.`);
    if (method !== 'GET' && id !== undefined && !this.#own.has(String(id)))
      throw new Error(`${method} ${path} has a foreign id.`);
    const limit = bucket === 'write' && !isCleanup ? this.#limits.write - CLEANUP_RESERVE : this.#limits[bucket];
    const times = this.#sentAt[bucket];
    if (times.length >= limit) throw new Stop(`The check has used its ${limit} ${bucket} requests.`, STOPPED.cutShort);
    this.#signal?.throwIfAborted();
    const oldest = times.at(-HALF_LIMITS[bucket]);
    const wait = oldest === undefined ? 0 : oldest + INTERVAL_MS - this.#clock.now();
    if (wait > 0 && !this.#isEnding) await this.pause(wait);
    times.push(this.#clock.now());
    // A presigned URL is a secret.
    const shown = path.startsWith('/') ? path : '<URL of storage>';
    this.#options.onProgress?.({ type: 'request', method, path: shown, why });
  }

  async #fetch(request: ProbeRequest): Promise<Reply> {
    const { fetch = globalThis.fetch, requestTimeout = REQUEST_TIMEOUT_MS } = this.#options;
    const { method, body } = request;
    const signal = this.#signal;
    const ended = new AbortController();
    const timer = new AbortController();
    if (requestTimeout < Number.POSITIVE_INFINITY)
      this.#clock.sleep(requestTimeout, ended.signal).then(
        () => timer.abort(),
        () => {},
      );
    try {
      const response = await fetch(this.#urlOf(request), {
        method,
        headers: this.#headersOf(request),
        redirect: 'manual',
        signal: signal ? AbortSignal.any([signal, timer.signal]) : timer.signal,
        ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
      });
      const { status, headers } = response;
      const text = await readText(response);
      const date = Date.parse(headers.get('date') ?? '');
      const redirect = this.#redirectOf(headers.get('location'), request);
      if (!Number.isNaN(date)) this.#ahead = date - this.#clock.now();
      const reply = { status, headers, ...readBody(text), redirect, at: this.now };
      if (envelopeOf(reply)) this.successes.push(headers);
      return reply;
    } catch {
      signal?.throwIfAborted();
      return { status: 0, headers: new Headers(), ...readBody(''), at: this.now };
    } finally {
      ended.abort();
    }
  }

  /** Returns the path of a redirect on the service's own origin, with `{id}` for the id of the request. */
  #redirectOf(location: string | null, request: ProbeRequest): string | undefined {
    const { baseUrl } = this.#options;
    const from = this.#urlOf(request);
    if (location === null || !URL.canParse(location, from)) return undefined;
    const { origin, pathname } = new URL(location, from);
    if (!`${origin}${pathname}`.startsWith(`${baseUrl}/`)) return undefined;
    const segments = pathname.slice(new URL(baseUrl).pathname.replace(/\/$/, '').length).split('/');
    return segments.map((segment) => (segment === String(request.id) ? '{id}' : segment)).join('/');
  }

  /** Returns whether a response is that of a path that does not exist. */
  isLikeUnknown(reply: Reply): boolean {
    return this.unknown !== undefined && fingerprint(reply) === fingerprint(this.unknown);
  }

  #urlOf({ path, id, query }: ProbeRequest): string {
    const { baseUrl } = this.#options;
    const url = new URL(
      path.startsWith('/') ? `${baseUrl}${path.replace('{id}', encodeURIComponent(String(id)))}` : path,
    );
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, String(value));
    return url.href;
  }

  #headersOf({ body, headers, path }: ProbeRequest): Record<string, string> {
    // Storage has signed a URL without further headers.
    if (!path.startsWith('/')) return { ...headers };
    return {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      authorization: `Bearer ${this.#options.token}`,
      ...headers,
    };
  }
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
