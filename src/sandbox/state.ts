import type { Activation } from '../spec/activation.ts';
import type { Audience } from '../spec/audience.ts';
import type { Cohort } from '../spec/cohort.ts';
import type { Estimate, Project, Schedule } from '../spec/open-resources.ts';
import { type NamespaceWith, operations } from '../spec/operations.ts';
import type { BuildBudget } from '../spec/usage-report.ts';
import type { WebhookEndpoint } from '../spec/webhook-endpoint.ts';
import type { SlidingWindow } from './sliding-window.ts';

/** Kinds of bearer tokens that the credential exchange issues. */
export type TokenKind = 'login' | 'api' | 'mcp';

/** Rate buckets per token. */
export type TokenBucket = 'read' | 'write' | 'mcp';

/** Rate buckets per client address. */
export type AddressBucket = 'login' | 'mint';

/** A bearer token. Times are milliseconds since 1970. */
export interface Token {
  readonly id: number;
  readonly value: string;
  readonly kind: TokenKind | 'oauth';
  readonly account: AccountRecord;
  readonly issuedAt: number;
  /** `Infinity` for login tokens, whose lifetime is not specified. */
  readonly expiresAt: number;
  readonly buckets: Map<TokenBucket, SlidingWindow>;
}

/** A create request with an idempotency key. */
export interface IdempotencyRecord {
  readonly operation: string;
  /** Hash of the body, because the body may contain credentials. `undefined` while the body is arriving. */
  body: string | undefined;
  /** The stored response; `undefined` while the create request is in flight. */
  response: { readonly status: number; readonly body: string } | undefined;
  readonly expiresAt: number;
}

/** Size and number of lines of a received file. The sandbox does not keep the bytes. */
export interface FileStats {
  readonly size: number;
  readonly lines: number;
}

/** An upload slot, from its reservation until it is deleted. */
export interface UploadSlot {
  readonly reference: string;
  readonly accountId: number;
  readonly kind: string;
  /** Reserved size in bytes, if the reservation states a size. */
  readonly size: number | undefined;
  readonly signature: string;
  /** Expiry of the presigned URL and of the claim window. */
  readonly expiresAt: number;
  file: FileStats | undefined;
  claimed: boolean;
}

/**
 * The results of an activation: one file per datastream. The sandbox generates the rows while a client reads the file.
 */
export interface ResultFile {
  readonly streams: readonly string[];
  readonly signature: string;
  readonly identifier: string;
  readonly rows: number;
  readonly deliveredAt: number;
}

/** A webhook endpoint, with the fields that its resource does not show. */
export interface Endpoint extends Mutable<WebhookEndpoint> {
  /** The account that registered the endpoint. The service notifies this account when it disables the endpoint. */
  readonly creator: AccountRecord;
  secret: string;
  /** The previous secret, which also signs deliveries until `until`. */
  previous: { readonly secret: string; readonly until: number } | undefined;
  /** Number of consecutive deliveries, redeliveries included, that failed all their attempts. */
  consecutiveFailures: number;
}

/** How a resource was built, so that a schedule can build it again. */
export interface BuildDefinition {
  /** Namespace of the resource. */
  readonly name: string;
  /** Body of the create request, without its file, and with a placeholder for credentials. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Number of rows in the file, which a schedule cannot claim again. */
  readonly rows: number | undefined;
}

/** A submitted file of points of interest. */
interface PoiSubmission {
  readonly id: number;
  readonly rows: number;
  readonly created_at: string;
}

/** An organization: its build budget and webhook endpoints. */
export interface Company {
  readonly id: number;
  readonly name: string;
  readonly hourlyBuilds: SlidingWindow;
  readonly dailyBuilds: SlidingWindow;
  readonly endpoints: Endpoint[];
}

/** Specified types of resources. For resources of other namespaces, only the id is specified. */
interface SpecifiedResources {
  readonly audiences: Audience;
  readonly estimates: Estimate;
  readonly activations: Activation;
  readonly cohorts: Cohort;
  readonly projects: Project;
  readonly schedules: Schedule;
}

interface OpenResource {
  readonly id: number;
  readonly [field: string]: unknown;
}

/** The resources of an account by namespace and id. Lookalikes are audiences. */
type Resources = {
  readonly [Name in Exclude<NamespaceWith<'create'>, 'lookalikes'>]: Map<
    number,
    Mutable<Name extends keyof SpecifiedResources ? SpecifiedResources[Name] : OpenResource>
  >;
};

/** Creates an empty map of resources for each namespace. */
export function createResources(): Resources {
  const creates = Object.keys(operations).filter((name) => name.endsWith('.create') && name !== 'lookalikes.create');
  // The type determines the keys.
  return Object.fromEntries(creates.map((name) => [name.split('.')[0], new Map()])) as Resources;
}

export interface AccountRecord extends Resources {
  readonly id: number;
  readonly email: string;
  password: string;
  readonly company: Company;
  /** Messages of the service to the owner, oldest first. */
  readonly notifications: string[];
  /** `true` if credentials are stored on the connection to the delivery partner. */
  readonly deliveryCredentials: boolean;
  readonly poiSubmissions: Map<number, PoiSubmission>;
  /** Definitions by id of the resource. */
  readonly definitions: Map<number, BuildDefinition>;
  readonly idempotencyKeys: Map<string, IdempotencyRecord>;
}

/** A resource whose fields the service changes. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Use of a rate limit after a request. */
export interface LimitUse {
  /** Name of the rate bucket. */
  readonly name: 'read' | 'write' | 'mcp' | 'login' | 'mint';
  /** Number of requests in the window. Includes this request, unless the limit refused it. */
  readonly used: number;
  /** Maximum number of requests in the window. */
  readonly limit: number;
}

/** A request in the sandbox's log. Contains neither the token nor, except for `name`, the body of the request. */
export interface LogEntry {
  /** Request id of the response, by default in the header `X-Request-Id`. */
  readonly id: string;
  /** Time of the sandbox's clock at the end of the request, RFC 3339 UTC. */
  readonly at: string;
  /** HTTP method, such as `POST`. */
  readonly method: string;
  /** Path without the query, truncated to 2,000 characters. */
  readonly path: string;
  /**
   * HTTP status that the client received; 0 if it received none: the connection was cut, or the client disconnected.
   */
  readonly status: number;
  /** HTTP status of the service's response, if the client did not receive it. */
  readonly served?: number;
  /** Email of the account, from the request's token, credentials or session. */
  readonly account?: string;
  /** Value of the request's `Idempotency-Key`. */
  readonly idempotencyKey?: string;
  /** The `name` in the JSON body of a POST request, if the sandbox has read the body and it has at most 64 KiB. */
  readonly name?: string;
  /** Id of the resource that the request has created. */
  readonly createdId?: number;
  /** `true` if the service replayed the stored response of the idempotency key. */
  readonly replayed?: boolean;
  /** Description of the fault rule that applied to the request. */
  readonly fault?: string;
  /** Reason for an error response, in some cases in more detail than in the response. */
  readonly why?: string;
  /**
   * Time from which the service would accept the refused request, RFC 3339 UTC: when the bucket, the budget or the
   * idempotency key is free again.
   */
  readonly freeAt?: string;
  /** The rate bucket that counted or refused the request. */
  readonly bucket?: LimitUse;
  /** The organization's build budget after a create request that started a job or that the budget refused. */
  readonly budget?: BuildBudget;
}

export interface OAuthClient {
  readonly id: string;
  /** `undefined` for public clients. */
  readonly secret: string | undefined;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

interface AuthorizationCode {
  readonly client: OAuthClient;
  readonly account: AccountRecord;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly expiresAt: number;
  used: boolean;
  /** Id of the grant that the code was exchanged for. */
  grantId: number | undefined;
}

/** An OAuth connection of an account, with its current pair of tokens. */
export interface Grant {
  /** Id of the connection. Refreshing the tokens does not change it. */
  readonly id: number;
  readonly client: OAuthClient;
  readonly account: AccountRecord;
  readonly access: Token;
  readonly refresh: string;
  readonly refreshExpiresAt: number;
}

/** The next build of a schedule. Intervals are milliseconds. */
export interface ReplayTask {
  readonly type: 'replay';
  readonly account: AccountRecord;
  readonly schedule: Mutable<Schedule>;
  readonly definition: BuildDefinition;
  readonly interval: number;
}

/** The state of a sandbox as plain JSON. It contains the tokens, passwords and webhook secrets of the sandbox. */
export interface SandboxState {
  /** Version of the format. */
  readonly version: 1;
  /** Seed of the sandbox. A sandbox that continues with the state needs the same seed. */
  readonly seed: number;
  /** Time of the sandbox's clock at the save, RFC 3339 UTC. */
  readonly now: string;
  /** All data, in the format of the `devalue` package. */
  readonly data: unknown;
}

/** The data of the service, except its jobs. */
export type State = ReturnType<typeof createState>;

/** Creates the state of an unused service, whose API is at `origin`. */
export function createState(origin = 'https://sandbox.invalid') {
  const { protocol, host } = new URL(origin);
  return {
    /** By email. */
    accounts: new Map<string, AccountRecord>(),
    /** By name. */
    companies: new Map<string, Company>(),
    /** By value. */
    tokens: new Map<string, Token>(),
    /** By bucket name and client address. */
    addressBuckets: new Map<string, SlidingWindow>(),
    /** By reference. */
    uploads: new Map<string, UploadSlot>(),
    /** By id of the activation. */
    results: new Map<number, ResultFile>(),
    /** By id. */
    oauthClients: new Map<string, OAuthClient>(),
    authorizationCodes: new Map<string, AuthorizationCode>(),
    /** By refresh token. */
    grants: new Map<string, Grant>(),
    /** The latest requests, oldest first. */
    log: [] as LogEntry[],
    /** Number of requests so far, including requests dropped from the log. */
    requestCount: 0,
    /**
     * Origin of presigned URLs and result files: the origin of the latest server or, without a server, the API's origin
     * with the prefix `storage.`.
     */
    storageUrl: `${protocol}//storage.${host}`,
    nextId: 1,
  };
}

/** Appends to a list of at most `max` entries, dropping the oldest. */
export function appendBounded<T>(entries: T[], entry: T, max: number): void {
  entries.push(entry);
  // Remove more than one entry if the maximum was lowered.
  while (entries.length > max) entries.shift();
}
