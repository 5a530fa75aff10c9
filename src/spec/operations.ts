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
  /** True if the create starts a worker job, which the build budget counts. */
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
const shown = { ...assumed, documented: true } as const;
const exchange = { ...shown, token: 'none' } as const;
const mcp = { ...shown, token: 'mcp', reads: 'json-rpc' } as const;

const read: Row = { ...assumed, bucket: 'read', retry: 'always' };
const shownRead: Row = { ...read, ...shown };
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
 * Every operation of the service and how it is called. The transport, the resources and `docs/assumptions.md` are based
 * on this table.
 */
export const operations = {
  /** Issues a login token, and ends the account's previous one. */
  'auth.login': auth('login', { bucket: 'login', retry: 'always' }),
  /** Issues an API token, valid for a year; an account may have ten. */
  'auth.createApiToken': auth('api-token', { bucket: 'mint', retry: 'never' }),
  /** Revokes all API tokens of the account. */
  'auth.revokeApiTokens': auth('api-token/revoke', { bucket: 'mint', retry: 'always' }),
  /** Issues a token of scope `mcp`, valid for a year; an account may have ten. */
  'auth.createMcpToken': auth('mcp-token', { bucket: 'mint', retry: 'never' }),
  /** Revokes all MCP tokens of the account. */
  'auth.revokeMcpTokens': auth('mcp-token/revoke', { bucket: 'mint', retry: 'always' }),

  /** Starts the build of an audience. */
  'audiences.create': make('audiences', createJob),
  /** Reads an audience. */
  'audiences.get': get('audiences'),
  /** Reads a page of the audiences, lookalikes among them. */
  'audiences.list': list('audiences'),
  /** Deletes an audience. */
  'audiences.delete': remove('audiences'),

  /** Starts a lookalike of a completed seed audience. */
  'lookalikes.create': make('lookalikes', createJob),
  /** Cancels a running lookalike. */
  'lookalikes.cancel': request('POST', 'lookalikes/{id}/cancel', change),
  /** Reads a lookalike, which is an audience. */
  'lookalikes.get': get('audiences'),

  /** Starts an estimate of an audience's size. */
  'estimates.create': make('estimates', createJob),
  /** Reads an estimate. */
  'estimates.get': get('estimates'),

  /** Starts the delivery of an audience to a partner. */
  'activations.create': make('activations', createJob),
  /** Reads an activation. */
  'activations.get': get('activations'),
  /** Reads a page of the activations. */
  'activations.list': list('activations'),
  /** Deletes an activation. */
  'activations.delete': remove('activations'),

  /** Claims an uploaded file, and starts its import. */
  'cohorts.create': make('cohorts', createJob),
  /** Reads a cohort. */
  'cohorts.get': get('cohorts'),
  /** Reads a page of the cohorts. */
  'cohorts.list': list('cohorts'),
  /** Deletes a cohort. */
  'cohorts.delete': remove('cohorts'),

  /** Creates a project. */
  'projects.create': make('projects', create),
  /** Reads a project. */
  'projects.get': get('projects'),
  /** Reads a page of the projects. */
  'projects.list': list('projects'),
  /** Deletes a project. */
  'projects.delete': remove('projects'),

  /** Creates a schedule. */
  'schedules.create': make('schedules', create),
  /** Reads a schedule. */
  'schedules.get': get('schedules'),
  /** Reads a page of the schedules. */
  'schedules.list': list('schedules'),
  /** Deletes a schedule. */
  'schedules.delete': remove('schedules'),

  /** Reserves a slot in storage for a file. */
  'uploads.reserve': make('uploads', { ...assumed, bucket: 'write', retry: 'always' }),

  /** Reads the webhook endpoints of the organization, newest first. */
  'webhooks.list': request('GET', 'webhooks/index', shownRead),
  /** Reads the usage report of a month, with the build budget. */
  'usage.get': request('GET', 'usage', shownRead),
  /** Reads a page of a reference table. */
  'reference.list': request('GET', 'reference/{dataset}/{name}', read),
  /** Sends a message of the Model Context Protocol. */
  'mcp.send': request('POST', 'mcp', { ...mcp, bucket: 'mcp', retry: 'never' }),
} as const satisfies Record<string, Operation>;

/** Name of a row of the operation table, `namespace.method`. */
export type OperationName = keyof typeof operations;

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
  /** When a failed request may be sent again, such as `never` for a create without idempotency. */
  readonly retry?: RetryPolicy | undefined;
  /** Returns the query to send; receives the one that the SDK would send. */
  readonly query?: ((query: Query, params: PathParams) => Query) | undefined;
  /** Returns the JSON body to send; receives the one that the SDK would send, or `undefined`. */
  readonly body?: ((body: unknown, params: PathParams) => unknown) | undefined;
  /** Returns the `data` that the SDK expects, or its promise; receives the `data` of the response and its envelope. */
  readonly data?: ((data: unknown, envelope: unknown) => unknown) | undefined;
}

/** An operation with the user's overrides applied. */
export interface ResolvedOperation extends Operation {
  /** The operation's name in the table, or the method and path of a free request. */
  readonly name: string;
  /** The user's override, if there is one. */
  readonly override?: OperationOverride;
}
