import type { Bucket } from './limits.ts';

/**
 * When a request of an operation may be sent again:
 * - `idempotency-key`: after any transient failure, under the create's idempotency key;
 * - `always`: after any transient failure, because it is idempotent;
 * - `never`: only if the service certainly did not act (a 429, or a request that was not sent).
 */
export type RetryPolicy = 'idempotency-key' | 'always' | 'never';

/** HTTP methods of operations and free requests. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Format of a success: the service's envelope, or JSON-RPC messages (MCP). */
export type Reads = 'envelope' | 'json-rpc';

/** One row of the operation table. */
export interface Operation {
  /** HTTP method; creates, changes and deletes are POST requests. */
  readonly method: Method;
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: string;
  /** The rate bucket that counts the request. */
  readonly bucket: Bucket;
  /** When a failed request may be sent again. */
  readonly retry: RetryPolicy;
  /** True if the create request starts a worker job, which the build budget counts. */
  readonly startsJob: boolean;
  /** The bearer token that is sent; `none` for the credential exchange. */
  readonly token: 'none' | 'general' | 'mcp';
  /** Format of the response. */
  readonly reads: Reads;
  /** True if the specification shows method and path; if not, they are assumed. */
  readonly documented: boolean;
}

type Row = Omit<Operation, 'method' | 'path'>;

/** Prefix of every path. */
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
 * Every operation of the service, what it does, and how it is called. The transport, the resources and
 * `docs/assumptions.md` are based on this table.
 */
export const operations = {
  // The OpenAPI document is written from the comments. Their tags name the schema of the body, the schema of `data`
  // (`[Audience]` is an array of one), and the statuses of further errors. The document shows the call of the example,
  // in which `id` returns the id of a resource. Without an example, the document shows a call with an id or for a list.
  /**
   * Issues a login token, and deletes the previous login token of the account.
   *
   * @body Credentials
   * @response IssuedToken
   * @example client.auth.login({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.login': auth('login', { bucket: 'login', retry: 'always' }),
  /**
   * Issues an API token, named `api` and without scopes, for a year. If 10 are active, it is refused with 422, whose
   * message states the limit and says to revoke existing tokens.
   *
   * @body Credentials
   * @response ExpiringToken
   * @example client.auth.createApiToken({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.createApiToken': auth('api-token', { bucket: 'mint', retry: 'never' }),
  /**
   * Revokes all active API tokens of the account.
   *
   * @body Credentials
   * @response Revocation
   * @example client.auth.revokeApiTokens({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.revokeApiTokens': auth('api-token/revoke', { bucket: 'mint', retry: 'always' }),
  /**
   * Issues an MCP token, of scope `mcp`, for a year. If 10 are active, it is refused with 422.
   *
   * @body Credentials
   * @response ExpiringToken
   * @example client.auth.createMcpToken({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.createMcpToken': auth('mcp-token', { bucket: 'mint', retry: 'never' }),
  /**
   * Revokes all active MCP tokens of the account.
   *
   * @body Credentials
   * @response Revocation
   * @example client.auth.revokeMcpTokens({ email: 'ada@example.com', password: 'secret' })
   */
  'auth.revokeMcpTokens': auth('mcp-token/revoke', { bucket: 'mint', retry: 'always' }),

  /**
   * Builds an audience from datasets. The job ends at 104, 107 or a 4xx status. A filter value or a `project_id` that does
   * not exist, and a `WebDomain` dataset that begins before the 45-day window, are refused with 422.
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
  /** Lists the account's audiences and lookalikes, one page at a time. @response Audience[] */
  'audiences.list': list('audiences'),
  /** Deletes an audience. */
  'audiences.delete': remove('audiences'),

  /**
   * Grows a lookalike from a completed audience, the seed, of at least 1,000 devices. The result is an audience, which is
   * read as one, and must have at least 1,000 devices to be activated.
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
   * Cancels a running lookalike, which ends at 400. One that is being published completes at 104 instead.
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
   * Delivers an audience to a partner. The job ends at 104, 107 or a 4xx status. It is refused with 422 if the audience
   * has fewer than 500 unique devices, a lookalike fewer than 1,000; if no credentials are available, neither in the body
   * nor stored on the connection; if the body contains `partner_id`, `partner_name` or `pricing_model`; and if the pricing
   * model is one for MAID or IP, and the audience has expired.
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
  /** Lists the account's activations, one page at a time. @response Activation[] */
  'activations.list': list('activations'),
  /** Deletes an activation. */
  'activations.delete': remove('activations'),

  /**
   * Imports a cohort from an uploaded file, by its reference. The file itself can be sent as `multipart/form-data`, in the
   * field `file`. The job ends at 4 Completed or 5 Not Available.
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
  /** Lists the account's cohorts, one page at a time. @response Cohort[] */
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
  /** Lists the account's projects, one page at a time. @response Project[] */
  'projects.list': list('projects'),
  /** Deletes a project. */
  'projects.delete': remove('projects'),

  /**
   * Creates a schedule, which replays work. Its replays do not count in the build budget.
   *
   * @body ScheduleCreate
   * @response [Schedule]
   * @example client.schedules.create({ name: 'Every week', audience_id: await id('audiences'), interval_hours: 168 })
   */
  'schedules.create': make('schedules', create),
  /** Reads a schedule. @response [Schedule] */
  'schedules.get': get('schedules'),
  /** Lists the account's schedules, one page at a time. @response Schedule[] */
  'schedules.list': list('schedules'),
  /** Deletes a schedule. */
  'schedules.delete': remove('schedules'),

  /**
   * Reserves an upload. Send the file to the presigned URL with PUT, and claim its reference with a create request,
   * both within 15 minutes. Unclaimed uploads are deleted after 24 hours, which does not extend these 15 minutes.
   *
   * @body UploadRequest
   * @response UploadReservation
   * @example client.uploads.reserve({ kind: 'cohort', size: 10 })
   */
  'uploads.reserve': make('uploads', { ...assumed, bucket: 'write', retry: 'always' }),

  /**
   * Reads the webhook endpoints of the organization, newest first. They are registered and managed in the console only,
   * which shows the signing secret once, at creation or rotation: no response of the API contains it.
   *
   * @response WebhookEndpoint[]
   * @example client.webhooks.list()
   */
  'webhooks.list': request('GET', 'webhooks/index', documentedRead),
  /**
   * Reads the usage report of a month. `build_budget` has the limits and live counts for hour and day, and
   * `retry_after_seconds` if one is exhausted.
   *
   * @response Usage
   * @error 422
   * @example client.usage.get({ yearmonth: '2026-11' })
   */
  'usage.get': request('GET', 'usage', documentedRead),
  /**
   * Lists a reference table, one page at a time.
   *
   * @response object[]
   * @example client.reference.list('web', 'domains', { per_page: 2 })
   */
  'reference.list': request('GET', 'reference/{dataset}/{name}', read),
  /**
   * Sends a message of JSON-RPC 2.0 to the endpoint of the Model Context Protocol, without the envelope. It proxies
   * requests to the API, which count in the buckets `read` and `write`, too. The token needs the `mcp` scope.
   *
   * @body JsonRpcMessage
   * @example client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' })
   */
  'mcp.send': request('POST', 'mcp', { ...mcp, bucket: 'mcp', retry: 'never' }),
} as const satisfies Record<string, Operation>;

/** Name of a row of the operation table, `namespace.method`. */
export type OperationName = keyof typeof operations;

/** Namespaces with a method. */
export type NamespaceWith<Method extends string, Name = OperationName> = Name extends `${infer Namespace}.${Method}`
  ? Namespace
  : never;

/** Returns whether a string names a row of the operation table. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}

/** A flat record of query parameters; `undefined` and `null` are left out. */
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

/** One query parameter. */
export type QueryValue = string | number | boolean | null | undefined;

/** Values of a path's parameters. */
export type PathParams = Readonly<Record<string, string | number>>;

/**
 * Adapts one operation to a service that differs from the assumptions. The functions `query`, `body` and `data`
 * translate what is sent and received; their `params` are the values of the path's parameters.
 *
 * @example
 * { path: '/api/v2/audience/delete', body: (body, { id }) => ({ audience_id: id }) }
 */
export interface OperationOverride {
  /** HTTP method to send instead. */
  readonly method?: Method | undefined;
  /** Path below the base URL; `{name}` marks a parameter. Parameters not in it must be sent by `query` or `body`. */
  readonly path?: string | undefined;
  /** Rate bucket that the service counts the request in. */
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
   * Returns the `data` that the SDK expects, or its promise; receives the `data` of the response and its envelope. Or
   * where it is, as a path from the envelope: `data.item`.
   */
  readonly data?: string | ((data: unknown, envelope: unknown) => unknown) | undefined;
}

/** An operation with the user's overrides applied. */
export interface ResolvedOperation extends Operation {
  /** The operation's name in the table, or the method and path of a free request. */
  readonly name: string;
  /** The user's override, if there is one. */
  readonly override?: OperationOverride;
}
