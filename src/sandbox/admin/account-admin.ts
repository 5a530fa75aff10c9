import type { Optional } from '../../util/input-types.ts';
import { grantsOf, revokeGrant } from '../grants.ts';
import { isEmail } from '../routes/body-fields.ts';
import type { Service } from '../service.ts';
import { DAY, HOUR, type SandboxLimits } from '../service-limits.ts';
import { SlidingLog } from '../sliding-window.ts';
import type { AccountRecord, Company, TokenKind } from '../state.ts';
import { issueToken, revokeTokens, tokensOf } from '../tokens.ts';

/** Who opens an account. */
export interface NewAccount {
  readonly email: string;
  readonly password: string;
  /** Its company, or the name of one, which is created at its first mention. @default 'Example Company' */
  readonly company?: string | SandboxCompany | undefined;
  /** Whether the connection to the delivery partner holds credentials. @default true */
  readonly deliveryCredentials?: boolean | undefined;
}

/** What an organization is, and may build. */
export interface NewCompany {
  readonly name: string;
  /** Builds in a rolling hour and day. @default 60 and 300 */
  readonly buildsPerHour?: number | undefined;
  readonly buildsPerDay?: number | undefined;
}

/** An organization, whose accounts share build budget and webhook endpoints. */
export interface SandboxCompany {
  readonly id: number;
  readonly name: string;
  /** Sets the budget; builds so far stay counted. */
  setBuildBudget(budget: Optional<Pick<SandboxLimits, 'buildsPerHour' | 'buildsPerDay'>>): void;
}

/** A token as the console lists it. */
export interface ListedToken {
  readonly id: number;
  readonly kind: TokenKind;
  readonly createdAt: Date;
  /** None for login tokens, whose lifetime is not specified. */
  readonly expiresAt: Date | undefined;
}

/** An OAuth connection as the console lists it. */
export interface ListedConnection {
  readonly id: number;
  readonly client: string;
  /** When its refresh token expires, unless renewed. */
  readonly expiresAt: Date;
}

/** An account, with what its owner can do in the console. */
export interface SandboxAccount {
  readonly email: string;
  readonly password: string;
  readonly company: SandboxCompany;
  /** Issues a token as the credential exchange does, without a request. */
  token(kind: TokenKind): string;
  /** Live tokens of the credential exchange, oldest first; their values are shown at issue only. */
  tokens(): ListedToken[];
  /** Ends one token. */
  revokeToken(id: number): void;
  /** OAuth connections. */
  connections(): ListedConnection[];
  /** Ends an OAuth connection. */
  revokeConnection(id: number): void;
  /** Sets a new password, made up unless given, which ends every token and OAuth connection. Returns it. */
  changePassword(password?: string): string;
  /** Ends the login token. */
  logout(): void;
  /** What the service has told the owner, like an endpoint switched off; oldest first. */
  readonly notifications: readonly string[];
}

/** A company, as the console creates it. */
export function createCompany({ state, limits }: Service, input: NewCompany): Company {
  const { name, buildsPerHour = limits.buildsPerHour, buildsPerDay = limits.buildsPerDay } = input;
  checkBudget(buildsPerHour, buildsPerDay);
  if (state.companies.has(name)) throw new Error(`There is a company "${name}" already.`);
  const company: Company = {
    id: state.nextId++,
    name,
    hour: new SlidingLog({ limit: buildsPerHour, interval: HOUR }),
    day: new SlidingLog({ limit: buildsPerDay, interval: DAY }),
    endpoints: [],
  };
  state.companies.set(name, company);
  return company;
}

function checkBudget(...limits: readonly number[]): void {
  if (!limits.every((limit) => limit >= 0))
    throw new Error(`A build budget is a number from 0, not ${limits.join(' and ')}.`);
}

/** Opens an account, as the console does. */
export function openAccount(service: Service, input: NewAccount): AccountRecord {
  const { state } = service;
  const { email, password, company = 'Example Company', deliveryCredentials = true } = input;
  const name = typeof company === 'string' ? company : company.name;
  if (!isEmail(email)) throw new Error(`"${email}" is no email address: nobody could log in.`);
  if (password === '') throw new Error('An account needs a password: nobody could log in.');
  if (state.accounts.has(email)) throw new Error('An account with this email exists already.');
  const account: AccountRecord = {
    id: state.nextId++,
    email,
    password,
    company: state.companies.get(name) ?? createCompany(service, { name }),
    notifications: [],
    deliveryCredentials,
    audiences: new Map(),
    estimates: new Map(),
    activations: new Map(),
    cohorts: new Map(),
    projects: new Map(),
    schedules: new Map(),
    replays: new Map(),
  };
  state.accounts.set(email, account);
  return account;
}

/** The console's page of a company. */
export function consoleOfCompany({ id, name, hour, day }: Company): SandboxCompany {
  return {
    id,
    name,
    setBuildBudget({ buildsPerHour = hour.limit, buildsPerDay = day.limit }) {
      checkBudget(buildsPerHour, buildsPerDay);
      hour.limit = buildsPerHour;
      day.limit = buildsPerDay;
    },
  };
}

/** The console as the owner of an account sees it. */
export function consoleOf(service: Service, record: AccountRecord): SandboxAccount {
  return {
    email: record.email,
    get password() {
      return record.password;
    },
    company: consoleOfCompany(record.company),
    ...consoleOfTokens(service, record),
    connections: () =>
      grantsOf(service, record).map(({ id, client, refreshExpiresAt }) => ({
        id,
        client: client.name,
        expiresAt: new Date(refreshExpiresAt),
      })),
    revokeConnection(id) {
      const grant = grantsOf(service, record).find((one) => one.id === id);
      if (!grant) throw new Error(`There is no OAuth connection ${id} of this account.`);
      revokeGrant(service, grant);
    },
    changePassword(password = service.random.text(16)) {
      if (password === '') throw new Error('An account needs a password: nobody could log in.');
      record.password = password;
      revokeTokens(service, record);
      for (const grant of grantsOf(service, record)) revokeGrant(service, grant);
      for (const [code, { account }] of service.state.codes) if (account === record) service.state.codes.delete(code);
      return password;
    },
    logout() {
      revokeTokens(service, record, 'login');
    },
    notifications: record.notifications,
  };
}

/** Kinds that the credential exchange issues. */
const KINDS: readonly TokenKind[] = ['login', 'api', 'mcp'];

function consoleOfTokens(
  service: Service,
  record: AccountRecord,
): Pick<SandboxAccount, 'token' | 'tokens' | 'revokeToken'> {
  return {
    token(kind) {
      if (!KINDS.includes(kind)) throw new Error(`"${kind}" is no kind of token: ${KINDS.join(', ')}.`);
      const cap = service.limits.activeTokens;
      if (kind !== 'login' && tokensOf(service, record, kind).length >= cap) {
        throw new Error(`The account has ${cap} live ${kind} tokens already, as many as the service allows.`);
      }
      return issueToken(service, record, kind).value;
    },
    tokens: () =>
      tokensOf(service, record).flatMap(({ id, kind, issuedAt, expiresAt }) =>
        kind === 'oauth'
          ? []
          : [
              {
                id,
                kind,
                createdAt: new Date(issuedAt),
                expiresAt: Number.isFinite(expiresAt) ? new Date(expiresAt) : undefined,
              },
            ],
      ),
    revokeToken(id) {
      const token = tokensOf(service, record).find((one) => one.id === id && one.kind !== 'oauth');
      if (!token) throw new Error(`There is no live token ${id} of this account.`);
      service.state.tokens.delete(token.value);
    },
  };
}
