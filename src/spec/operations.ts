import type { Bucket } from './limits.ts';

/**
 * When the client may send a request again:
 * - `idempotency-key`: after a transient error, with the same idempotency key;
 * - `always`: after a transient error, because repeating the request is safe;
 * - `never`: only if the service certainly did not act (a 429, a 401 after which the client has another token, or a
 * request that was not sent).
 */
export type RetryPolicy = 'idempotency-key' | 'always' | 'never';

/** HTTP methods of operations and of `client.request`. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Format of a successful response: the service's envelope, or JSON-RPC messages (MCP). */
export type Reads = 'envelope' | 'json-rpc';

/** An entry of the operation table. */
export interface Operation {
  /** HTTP method. Create, change and delete requests use POST. */
  readonly method: Method;
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: string;
  /** The rate bucket that counts the request. */
  readonly bucket: Bucket;
  /** When the client may send a failed request again. */
  readonly retry: RetryPolicy;
  /** True if the create request starts a worker job, which the build budget counts. */
  readonly startsJob: boolean;
  /** Kind of bearer token to send; `none` for the credential exchange. */
  readonly token: 'none' | 'general' | 'mcp';
  /** Format of the response. */
  readonly reads: Reads;
  /** True if the specification shows method and path; if not, they are assumed. */
  readonly documented: boolean;
}

type Row = Omit<Operation, 'method' | 'path'>;

/** Prefix of every path in the operation table. */
export const API = '/api/v2';
const assumed = { startsJob: false, token: 'general', reads: 'envelope', documented: false } as const;
const documented = { ...assumed, documented: true } as const;
const exchange = { ...documented, token: 'none' } as const;
const mcp = { ...documented, token: 'mcp', reads: 'json-rpc' } as const;

const read: Row = { ...assumed, bucket: 'read', retry: 'always' };
const documentedRead: Row = { ...read, ...documented };
const create: Row = { ...assumed, bucket: 'write', retry: 'idempotency-key' };
const createJob: Row = { ...create, startsJob: true };
const change: Row = { ...assumed, bucket: 'write', retry: 'never' };

const request = (method: Method, path: string, row: Row): Operation => ({ method, path: `${API}/${path}`, ...row });
const list = (resource: string): Operation => request('GET', `${resource}/index`, read);
const get = (resource: string): Operation => request('GET', `${resource}/{id}`, read);
const make = (resource: string, row: Row): Operation => request('POST', `${resource}/create`, row);
const remove = (resource: string): Operation => request('POST', `${resource}/{id}/delete`, change);
const auth = (path: string, row: Pick<Row, 'bucket' | 'retry'>): Operation =>
  request('POST', `auth/${path}`, { ...exchange, ...row });

/**
 * The operations that the client can call by name. The transport, the resources and `docs/assumptions.md` are based on
 * this table.
 */
export const operations = {
  // `npm run docs` generates the OpenAPI document from these comments. docs/contributing/adding-an-operation.md explains
  // their tags.
  /**
   * Issues a login token, and deletes the previous login token of the account.
   *
   * @body Credentials
   * @response IssuedToken
   * @example client.auth.login({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.login': auth('login', { bucket: 'login', retry: 'always' }),
  /**
   * Issues an API token that is valid for a year. Its name is `api`, and it has no scopes. If the account already has
   * 10 active API tokens, the service returns 422.
   *
   * @body Credentials
   * @response ExpiringToken
   * @example client.auth.createApiToken({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.createApiToken': auth('api-token', { bucket: 'mint', retry: 'never' }),
  /**
   * Revokes all active API tokens of the account. `revoked` is their number.
   *
   * @body Credentials
   * @response Revocation
   * @example client.auth.revokeApiTokens({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.revokeApiTokens': auth('api-token/revoke', { bucket: 'mint', retry: 'always' }),
  /**
   * Issues a token with the scope `mcp` that is valid for a year. If the account already has 10 active MCP tokens, the
   * service returns 422.
   *
   * @body Credentials
   * @response ExpiringToken
   * @example client.auth.createMcpToken({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.createMcpToken': auth('mcp-token', { bucket: 'mint', retry: 'never' }),
  /**
   * Revokes all active MCP tokens of the account. `revoked` is their number.
   *
   * @body Credentials
   * @response Revocation
   * @example client.auth.revokeMcpTokens({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.revokeMcpTokens': auth('mcp-token/revoke', { bucket: 'mint', retry: 'always' }),

  /**
   * Builds an audience from datasets. The job ends with status 104, 107 or 4xx. The service returns 422 for a filter
   * value or a `project_id` that does not exist, and for a `WebDomain` dataset that begins before the 45-day window.
   *
   * @body AudienceCreate
   * @response [Audience]
   * @example client.audiences.create({
   *   name: 'Visitors',
   *   project_id: await id('projects'),
   *   dataset: [{ analysis_type: 'WebDomain', start_date: '2026-10-23', end_date: '2026-11-21' }],
   * })
   */
  'audiences.create': make('audiences', createJob),
  /** Reads an audience or lookalike. @response [Audience] */
  'audiences.get': get('audiences'),
  /** Lists the account's audiences and lookalikes, at most 100 on a page (default: 25). @response Audience[] */
  'audiences.list': list('audiences'),
  /** Deletes an audience. */
  'audiences.delete': remove('audiences'),

  /**
   * Builds a lookalike from a seed: a completed audience with at least 1,000 devices. `config.target_size` is an integer
   * from 1 to 4,000,000. The result is an audience, and needs at least 1,000 devices to be activated.
   *
   * @body LookalikeCreate
   * @response [Audience]
   * @example client.lookalikes.create({
   *   name: 'Similar visitors',
   *   source_audience_id: await id('audiences'),
   *   config: { target_size: 50_000 },
   * })
   */
  'lookalikes.create': make('lookalikes', createJob),
  /**
   * Cancels a running lookalike, whose job then ends with status 400. A lookalike that is being published completes with
   * status 104 instead.
   *
   * @error 422
   */
  'lookalikes.cancel': request('POST', 'lookalikes/{id}/cancel', change),
  /** Reads a lookalike. @response [Audience] */
  'lookalikes.get': get('audiences'),

  /**
   * Estimates the size of an audience without building it.
   *
   * @body AudienceCreate
   * @response [Estimate]
   * @example client.estimates.create({
   *   name: 'How many?',
   *   dataset: [{ analysis_type: 'WebDomain', start_date: '2026-10-23', end_date: '2026-11-21' }],
   * })
   */
  'estimates.create': make('estimates', createJob),
  /** Reads an estimate. @response [Estimate] */
  'estimates.get': get('estimates'),

  /**
   * Delivers an audience to a partner. The job ends with status 104, 107 or 4xx. An audience needs at least 500 unique
   * devices, a lookalike 1,000. The service returns 422 for a smaller audience, for a body with `partner_id`,
   * `partner_name` or `pricing_model`, and for a MAID or IP pricing model if the audience has expired. It also returns
   * 422 if neither the body nor the connection has credentials.
   *
   * @body ActivationCreate
   * @response [Activation]
   * @example client.activations.create({
   *   audience_id: await id('audiences'),
   *   description: 'Delivery',
   *   credentials: { account: '<account of the partner>' },
   * })
   */
  'activations.create': make('activations', createJob),
  /** Reads an activation. @response [Activation] */
  'activations.get': get('activations'),
  /** Lists the account's activations, at most 100 on a page (default: 25). @response Activation[] */
  'activations.list': list('activations'),
  /** Deletes an activation. */
  'activations.delete': remove('activations'),

  /**
   * Imports a cohort from an uploaded file of at most 1 GiB. Claim the file's reference within 15 minutes of its
   * reservation, or send the file in the `file` field of a `multipart/form-data` body. The job ends at 4 Completed or 5 Not
   * Available.
   *
   * @body CohortCreate
   * @response [Cohort]
   * @example client.cohorts.create({
   *   name: 'Customers',
   *   upload_reference: (await client.uploads.upload({ kind: 'cohort', data: new Blob(['eid\n1\n2\n3\n']) })).reference,
   * })
   */
  'cohorts.create': make('cohorts', createJob),
  /** Reads a cohort. @response [Cohort] */
  'cohorts.get': get('cohorts'),
  /** Lists the account's cohorts, at most 100 on a page (default: 25). @response Cohort[] */
  'cohorts.list': list('cohorts'),
  /** Deletes a cohort. */
  'cohorts.delete': remove('cohorts'),

  /**
   * Creates a project, which organizes work.
   *
   * @body ProjectCreate
   * @response [Project]
   * @example client.projects.create({ name: 'Autumn' })
   */
  'projects.create': make('projects', create),
  /** Reads a project. @response [Project] */
  'projects.get': get('projects'),
  /** Lists the account's projects, at most 100 on a page (default: 25). @response Project[] */
  'projects.list': list('projects'),
  /** Deletes a project. */
  'projects.delete': remove('projects'),

  /**
   * Creates a schedule, which replays work. Its replays do not count against the build budget.
   *
   * @body ScheduleCreate
   * @response [Schedule]
   * @example client.schedules.create({ name: 'Every week', audience_id: await id('audiences'), interval_hours: 168 })
   */
  'schedules.create': make('schedules', create),
  /** Reads a schedule. @response [Schedule] */
  'schedules.get': get('schedules'),
  /** Lists the account's schedules, at most 100 on a page (default: 25). @response Schedule[] */
  'schedules.list': list('schedules'),
  /** Deletes a schedule. */
  'schedules.delete': remove('schedules'),

  /**
   * Reserves an upload of at most 1 GiB (`cohort`) or 50 MiB (`poi_submission`). Within 15 minutes, send the file to
   * the presigned URL with PUT, and claim its reference with a create request. The service deletes unclaimed uploads
   * after 24 hours, which does not extend the 15 minutes.
   *
   * @body UploadRequest
   * @response UploadReservation
   * @example client.uploads.reserve({ kind: 'cohort', size: 10 })
   */
  'uploads.reserve': make('uploads', { ...assumed, bucket: 'write', retry: 'always' }),

  /**
   * Lists the webhook endpoints of the organization, newest first. Only the console registers and changes endpoints,
   * and shows their signing secrets.
   *
   * @response WebhookEndpoint[]
   * @example client.webhooks.list()
   */
  'webhooks.list': request('GET', 'webhooks/index', documentedRead),
  /**
   * Reads the usage report of a month, from 2020-01 to the current month. `build_budget` contains the limits and the
   * current numbers of builds for the hour and the day, and `retry_after_seconds` if a limit is exhausted.
   *
   * @response Usage
   * @error 422
   * @example client.usage.get({ yearmonth: '2026-11' })
   */
  'usage.get': request('GET', 'usage', documentedRead),
  /**
   * Lists a reference table, one page at a time. A page has 500 rows by default and at most; a page of apps has 250
   * rows by default, without a maximum.
   *
   * @response object[]
   * @example client.reference.list('web', 'domains', { per_page: 2 })
   */
  'reference.list': request('GET', 'reference/{dataset}/{name}', read),
  /**
   * Sends a JSON-RPC 2.0 message, without the envelope, to the MCP (Model Context Protocol) endpoint. The requests that the
   * endpoint proxies to the API also count against the `read` and `write` buckets. The token needs the `mcp` scope.
   *
   * @body JsonRpcMessage
   * @example client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
   */
  'mcp.send': request('POST', 'mcp', { ...mcp, bucket: 'mcp', retry: 'never' }),
} as const satisfies Record<string, Operation>;

/** Name of an operation, `namespace.method`. */
export type OperationName = keyof typeof operations;

/** Namespaces that have the method `Method`. */
export type NamespaceWith<Method extends string, Name = OperationName> = Name extends `${infer Namespace}.${Method}`
  ? Namespace
  : never;

export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

/** A flat record of query parameters. The client does not send `undefined` and `null`. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

/** Value of a query parameter. */
export type QueryValue = string | number | boolean | null | undefined;

/** Values of a path's parameters. */
export type PathParams = Readonly<Record<string, string | number>>;

/**
 * Adapts one operation to a service that differs from the assumptions. `query` and `body` change what the client sends,
 * and `data` changes what it receives. `params` are the values of the path parameters.
 *
 * @example
 * { path: '/api/v2/audience/delete', body: (body, { id }) => ({ audience_id: id }) }
 */
export interface OperationOverride {
  /** HTTP method to use instead. */
  readonly method?: Method | undefined;
  /** Path below the base URL; `{name}` marks a parameter. Send other parameters with `query` or `body`. */
  readonly path?: string | undefined;
  /** Rate bucket in which the service counts the request. */
  readonly bucket?: Bucket | undefined;
  /**
   * When the client may send a failed request again, such as `never` for a create request without an idempotency key.
   */
  readonly retry?: RetryPolicy | undefined;
  /** Returns the query to send. Receives the query that the client would send. */
  readonly query?: ((query: Query, params: PathParams) => Query) | undefined;
  /** Returns the JSON body to send. Receives the body that the client would send, or `undefined`. */
  readonly body?: ((body: unknown, params: PathParams) => unknown) | undefined;
  /**
   * Path of the data in the envelope, such as `data.item`. Or a function that converts the `data` of the response to
   * the `data` that the client expects. It also receives the envelope, and may return a promise.
   */
  readonly data?: string | ((data: unknown, envelope: unknown) => unknown) | undefined;
}

/** An operation with the user's overrides applied. */
export interface ResolvedOperation extends Operation {
  /** Name of the operation, or method and path of a `client.request` call. */
  readonly name: string;
  /** The user's override, if there is one. */
  readonly override?: OperationOverride;
}
