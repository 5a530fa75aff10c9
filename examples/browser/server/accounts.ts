import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { apiToken, type Credentials, memoryTokenStore, type TokenSource } from 'audience-activation';

/** Who has signed in, with the API token that never leaves this server. */
export interface Account {
  readonly email: string;
  readonly token: TokenSource;
}

interface Known extends Account {
  readonly salt: Buffer;
  readonly digest: Buffer;
}

/** The accounts of people who have signed in: one API token each, because ten may be live at once. */
export class Accounts {
  readonly #baseUrl: string;
  readonly #known = new Map<string, Known>();

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /**
   * Whose credentials these are, asked of the service once.
   *
   * @throws {AuthenticationError} when the service refuses them.
   */
  async signIn(credentials: Credentials): Promise<Account> {
    const { email, password } = credentials;
    const known = this.#known.get(email);
    if (known && timingSafeEqual(known.digest, scryptSync(password, known.salt, 32))) return known;
    // Outside of demos, keep the token in a store that outlives the process.
    const token = apiToken(credentials, { store: memoryTokenStore(), baseUrl: this.#baseUrl });
    await token.get({ signal: AbortSignal.timeout(10_000) });
    const salt = randomBytes(16);
    const account = { email, token, salt, digest: scryptSync(password, salt, 32) };
    this.#known.set(email, account);
    return account;
  }

  /** Forgets an account that the service refuses: its next sign-in is checked by the service again. */
  forget({ email }: Account): void {
    this.#known.delete(email);
  }
}
