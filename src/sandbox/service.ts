import { Clock, type ClockMode } from './clock.ts';
import { type JobOptions, Jobs } from './jobs.ts';
import { createSlidingLog, DAY, HOUR, type SandboxLimits, SERVICE_LIMITS, TOKEN_LIFETIME } from './limits.ts';
import { createRandom, type Random } from './random.ts';
import { type AccountRecord, type Company, createState, type State, type Token, type TokenKind } from './state.ts';
import { Webhooks } from './webhooks.ts';

/** What a sandbox is made of; every route works on it. */
export interface Service {
  readonly state: State;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: SandboxLimits;
  readonly jobs: Jobs;
  readonly webhooks: Webhooks;
}

/** Options of a sandbox. */
export interface SandboxOptions {
  /** Decides all randomness. @default 1 */
  readonly seed?: number;
  /** @default 'real' */
  readonly clock?: ClockMode;
  readonly jobs?: JobOptions;
  /** Replaces single limits of the service. */
  readonly limits?: Partial<SandboxLimits>;
  /** Sends webhook deliveries in place of the global `fetch`. */
  readonly deliver?: (request: Request) => Promise<Response>;
}

/** A service without accounts. */
export function createService(options: SandboxOptions): Service {
  const { seed = 1, clock: mode = 'real', jobs = {}, deliver = (request) => fetch(request) } = options;
  const clock = new Clock(mode);
  const random = createRandom(seed);
  const limits = { ...SERVICE_LIMITS, ...options.limits };
  return {
    state: createState(),
    clock,
    random,
    limits,
    jobs: new Jobs(clock, jobs),
    webhooks: new Webhooks({ clock, random: createRandom(~seed), send: deliver, timeout: limits.deliveryTimeout }),
  };
}

/** The company of a name, created at its first mention. */
function companyOf({ state, limits }: Service, name: string): Company {
  const known = state.companies.get(name);
  if (known) return known;
  const company: Company = {
    id: state.nextId++,
    name,
    hour: createSlidingLog({ limit: limits.buildsPerHour, interval: HOUR }),
    day: createSlidingLog({ limit: limits.buildsPerDay, interval: DAY }),
    endpoints: [],
  };
  state.companies.set(name, company);
  return company;
}

/** Who opens an account. */
export interface NewAccount {
  readonly email: string;
  readonly password: string;
  readonly company: string;
  /** Whether the connection to the delivery partner holds credentials. @default true */
  readonly deliveryCredentials?: boolean;
}

/** Opens an account, as the console does. */
export function openAccount(service: Service, input: NewAccount): AccountRecord {
  const { state } = service;
  if (state.accounts.has(input.email)) throw new Error('An account with this email exists already.');
  const account: AccountRecord = {
    id: state.nextId++,
    email: input.email,
    password: input.password,
    company: companyOf(service, input.company),
    deliveryCredentials: input.deliveryCredentials ?? true,
    audiences: new Map(),
    estimates: new Map(),
    activations: new Map(),
    cohorts: new Map(),
    projects: new Map(),
    schedules: new Map(),
    replays: new Map(),
  };
  state.accounts.set(input.email, account);
  return account;
}

/** Live tokens of an account, of one kind or of all. */
export function tokensOf({ state, clock }: Service, account: AccountRecord, kind?: TokenKind): Token[] {
  const now = clock.now();
  return [...state.tokens.values()].filter(
    (token) => token.accountId === account.id && (kind === undefined || token.kind === kind) && token.expiresAt > now,
  );
}

/** Ends tokens of an account; returns how many were live. */
export function revokeTokens(service: Service, account: AccountRecord, kind?: TokenKind): number {
  const live = tokensOf(service, account, kind);
  for (const token of live) service.state.tokens.delete(token.value);
  return live.length;
}

/** Issues a token; a login ends the account's previous one. */
export function issueToken(service: Service, account: AccountRecord, kind: TokenKind): Token {
  if (kind === 'login') revokeTokens(service, account, 'login');
  const { state, random, clock } = service;
  const token: Token = {
    value: `${state.nextId++}|${random.text(40)}`,
    kind,
    accountId: account.id,
    expiresAt: kind === 'login' ? Number.POSITIVE_INFINITY : clock.now() + TOKEN_LIFETIME,
  };
  state.tokens.set(token.value, token);
  return token;
}

/** The live token of a value, with its account. */
export function findToken(service: Service, value: string): { token: Token; account: AccountRecord } | undefined {
  const token = service.state.tokens.get(value);
  if (!token || token.expiresAt <= service.clock.now()) return undefined;
  for (const account of service.state.accounts.values()) if (account.id === token.accountId) return { token, account };
  return undefined;
}
