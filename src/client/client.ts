import type { ApiPromise } from '../http/api-promise.ts';
import { type ClientState, createClientState } from '../http/client-state.ts';
import type { CreateOptions } from '../http/request-options.ts';
import { createTransport, type Transport } from '../http/transport.ts';
import { WaitRoom } from '../polling/room.ts';
import { createLimiter, gatekeeperOf } from '../rate-limit/rate-limiter.ts';
import { Activations } from '../resources/activations.ts';
import { Audiences, audienceJobs } from '../resources/audiences.ts';
import { Auth } from '../resources/auth.ts';
import { Cohorts } from '../resources/cohorts.ts';
import { Estimates } from '../resources/estimates.ts';
import { Lookalikes } from '../resources/lookalikes.ts';
import { Mcp } from '../resources/mcp.ts';
import { Projects } from '../resources/projects.ts';
import { Reference } from '../resources/reference.ts';
import { Schedules } from '../resources/schedules.ts';
import { Uploads } from '../resources/uploads.ts';
import { readUsage, UsageReports } from '../resources/usage.ts';
import { Waits } from '../resources/waits.ts';
import { Webhooks } from '../resources/webhooks.ts';
import { checking } from '../schemas/decode.ts';
import { decodeWith, type StandardSchema } from '../schemas/standard-schema.ts';
import type { Bucket } from '../spec/limits.ts';
import { type Method, operations, type PathParams, type Query, type ResolvedOperation } from '../spec/operations.ts';
import { Reservations } from '../storage/reservations.ts';
import type { QueryOf } from '../util/input-types.ts';
import { parseTimestamp } from '../util/timestamp.ts';
import { type ClientOptions, resolveOptions, type TunableOptions } from './client-options.ts';
import { setUpTokens } from './client-tokens.ts';
import { mergeOverrides } from './operation-overrides.ts';
import { checkOptionNames, checkTunable } from './option-names.ts';
import { contextOf } from './standalone.ts';

/** Options of {@link AudienceClient.request}. */
export interface FreeRequestOptions<T = unknown, Q = Query> extends CreateOptions {
  /** Values for `{name}` in the path. */
  readonly params?: PathParams | undefined;
  readonly query?: Q | undefined;
  /** A JSON value or a `FormData`. */
  readonly body?: unknown | undefined;
  /** Checks `data` by any Standard Schema, such as one of zod. */
  readonly schema?: StandardSchema<T> | undefined;
  /** @default 'read' for GET, else 'write' */
  readonly bucket?: Bucket | undefined;
}

/** The read that tells a spent budget from a rate limit; without an answer soon, it is a rate limit. */
const BUDGET_READ = { priority: 'background', maxRetries: 0, deadline: 10_000 } as const;

/** What clients derived from one another share. */
interface Shared {
  readonly state: ClientState;
  readonly room: WaitRoom;
  readonly reservations: Reservations;
}

/** Options of clients made by `withOptions`, with what they share. */
const derivations = new WeakMap<ClientOptions, Shared>();

/**
 * The client of the service: one for each account and process.
 *
 * @example
 * const client = new AudienceClient({ baseUrl: 'https://api.example.com', token: apiToken(credentials, { store }) });
 * const audience = await client.audiences.createAndWait({ name: 'Visitors', dataset });
 */
export class AudienceClient {
  /** The credential exchange. */
  readonly auth: Auth;
  /** Audiences and their builds. */
  readonly audiences: Audiences;
  /** Audiences grown from a seed. */
  readonly lookalikes: Lookalikes;
  /** Estimates of an audience's size. */
  readonly estimates: Estimates;
  /** Deliveries of audiences to partners. */
  readonly activations: Activations;
  /** Cohorts imported from files. */
  readonly cohorts: Cohorts;
  readonly projects: Projects;
  readonly schedules: Schedules;
  /** Look-up tables. */
  readonly reference: Reference;
  /** Files on their way in, to be claimed by a create. */
  readonly uploads: Uploads;
  /** Usage reports and the build budget. */
  readonly usage: UsageReports;
  /** The endpoint of the Model Context Protocol. */
  readonly mcp: Mcp;
  /** Webhook endpoints. */
  readonly webhooks: Webhooks;
  /** All waits under way. */
  readonly waits: Waits;
  readonly #transport: Transport;
  readonly #state: ClientState;
  readonly #room: WaitRoom;
  readonly #reservations: Reservations;
  readonly #options: ClientOptions;

  /** @throws {ConfigurationError} naming the option and the fix. */
  constructor(options: ClientOptions = {}) {
    checkOptionNames(options);
    const shared = derivations.get(options);
    const { settings, redactor, limits } = resolveOptions(options, shared?.state.redactor);
    this.#options = options;
    if (shared) {
      this.#state = shared.state;
      this.#transport = createTransport(shared.state, settings);
    } else {
      const setup = setUpTokens(options, redactor);
      const limiter = options.limiter ? gatekeeperOf(options.limiter) : createLimiter(limits);
      const budget = (): Promise<unknown> => readUsage(this.#transport, {}, BUDGET_READ, (usage) => usage);
      this.#state = createClientState({
        limiter,
        redactor,
        tokens: setup.tokens,
        answers: checking,
        readUsage: budget,
        retryBudget: options.retryBudget,
      });
      this.#transport = createTransport(this.#state, settings);
      setup.bind(contextOf(this.#transport, this.#state));
    }
    this.#room = shared?.room ?? new WaitRoom(this.#state, settings.rateLimits.read, options.waits?.via);
    this.#reservations = shared?.reservations ?? new Reservations();
    const warn = (message: string): void => settings.logger.warn(message);
    const waits = { state: this.#state, room: this.#room, warn };
    const ofAudiences = audienceJobs(this.#transport);
    this.auth = new Auth(this.#transport);
    this.audiences = new Audiences(this.#transport, waits, ofAudiences);
    this.lookalikes = new Lookalikes(this.#transport, waits, ofAudiences);
    this.estimates = new Estimates(this.#transport, waits);
    const storage = { state: this.#state, settings };
    this.uploads = new Uploads(this.#transport, storage, this.#reservations);
    this.activations = new Activations(this.#transport, waits, storage);
    this.cohorts = new Cohorts(this.#transport, waits, this.uploads, this.#reservations);
    this.projects = new Projects(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.reference = new Reference(this.#transport);
    this.usage = new UsageReports(this.#transport);
    this.mcp = new Mcp(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    this.waits = new Waits(this.#room, this);
  }

  /**
   * Calls any path of the service, with all the rules of the other methods. A POST is repeated
   * after a doubtful failure only when an `idempotencyKey` is given.
   *
   * @typeParam T Type of the payload: that of `schema`. Without a schema it is not checked, and `unknown` by default.
   * @example
   * const data = await client.request('GET', '/api/v2/anything/{id}', { params: { id: 7 } });
   * const { size } = await client.request<{ size: number }>('GET', '/api/v2/anything'); // not checked
   */
  request<T = unknown, Q extends QueryOf<Q> = object>(
    method: Method,
    path: string,
    options?: FreeRequestOptions<T, Q>,
  ): ApiPromise<T>;
  request(method: Method, path: string, options: FreeRequestOptions = {}): ApiPromise<unknown> {
    const { params, query, body, schema, bucket, ...call } = options;
    const reads = method === 'GET';
    const known = Object.values(operations).find((row) => row.method === method && row.path === path);
    const operation: ResolvedOperation = {
      name: `${method} ${path}`,
      method,
      path,
      bucket: bucket ?? known?.bucket ?? (reads ? 'read' : 'write'),
      retry: reads ? 'always' : call.idempotencyKey === undefined ? 'never' : 'idempotency-key',
      startsJob: known?.startsJob ?? false,
      token: known?.token === 'mcp' ? 'mcp' : 'general',
      reads: known?.reads ?? 'envelope',
      documented: false,
    };
    return this.#transport.call<unknown>(operation, {
      ...(params && { params }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      invalid: () =>
        String(path).startsWith('/')
          ? this.#reservations.claimErrors(body)
          : { path: ['must start with "/", below `baseUrl`.'] },
      options: call,
      decode: schema ? decodeWith(schema) : (data) => data,
    });
  }

  /** The moment of a resource's timestamp, in the client's `serverTimeZone`; `undefined` for another text. */
  parseTimestamp(text: string): Date | undefined {
    return parseTimestamp(text, this.#transport.settings.serverTimeZone);
  }

  /** A client with the same tokens, limits and waits, and other options. */
  withOptions(options: TunableOptions): AudienceClient {
    checkTunable(options);
    const given = Object.entries(options).filter(([, value]) => value !== undefined);
    const operations = mergeOverrides(this.#options.operations, options.operations);
    const merged: ClientOptions = { ...this.#options, ...Object.fromEntries(given), operations };
    return derive(merged, { state: this.#state, room: this.#room, reservations: this.#reservations });
  }

  /** Ends every call and wait under way, of clients made by `withOptions`, too; later calls are refused. */
  close(): Promise<void> {
    this.#state.close();
    return Promise.resolve();
  }

  /** The same as {@link AudienceClient.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A client that shares with another. Outside the class, which bundlers would rename if it named itself. */
function derive(options: ClientOptions, shared: Shared): AudienceClient {
  derivations.set(options, shared);
  return new AudienceClient(options);
}
