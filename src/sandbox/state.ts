import type { Activation } from '../schemas/activation.ts';
import type { Audience } from '../schemas/audience.ts';
import type { Cohort } from '../schemas/cohort.ts';
import type { Estimate, Project, Schedule } from '../schemas/open-resources.ts';
import type { WebhookEndpoint } from '../schemas/webhook-endpoint.ts';
import type { SlidingLog } from './sliding-window.ts';
import type { FileMeasure } from './storage/file-measure.ts';
import { Log } from './traffic-log.ts';

/** Kinds of bearer token that the credential exchange issues. */
export type TokenKind = 'login' | 'api' | 'mcp';

/** Rate buckets that count by token, and those that count by address. */
export type TokenBucket = 'read' | 'write' | 'mcp';
export type AddressBucket = 'login' | 'mint';

/** A bearer token as the service knows it. */
export interface Token {
  readonly id: number;
  readonly value: string;
  readonly kind: TokenKind | 'oauth';
  readonly account: AccountRecord;
  /** Milliseconds. */
  readonly issuedAt: number;
  /** Milliseconds; login tokens have no known lifetime. */
  readonly expiresAt: number;
  readonly buckets: Map<TokenBucket, SlidingLog>;
}

/** What is remembered under an idempotency key. */
export interface Replay {
  readonly operation: string;
  /** Bytes of the body; unknown while the first request is still arriving. */
  body: Uint8Array | undefined;
  /** The stored response; unknown while the create is in flight. */
  response: { readonly status: number; readonly text: string } | undefined;
  readonly expiresAt: number;
}

/** A slot for a file, from its reservation until it is claimed or cleaned up. */
export interface UploadSlot {
  readonly reference: string;
  readonly accountId: number;
  readonly kind: string;
  /** Bytes it was reserved for, if told. */
  readonly size: number | undefined;
  readonly signature: string;
  /** Milliseconds: presigned URL and claim end here. */
  readonly expiresAt: number;
  /** What has arrived: never the bytes themselves, so that a gigabyte costs no memory. */
  file: FileMeasure | undefined;
  claimed: boolean;
}

/** A file that an activation has delivered; its rows are made up when it is read. */
export interface ResultFile {
  readonly signature: string;
  readonly identifier: string;
  readonly rows: number;
  /** Milliseconds. */
  readonly deliveredAt: number;
}

/** A webhook endpoint, with what its resource does not show. */
export interface Endpoint extends Mutable<WebhookEndpoint> {
  /** Who registered it, and is notified when it is switched off. */
  readonly creator: AccountRecord;
  secret: string;
  /** The secret before the last rotation, and until when it signs, too. */
  previous: { readonly secret: string; readonly until: number } | undefined;
  /** Deliveries in a row that exhausted all attempts. */
  exhausted: number;
}

/** An organization: its build budget and webhook endpoints. */
export interface Company {
  readonly id: number;
  readonly name: string;
  readonly hour: SlidingLog;
  readonly day: SlidingLog;
  readonly endpoints: Endpoint[];
}

/** Someone who can log in. */
export interface AccountRecord {
  readonly id: number;
  readonly email: string;
  password: string;
  readonly company: Company;
  /** What the service has told its owner, oldest first. */
  readonly notifications: string[];
  /** Whether the connection to the delivery partner holds credentials. */
  readonly deliveryCredentials: boolean;
  readonly audiences: Map<number, Mutable<Audience>>;
  readonly estimates: Map<number, Mutable<Estimate>>;
  readonly activations: Map<number, Mutable<Activation>>;
  readonly cohorts: Map<number, Mutable<Cohort>>;
  readonly projects: Map<number, Mutable<Project>>;
  readonly schedules: Map<number, Mutable<Schedule>>;
  readonly replays: Map<string, Replay>;
}

/** A resource that the service itself may change. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One request in the sandbox's log. Never a token or a body. */
export interface LogEntry {
  /** Sandbox time, RFC 3339 UTC. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** 0 where the connection was cut before the service answered. */
  readonly status: number;
  /** Email of the account whose token or credentials came with it. */
  readonly account?: string;
  /** Whether an idempotency key was answered with its stored response. */
  readonly replayed?: boolean;
  /** What was done to it on purpose. */
  readonly fault?: string;
}

/** A client that has registered by OAuth. */
export interface OAuthClient {
  readonly id: string;
  /** None for public clients. */
  readonly secret: string | undefined;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

/** Consent that was given, until its code is exchanged. */
interface AuthorizationCode {
  readonly client: OAuthClient;
  readonly account: AccountRecord;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly expiresAt: number;
  /** A code is good for one try. */
  used: boolean;
  /** The connection it was exchanged for. */
  grantId: number | undefined;
}

/** An OAuth connection of an account: its current pair of tokens. */
export interface Grant {
  /** The same for every pair of the connection. */
  readonly id: number;
  readonly client: OAuthClient;
  readonly account: AccountRecord;
  readonly access: Token;
  readonly refresh: string;
  readonly refreshExpiresAt: number;
}

/** Everything the service knows. */
export interface State {
  readonly accounts: Map<string, AccountRecord>;
  readonly companies: Map<string, Company>;
  readonly tokens: Map<string, Token>;
  /** Rate buckets by name and address. */
  readonly addresses: Map<string, SlidingLog>;
  readonly uploads: Map<string, UploadSlot>;
  /** Result files by activation. */
  readonly results: Map<number, ResultFile>;
  readonly oauthClients: Map<string, OAuthClient>;
  readonly codes: Map<string, AuthorizationCode>;
  /** By refresh token. */
  readonly grants: Map<string, Grant>;
  readonly log: Log<LogEntry>;
  /** Origin that presigned URLs and results point to. */
  storageUrl: string;
  nextId: number;
}

/** Where storage is while the sandbox listens on no port: beside the API's origin, so that two sandboxes get two. */
function storageInProcess(origin = 'https://sandbox.invalid'): string {
  const { protocol, host } = new URL(origin);
  return `${protocol}//storage.${host}`;
}

/** A service that nobody has used yet. */
export function createState(logLength: number, origin: string | undefined): State {
  return {
    accounts: new Map(),
    companies: new Map(),
    tokens: new Map(),
    addresses: new Map(),
    uploads: new Map(),
    results: new Map(),
    oauthClients: new Map(),
    codes: new Map(),
    grants: new Map(),
    log: new Log(logLength),
    storageUrl: storageInProcess(origin),
    nextId: 1,
  };
}
