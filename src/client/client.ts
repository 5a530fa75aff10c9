import { type JobKind, type JobState, jobState, type StatusFields } from '../spec/job-status.ts';
import type { Bucket } from '../spec/limits.ts';
import type { Method, PathParams, ResolvedOperation } from '../spec/operations.ts';
import { bindMethods } from '../util/bind-methods.ts';
import { refuseOddQuery } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import { checkRuntime } from '../util/runtime.ts';
import { parseTimestamp } from '../util/timestamps.ts';
import {
  type ClientOptions,
  checkClientOptions,
  checkTunableOptions,
  resolveOptions,
  type TunableOptions,
} from './client-options.ts';
import { newTransport } from './client-tokens.ts';
import type { CreateOptions } from './http/request-options.ts';
import type { ApiPromise } from './http/transport.ts';
import { Transport } from './http/transport.ts';
import { mergeOverrides } from './operation-overrides.ts';
import { SharedPolls } from './polling/shared-polls.ts';
import { audienceJobs } from './resources/audiences.ts';
import {
  Activations,
  Audiences,
  Auth,
  Cohorts,
  Estimates,
  Lookalikes,
  Mcp,
  Projects,
  Reference,
  Schedules,
  Uploads,
  UsageReports,
  Waits,
  Webhooks,
} from './resources/namespaces.ts';
import { Reservations } from './resources/uploads.ts';
import { decodeWith, type StandardSchema } from './schemas/standard-schema.ts';

/** Options of {@link AudienceClient.request}. */
export interface FreeRequestOptions<T = unknown> extends Omit<CreateOptions, 'extraBody'> {
  /** Values of the path parameters, such as `{id}`, by name. */
  readonly params?: PathParams | undefined;
  /** A JSON value or a `FormData`. */
  readonly body?: unknown | undefined;
  /** Standard Schema, for example from zod, that checks and converts `data`. */
  readonly schema?: StandardSchema<T> | undefined;
  /**
   * Rate bucket that counts the request.
   *
   * @default the bucket of the operation with this method and path; without such an operation, 'read' for GET and
   * 'write' for other methods
   */
  readonly bucket?: Bucket | undefined;
}

/**
 * The client of the service. Create one client per account and process.
 *
 * @example
 * const client = new AudienceClient({ baseUrl: 'https://api.example.com', token: apiToken(credentials, { store }) });
 * const audience = await client.audiences.createAndWait({ name: 'Visitors', dataset });
 */
export class AudienceClient {
  /** Credential exchange: tokens for an email and a password. */
  readonly auth: Auth;
  /** Audiences and their builds. */
  readonly audiences: Audiences;
  /** Lookalikes: audiences similar to a seed audience. */
  readonly lookalikes: Lookalikes;
  /** Estimates of an audience's size. */
  readonly estimates: Estimates;
  /** Activations of audiences, and their results. */
  readonly activations: Activations;
  /** Cohorts imported from files. */
  readonly cohorts: Cohorts;
  /** Projects, which organize work. */
  readonly projects: Projects;
  /** Schedules. Their replays do not count against the build budget. */
  readonly schedules: Schedules;
  /** Reference tables. */
  readonly reference: Reference;
  /** Uploads of cohort files and of POI submissions. */
  readonly uploads: Uploads;
  /** Usage reports and the build budget. */
  readonly usage: UsageReports;
  /** The MCP (Model Context Protocol) endpoint of the service. */
  readonly mcp: Mcp;
  /** Webhook endpoints. */
  readonly webhooks: Webhooks;
  /** All waits of this client. Resumes a wait by the id of its job, and ends waits when a webhook event arrives. */
  readonly waits: Waits;
  /**
   * Calls {@link AudienceClient.close}, for `await using`. Not available in Safari, which has no `Symbol.asyncDispose`.
   */
  declare readonly [Symbol.asyncDispose]: () => Promise<void>;
  readonly #reservations: Reservations;
  readonly #options: ClientOptions;
  readonly #transport: Transport;
  readonly #polls: SharedPolls;

  /** @throws {ConfigurationError} for an invalid option. */
  constructor(options?: ClientOptions);
  /** @internal `base` is the client whose `withOptions` creates this client. */
  constructor(options?: ClientOptions, base?: AudienceClient);
  constructor(options: ClientOptions = {}, base?: AudienceClient) {
    this.#options = options;
    this.#transport = base ? deriveTransport(options, base.#transport) : checkedTransport(options);
    const polls = base ? base.#polls : createSharedPolls(options, this.#transport);
    this.#polls = polls;
    const jobs = audienceJobs(this.#transport, polls);
    this.auth = new Auth(this.#transport);
    this.audiences = new Audiences(this.#transport, polls, jobs);
    this.lookalikes = new Lookalikes(this.#transport, polls, jobs);
    this.estimates = new Estimates(this.#transport, polls);
    this.#reservations = base ? base.#reservations : new Reservations();
    this.uploads = new Uploads(this.#transport, this.#reservations);
    this.activations = new Activations(this.#transport, polls);
    this.cohorts = new Cohorts(this.#transport, polls, this.uploads, this.#reservations);
    this.projects = new Projects(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.reference = new Reference(this.#transport);
    this.usage = new UsageReports(this.#transport);
    this.mcp = new Mcp(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
    // Not a method of the class: without the symbol, its name would be "undefined".
    if (Symbol.asyncDispose) this[Symbol.asyncDispose] = () => this.close();
    this.waits = new Waits(polls, {
      audience: this.audiences,
      lookalike: this.lookalikes,
      estimate: this.estimates,
      activation: this.activations,
      cohort: this.cohorts,
    });
    for (const part of [this, ...Object.values(this)]) bindMethods(part);
  }

  /**
   * Calls any path of the service, with the same authorization, rate limits and errors as the other methods. After a
   * failure with unknown outcome, the client retries a request other than GET only if the request has an idempotency
   * key. Pass an `idempotencyKey`; for the path of a create operation, the client generates a key.
   *
   * @typeParam T Type of `data`, `unknown` by default. Only a `schema` checks that `data` has this type.
   * @example
   * const data = await client.request('GET', '/api/v2/anything/{id}', { params: { id: 7 } });
   * const { size } = await client.request<{ size: number }>('GET', '/api/v2/anything'); // not checked
   */
  request<T = unknown>(method: Method, path: string, options?: FreeRequestOptions<T>): ApiPromise<T>;
  request(method: Method, path: string, options?: FreeRequestOptions): ApiPromise<unknown> {
    const { params, query, body, schema, bucket, ...fields } = options ?? {};
    // If `options` is not an object, pass it on: the check of the options refuses it.
    const call = isObject(options) ? fields : options;
    const reads = method === 'GET';
    // Errors, logs and hooks show the path, so remove the query, which may contain a secret.
    const [shownPath = ''] = String(path).split(/[?#]/);
    const existing = Object.values(this.#transport.settings.operations).find(
      (row) => row.method === method && row.path === path,
    );
    const hasKey = call?.idempotencyKey !== undefined || existing?.retry === 'idempotency-key';
    const operation: ResolvedOperation = {
      name: `${method} ${shownPath}`,
      method,
      path: shownPath,
      bucket: bucket ?? existing?.bucket ?? (reads ? 'read' : 'write'),
      retry: reads ? 'always' : hasKey ? 'idempotency-key' : 'never',
      startsJob: existing?.startsJob ?? false,
      token: existing?.token === 'mcp' ? 'mcp' : 'general',
      reads: existing?.reads ?? 'envelope',
      documented: false,
    };
    return this.#transport.call<unknown>(operation, {
      ...(params && { params }),
      ...(query && { query }),
      ...(body !== undefined && { body }),
      validate: () => {
        if (query !== undefined) refuseOddQuery('query', query);
        if (shownPath !== String(path)) return { path: ['must not contain "?" or "#". Use `query` instead.'] };
        return shownPath.startsWith('/') ? this.#reservations.claimErrors(body) : { path: ['must start with "/".'] };
      },
      options: call,
      decode: schema ? decodeWith(schema) : (data) => data,
    });
  }

  /** Address of the service, normalized. */
  get baseUrl(): string {
    return this.#transport.settings.baseUrl;
  }

  /**
   * @internal Returns a secret that identifies the account: the email of its credentials or, without credentials, the
   * token.
   */
  async accountSecret(signal?: AbortSignal): Promise<string> {
    const { tokens, tokenContext } = this.#transport.state;
    const { account, value } = tokens.general;
    return account ?? value ?? (await tokens.general.get({ signal, context: tokenContext }));
  }

  /**
   * Returns the state of a job from the status of its resource, according to the `statuses` of the client's contract.
   *
   * @example
   * const audience = await client.audiences.get(42);
   * console.log(client.jobState('audience', audience)); // completed
   */
  jobState(kind: JobKind, resource: StatusFields): JobState {
    return jobState(kind, resource, this.#transport.settings.statuses);
  }

  /**
   * Parses a `Y-m-d H:i:s` timestamp in the time zone `serverTimeZone`. Returns `undefined` for another format, and for
   * a date that does not exist.
   */
  parseTimestamp(text: string): Date | undefined {
    return parseTimestamp(text, this.#transport.settings.serverTimeZone);
  }

  /** Returns a client with other options. It shares the tokens, the rate limits and the waits of this client. */
  withOptions(options: TunableOptions): AudienceClient {
    checkTunableOptions(options);
    const changes = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const operations = mergeOverrides(this.#options.operations, options.operations);
    return createDerived({ ...this.#options, ...changes, operations }, this);
  }

  /**
   * Ends every call, transfer and wait in progress, also of clients created with `withOptions`. Resolves
   * when all of them have ended. Later calls reject with an `AudienceError` with the code `client-closed`.
   */
  async close(): Promise<void> {
    await this.#transport.state.close();
  }
}

// Outside the class, because bundlers rename a class that refers to itself.
const createDerived = (options: ClientOptions, base: AudienceClient): AudienceClient =>
  new AudienceClient(options, base);

function deriveTransport(options: ClientOptions, { state }: Transport): Transport {
  return new Transport(state, resolveOptions(options, state.redactor));
}

function createSharedPolls({ waits = {}, contract }: ClientOptions, { settings }: Transport): SharedPolls {
  const { via = contract?.waits?.via } = waits;
  return new SharedPolls(settings.rateLimits.read, via);
}

function checkedTransport(options: ClientOptions): Transport {
  checkRuntime(options?.fetch);
  checkClientOptions(options);
  return newTransport(options);
}
