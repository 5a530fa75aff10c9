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
  readonly method: Method;
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path: string;
  /** The rate bucket that counts the request. */
  readonly bucket: Bucket;
  readonly retry: RetryPolicy;
  /** True if the create starts a worker job, which the build budget counts. */
  readonly startsJob: boolean;
  /** The bearer token that is sent; `none` for the credential exchange. */
  readonly token: 'none' | 'general' | 'mcp';
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
const create: Row = { ...assumed, bucket: 'write', retry: 'idempotency-key' };
const createJob: Row = { ...create, startsJob: true };
const change: Row = { ...assumed, bucket: 'write', retry: 'never' };

const list = (resource: string): Operation => ({ method: 'GET', path: `${API}/${resource}/index`, ...read });
const get = (resource: string): Operation => ({ method: 'GET', path: `${API}/${resource}/{id}`, ...read });
const make = (resource: string, row: Row): Operation => ({ method: 'POST', path: `${API}/${resource}/create`, ...row });
const remove = (resource: string): Operation => ({ method: 'POST', path: `${API}/${resource}/{id}/delete`, ...change });
const auth = (path: string, row: Pick<Row, 'bucket' | 'retry'>): Operation => ({
  method: 'POST',
  path: `${API}/auth/${path}`,
  ...exchange,
  ...row,
});

/**
 * Every operation of the service and how it is called. The transport, the resources and `docs/assumptions.md` are based
 * on this table.
 */
export const operations = {
  'auth.login': auth('login', { bucket: 'login', retry: 'always' }),
  'auth.createApiToken': auth('api-token', { bucket: 'mint', retry: 'never' }),
  'auth.revokeApiTokens': auth('api-token/revoke', { bucket: 'mint', retry: 'always' }),
  'auth.createMcpToken': auth('mcp-token', { bucket: 'mint', retry: 'never' }),
  'auth.revokeMcpTokens': auth('mcp-token/revoke', { bucket: 'mint', retry: 'always' }),

  'audiences.create': make('audiences', createJob),
  'audiences.get': get('audiences'),
  'audiences.list': list('audiences'),
  'audiences.delete': remove('audiences'),

  'lookalikes.create': make('lookalikes', createJob),
  'lookalikes.cancel': { method: 'POST', path: `${API}/lookalikes/{id}/cancel`, ...change },
  'lookalikes.get': get('audiences'),

  'estimates.create': make('estimates', createJob),
  'estimates.get': get('estimates'),

  'activations.create': make('activations', createJob),
  'activations.get': get('activations'),
  'activations.list': list('activations'),
  'activations.delete': remove('activations'),

  'cohorts.create': make('cohorts', createJob),
  'cohorts.get': get('cohorts'),
  'cohorts.list': list('cohorts'),
  'cohorts.delete': remove('cohorts'),

  'projects.create': make('projects', create),
  'projects.get': get('projects'),
  'projects.list': list('projects'),
  'projects.delete': remove('projects'),

  'schedules.create': make('schedules', create),
  'schedules.get': get('schedules'),
  'schedules.list': list('schedules'),
  'schedules.delete': remove('schedules'),

  'uploads.reserve': make('uploads', { ...assumed, bucket: 'write', retry: 'always' }),

  'webhooks.list': { method: 'GET', path: `${API}/webhooks/index`, ...shown, bucket: 'read', retry: 'always' },
  'usage.get': { method: 'GET', path: `${API}/usage`, ...shown, bucket: 'read', retry: 'always' },
  'reference.list': { method: 'GET', path: `${API}/reference/{dataset}/{name}`, ...read },
  'mcp.send': { method: 'POST', path: `${API}/mcp`, ...mcp, bucket: 'mcp', retry: 'never' },
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
  readonly method?: Method | undefined;
  /** Path below the base URL; `{name}` marks a parameter. Parameters not in it must be sent by `query` or `body`. */
  readonly path?: string | undefined;
  readonly bucket?: Bucket | undefined;
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
