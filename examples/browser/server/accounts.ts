import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { apiToken, type Credentials, memoryTokenStore, type TokenSource } from 'audience-activation';

/** The account of a user who has signed in, with the API token that never leaves this server. */
export interface Account {
  readonly email: string;
  readonly token: TokenSource;
}

interface VerifiedAccount extends Account {
  readonly salt: Buffer;
  readonly digest: Buffer;
}

/** Accounts of users who have signed in. Each has one API token, because an account may have only ten live ones. */
export class Accounts {
  readonly #baseUrl: string;
  readonly #accounts = new Map<string, VerifiedAccount>();

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /**
   * Returns the account of an email and password. The service verifies them at the first sign-in, and again whenever
   * the password differs from the last verified one.
   *
   * @throws {AuthenticationError} if the service refuses them.
   */
  async signIn(credentials: Credentials): Promise<Account> {
    const { email, password } = credentials;
    const existing = this.#accounts.get(email);
    if (existing && timingSafeEqual(existing.digest, scryptSync(password, existing.salt, 32))) return existing;
    // Outside of demos, use a store that outlives the process.
    const token = apiToken(credentials, { store: memoryTokenStore(), baseUrl: this.#baseUrl });
    await token.get({ signal: AbortSignal.timeout(10_000) });
    const salt = randomBytes(16);
    const account = { email, token, salt, digest: scryptSync(password, salt, 32) };
    this.#accounts.set(email, account);
    return account;
  }

  /** Removes an account whose token the service refuses, so that the service verifies its next sign-in. */
  forget({ email }: Account): void {
    this.#accounts.delete(email);
  }
}
