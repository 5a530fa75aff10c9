import type { Optional } from '../../spec/wire-values.ts';
import { isEmail } from '../routes/body-fields.ts';
import type { Service } from '../service.ts';
import { DAY, HOUR, type SandboxLimits } from '../service-limits.ts';
import { SlidingWindow } from '../sliding-window.ts';
import { type AccountRecord, type Company, createResources, type TokenKind } from '../state.ts';
import { issueToken, listGrants, listTokens, revokeGrant, revokeTokens } from '../tokens.ts';
import { callSource, named, reportAs } from './call-source.ts';

/** An account to create. */
export interface NewAccount {
  /** Email address, unique among accounts. */
  readonly email: string;
  /** Password for the credential exchange and the consent page. Must not be empty. */
  readonly password: string;
  /** The organization or its name. An unknown name creates an organization. @default 'Example Company' */
  readonly company?: string | SandboxCompany | undefined;
  /** `true` if credentials are stored on the connection to the delivery partner. @default true */
  readonly deliveryCredentials?: boolean | undefined;
}

/** An organization to create. */
export interface NewCompany {
  /** Name, unique among organizations. */
  readonly name: string;
  /** Maximum builds in a rolling hour. @default `limits.buildsPerHour` of the sandbox (60) */
  readonly buildsPerHour?: number | undefined;
  /** Maximum builds in a rolling day. @default `limits.buildsPerDay` of the sandbox (300) */
  readonly buildsPerDay?: number | undefined;
}

/** An organization, whose accounts share its build budget and webhook endpoints. */
export interface SandboxCompany {
  /** Id, which webhook events contain as `company_id`. */
  readonly id: number;
  /** Name, unique among organizations. */
  readonly name: string;
  /** Changes the limits of the build budget. Earlier builds still count. */
  setBuildBudget(budget: Optional<Pick<SandboxLimits, 'buildsPerHour' | 'buildsPerDay'>>): void;
}

/** A token, without its value. */
export interface TokenInfo {
  /** Id for `revokeToken`. */
  readonly id: number;
  /** Kind of the token: `login`, `api` or `mcp`. */
  readonly kind: TokenKind;
  /** Time of issue, by the sandbox's clock. */
  readonly createdAt: Date;
  /** Expiry. `undefined` for login tokens, whose lifetime is not specified. */
  readonly expiresAt: Date | undefined;
}

/** An OAuth connection of an account. */
export interface ConnectionInfo {
  /** Id for `revokeConnection`. */
  readonly id: number;
  /** Name of the OAuth client. */
  readonly client: string;
  /** Expiry of the connection's refresh token. */
  readonly expiresAt: Date;
}

/** An account, with the actions of its owner. */
export interface SandboxAccount {
  /** Email address, with which `accounts.get` finds the account. */
  readonly email: string;
  /** The current password. */
  readonly password: string;
  /** Organization that the account belongs to. */
  readonly company: SandboxCompany;
  /** Issues a token without a request, and returns its value. A new login token revokes the previous login token. */
  token(kind: TokenKind): string;
  /** Valid login, API and MCP tokens, oldest first. */
  tokens(): TokenInfo[];
  /** Revokes one token. */
  revokeToken(id: number): void;
  /** Revokes all tokens of a kind. Returns the number of valid tokens among them. */
  revokeTokens(kind: TokenKind): number;
  /** Active OAuth connections. */
  connections(): ConnectionInfo[];
  /** Revokes one OAuth connection and its tokens. */
  revokeConnection(id: number): void;
  /**
   * Changes the password, by default to a random password. Revokes all tokens and OAuth connections of the account, and
   * ends its sessions in browsers. Returns the new password.
   */
  changePassword(password?: string): string;
  /** Revokes the login token. */
  logout(): void;
  /** Messages of the service to the owner, for example about a disabled webhook endpoint, oldest first. */
  readonly notifications: readonly string[];
}

export function createCompany({ state, limits }: Service, input: NewCompany): Company {
  const { name, buildsPerHour = limits.buildsPerHour, buildsPerDay = limits.buildsPerDay } = input;
  checkBudget(buildsPerHour, buildsPerDay);
  if (state.companies.has(name)) throw new Error(`An organization named "${name}" already exists.`);
  const company: Company = {
    id: state.nextId++,
    name,
    hourlyBuilds: new SlidingWindow({ limit: buildsPerHour, interval: HOUR }),
    dailyBuilds: new SlidingWindow({ limit: buildsPerDay, interval: DAY }),
    endpoints: [],
  };
  state.companies.set(name, company);
  return company;
}

function checkBudget(buildsPerHour: number, buildsPerDay: number): void {
  for (const [name, limit] of Object.entries({ buildsPerHour, buildsPerDay }))
    if (!(limit >= 0)) throw new Error(`\`${name}\` must be a number of 0 or more, not ${limit}.`);
}

function checkPassword(password: string): void {
  if (password === '') throw new Error('`password` must not be empty: a login requires it.');
}

export function createAccount(service: Service, input: NewAccount): AccountRecord {
  const { state } = service;
  const { email, password, company = 'Example Company', deliveryCredentials = true } = input;
  const companyName = typeof company === 'string' ? company : company.name;
  if (!isEmail(email)) throw new Error(`\`email\` must be an email address, not "${email}".`);
  checkPassword(password);
  if (state.accounts.has(email)) throw new Error(`An account with the email ${email} already exists.`);
  const account: AccountRecord = {
    id: state.nextId++,
    email,
    password,
    company: state.companies.get(companyName) ?? createCompany(service, { name: companyName }),
    notifications: [],
    deliveryCredentials,
    ...createResources(),
    poiSubmissions: new Map(),
    definitions: new Map(),
    idempotencyKeys: new Map(),
  };
  state.accounts.set(email, account);
  return account;
}

/** Returns the organization as {@link SandboxCompany}. */
export function companyAdmin(service: Service, name: string): SandboxCompany {
  const { state } = service;
  const company = (): Company => {
    const record = state.companies.get(name);
    if (!record) throw new Error(`The organization "${name}" no longer exists.`);
    return record;
  };
  const source = callSource('sandbox.companies.get', [name]);
  return named<SandboxCompany>(source, {
    get id() {
      return company().id;
    },
    name,
    setBuildBudget: reportAs(service, source)('setBuildBudget', (budget) => {
      const { hourlyBuilds, dailyBuilds } = company();
      const { buildsPerHour = hourlyBuilds.limit, buildsPerDay = dailyBuilds.limit } = budget;
      checkBudget(buildsPerHour, buildsPerDay);
      hourlyBuilds.limit = buildsPerHour;
      dailyBuilds.limit = buildsPerDay;
    }),
  });
}

/**
 * Returns the account as {@link SandboxAccount}. Each action looks up the account by its email, because a loaded state
 * may have replaced the account.
 */
export function accountAdmin(service: Service, email: string): SandboxAccount {
  const { state, random } = service;
  const record = (): AccountRecord => {
    const account = state.accounts.get(email);
    if (!account) throw new Error(`The account ${email} no longer exists.`);
    return account;
  };
  const source = callSource('sandbox.accounts.get', [email]);
  const report = reportAs(service, source);
  return named<SandboxAccount>(source, {
    email,
    get password() {
      return record().password;
    },
    company: companyAdmin(service, record().company.name),
    ...tokenAdmin(service, record, report),
    connections: () =>
      listGrants(service, record()).map(({ id, client, refreshExpiresAt }) => ({
        id,
        client: client.name,
        expiresAt: new Date(refreshExpiresAt),
      })),
    revokeConnection: report('revokeConnection', (id) => {
      const grant = listGrants(service, record()).find((candidate) => candidate.id === id);
      if (!grant) throw new Error(`The account has no OAuth connection ${id}.`);
      revokeGrant(service, grant);
    }),
    changePassword: report('changePassword', (password = random.string(16)) => {
      checkPassword(password);
      const account = record();
      account.password = password;
      revokeTokens(service, account);
      for (const grant of listGrants(service, account)) revokeGrant(service, grant);
      for (const [code, { account: owner }] of state.authorizationCodes)
        if (owner === account) state.authorizationCodes.delete(code);
      service.sessions.endAll(email);
      return password;
    }),
    logout: report('logout', () => void revokeTokens(service, record(), 'login')),
    get notifications() {
      return record().notifications;
    },
  });
}

const TOKEN_KINDS: readonly TokenKind[] = ['login', 'api', 'mcp'];

function checkKind(kind: TokenKind): void {
  if (!TOKEN_KINDS.includes(kind))
    throw new Error(`\`kind\` of a token must be one of ${TOKEN_KINDS.join(', ')}, not "${kind}".`);
}

function tokenAdmin(
  service: Service,
  record: () => AccountRecord,
  report: ReturnType<typeof reportAs>,
): Pick<SandboxAccount, 'token' | 'tokens' | 'revokeToken' | 'revokeTokens'> {
  const { state, limits } = service;
  return {
    token: report('token', (kind) => {
      checkKind(kind);
      const max = limits.activeTokens;
      if (kind !== 'login' && listTokens(service, record(), kind).length >= max)
        throw new Error(
          `The account already has ${max} valid ${kind} tokens, which is the maximum. Revoke a token first.`,
        );
      return issueToken(service, record(), kind).value;
    }),
    tokens: () =>
      listTokens(service, record()).flatMap(({ id, kind, issuedAt, expiresAt }) => {
        const expiry = Number.isFinite(expiresAt) ? new Date(expiresAt) : undefined;
        return kind === 'oauth' ? [] : [{ id, kind, createdAt: new Date(issuedAt), expiresAt: expiry }];
      }),
    revokeTokens: report('revokeTokens', (kind) => {
      checkKind(kind);
      return revokeTokens(service, record(), kind);
    }),
    revokeToken: report('revokeToken', (id) => {
      const token = listTokens(service, record()).find(
        (candidate) => candidate.id === id && candidate.kind !== 'oauth',
      );
      if (!token) throw new Error(`The account has no valid token ${id}.`);
      state.tokens.delete(token.value);
    }),
  };
}
