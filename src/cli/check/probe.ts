import { DEFAULTS, readResponse } from '../../client/index.ts';
import { AudienceClient, type ClientOptions, ConflictError, type CreateOptions, RateLimitError } from '../../index.ts';
import { RATE_LIMITS } from '../../spec/limits.ts';
import type { Method } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { sleep } from '../../util/abort.ts';
import { isObject, parseJson } from '../../util/json.ts';
import { EXIT, type ExitCode } from '../terminal/exit-codes.ts';
import { fingerprint, type Reply } from './evidence.ts';

interface ProbeRequest extends Pick<CreateOptions, 'query' | 'idempotencyKey' | 'onConflict'> {
  readonly method: Method;
  /** Path below the base URL, with `{id}` for {@link ProbeRequest.id}. */
  readonly path: string;
  readonly id?: string;
  readonly body?: JsonObject;
}

/** Ends the check, which then reports its findings so far. */
export class Stop extends Error {
  readonly exitCode: ExitCode;
  constructor(reason: string, exitCode: ExitCode) {
    super(reason);
    this.exitCode = exitCode;
  }
}

/** Options of a {@link Probe}, and of its client. */
export interface ProbeOptions extends ClientOptions {
  readonly signal?: AbortSignal | undefined;
  /** Shows a step of the check, or the name of a project that the check may not have deleted. */
  onProgress?(kind: 'step' | 'left', text: string): void;
}

/** Maximum number of requests of a check. */
const MAX_REQUESTS = { read: 110, write: 20 } as const;
const MAX_RETRIES = 2;
/**
 * Interval of the rate limits in milliseconds, with a margin for requests that arrive closer together than the check
 * sent them.
 */
const INTERVAL_MS = 61_500;
/** Half of the service's rate limits. The rest is for other users of the token. */
const HALF_LIMITS = {
  read: { limit: RATE_LIMITS.read.limit / 2, interval: INTERVAL_MS },
  write: { limit: RATE_LIMITS.write.limit / 2, interval: INTERVAL_MS },
} as const;
/** Milliseconds for deleting the created resources after an interruption. */
const CLEANUP_MS = 5_000;
/** Milliseconds that the clock of the service may gain during a check. */
const MAX_CLOCK_GAIN_MS = 10_000;

const NO_REPLY: Omit<Reply, 'at'> = { status: 0, headers: new Headers(), body: undefined, envelope: undefined };

/** Sends the requests of a check with the client, at half of the rate limits and at most {@link MAX_REQUESTS}. */
export class Probe {
  readonly #client: AudienceClient;
  readonly #options: ProbeOptions;
  #signal: AbortSignal | undefined;
  /** Response to the current request. */
  #reply = NO_REPLY;
  /**
   * Milliseconds by which the service's clock is ahead of this machine's clock, from the last response and from the
   * first response.
   */
  #ahead = 0;
  #firstAhead: number | undefined;
  /**
   * True if the service's clock is not real: a sandbox reports this in a header, or the `Date` header advances too
   * fast.
   */
  isClockForeign = false;
  /** Number of requests so far. */
  readonly sent = { read: 0, write: 0 };
  /** Headers of the successful responses so far. */
  readonly successes: Headers[] = [];
  /** Response to a path that certainly does not exist. */
  unknown: Reply | undefined;
  /** Path of a documented read that shows whether the service still responds. */
  trial: string | undefined;

  constructor(options: ProbeOptions) {
    const { signal, onProgress, fetch = globalThis.fetch, ...clientOptions } = options;
    this.#options = options;
    this.#signal = signal;
    this.#client = new AudienceClient({
      ...clientOptions,
      rateLimits: HALF_LIMITS,
      maxRetries: MAX_RETRIES,
      fetch: async (input, init) => {
        this.sent[init?.method === 'GET' ? 'read' : 'write']++;
        const response = await fetch(input, init);
        this.#reply = await this.#read(response.clone());
        return response;
      },
    });
  }

  /** Time of the service's clock, or the time of this machine if the service's time is unknown. */
  get now(): number {
    return Date.now() + this.#ahead;
  }

  report(kind: 'step' | 'left', text: string): void {
    this.#options.onProgress?.(kind, text);
  }

  pause(ms: number): Promise<void> {
    return sleep(ms, this.#signal);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Permits requests for {@link CLEANUP_MS} after an interruption, to delete the created resources. */
  endSoon(): void {
    if (this.#signal?.aborted) this.#signal = AbortSignal.timeout(CLEANUP_MS);
  }

  /** Returns whether a response looks like the response to a path that does not exist. */
  isLikeUnknown(reply: Reply): boolean {
    return this.unknown !== undefined && fingerprint(reply) === fingerprint(this.unknown);
  }

  /**
   * Repeats a documented read before a refusal counts as a difference.
   *
   * @throws {Stop} if the service refuses the read.
   */
  async assertResponsive(): Promise<void> {
    const reply = this.trial && (await this.get(this.trial));
    if (!reply || reply.status === 0 || reply.status >= 500 || reply.envelope) return;
    const reason = 'The service blocks the check: it refuses a documented read that succeeded before.';
    throw new Stop(reason, EXIT.cutShort);
  }

  get(path: string, more: Pick<ProbeRequest, 'id' | 'query'> = {}): Promise<Reply> {
    return this.send({ method: 'GET', path, ...more });
  }

  /**
   * Sends a request with the client's retries.
   *
   * @throws {Stop} if a limit is reached, or the service asks for a long pause.
   */
  async send({ method, path, id, ...more }: ProbeRequest): Promise<Reply> {
    const bucket = method === 'GET' ? 'read' : 'write';
    const limit = MAX_REQUESTS[bucket];
    if (this.sent[bucket] + MAX_RETRIES >= limit)
      throw new Stop(
        `The next request could exceed the limit of ${limit} ${bucket} requests per check.`,
        EXIT.cutShort,
      );
    this.#reply = NO_REPLY;
    const options = { ...more, ...(id !== undefined && { params: { id } }), signal: this.#signal };
    await this.#client.request(method, path, options).catch((error: unknown) => {
      this.#signal?.throwIfAborted();
      if (ConflictError.isInstance(error)) this.#reply = { ...this.#reply, outcome: error.outcome };
      if (RateLimitError.isInstance(error)) throw new Stop('The service returned 429 (rate limit).', EXIT.limited);
    });
    return { ...this.#reply, at: this.now };
  }

  async #read(response: Response): Promise<typeof NO_REPLY> {
    const { status, headers, text, isTruncated } = await readResponse(response, DEFAULTS.maxResponseBytes);
    const date = Date.parse(headers.get('date') ?? '');
    if (!Number.isNaN(date)) this.#ahead = date - Date.now();
    this.#firstAhead ??= this.#ahead;
    this.isClockForeign ||= this.#ahead - this.#firstAhead > MAX_CLOCK_GAIN_MS || headers.has('x-sandbox-time');
    const body = isTruncated ? undefined : parseJson(text);
    const isSuccess = status >= 200 && status < 300 && isObject(body) && body.status === 'success';
    if (isSuccess) this.successes.push(headers);
    return { status, headers, body, envelope: isSuccess ? body : undefined };
  }
}
