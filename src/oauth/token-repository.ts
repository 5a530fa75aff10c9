import { AudienceError, ConfigurationError } from '../errors/audience-error.ts';
import type { StoredToken, TokenStore } from '../index.ts';
import { isObject } from '../util/json.ts';
import type { Logger } from '../util/log.ts';
import type { Redactor } from '../util/redact.ts';
import { type OAuthState, readState } from './oauth-state.ts';

/** Access to the store while its lock is held. */
export interface Transaction {
  readonly state: OAuthState;
  reload(): Promise<OAuthState>;
  /**
   * Reads the state again, applies `change`, and saves and returns the result. If this process was suspended and lost
   * the lock, another process may have saved a state since the transaction began. Saves nothing if `change` returns its
   * argument.
   */
  update(change: (current: OAuthState) => OAuthState): Promise<OAuthState>;
  /**
   * Throws if the lock is lost. WebKit releases the locks of a page when the user leaves the page, and continues its
   * work if the user returns (back/forward cache).
   */
  checkLock(): void;
}

/** The OAuth state of one user in a token store. Keeps in memory a state that cannot be saved. */
export class TokenRepository {
  readonly #store: TokenStore;
  readonly #service: string;
  readonly #logger: Logger;
  readonly #redactor: Redactor;
  /** The state that could not be saved, and the content of the store that it should replace. */
  #unsaved: { readonly state: OAuthState; readonly replaces: string } | undefined;
  #content = '';

  constructor(store: TokenStore, service: string, logger: Logger, redactor: Redactor) {
    this.#store = store;
    this.#service = service;
    this.#logger = logger;
    this.#redactor = redactor;
  }

  get hasUnsavedState(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Runs `work` under the store's lock. First saves a state that could not be saved before. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#locked(async (checkLock) => {
      const state = await this.#load();
      if (this.#unsaved) await this.#save(state);
      return work({ state, reload: () => this.#load(), update: (change) => this.#update(state, change), checkLock });
    });
  }

  async clear(): Promise<void> {
    await this.#locked(async () => {
      await this.#store.save(undefined).catch((error) => this.#fail('written', error));
      this.#unsaved = undefined;
    });
  }

  #locked<T>(work: (checkLock: () => void) => Promise<T>): Promise<T> {
    let isHeld = true;
    const checkLock = (): void => {
      const message = 'The lock of the token store was lost, so the client did not refresh the token.';
      if (!isHeld) throw new AudienceError(message, { code: 'token-unavailable', advice: 'Try again.' });
    };
    return this.#store
      .withLock(() => work(checkLock))
      .catch((error) => this.#fail('locked', error))
      .finally(() => {
        isHeld = false;
      });
  }

  #fail(step: string, error: unknown): never {
    if (AudienceError.isInstance(error)) throw error;
    const cause = this.#redactor.cause(error);
    const message = `The token store cannot be ${step}: ${cause.message}`;
    throw new AudienceError(message, { code: 'token-unavailable', cause });
  }

  async #load(): Promise<OAuthState> {
    const stored = await this.#store.load().catch((error) => this.#fail('read', error));
    this.#checkOwner(stored);
    this.#content = JSON.stringify(stored) ?? '';
    // If another process has changed the store in the meantime, the unsaved state is outdated.
    if (this.#unsaved?.replaces !== this.#content) this.#unsaved = undefined;
    const state = this.#unsaved?.state ?? readState(stored?.oauth);
    this.#addSecrets(state);
    return state;
  }

  #checkOwner(stored: StoredToken | undefined): void {
    const { service = this.#service } = isObject(stored?.oauth) ? stored.oauth : {};
    if (stored?.kind === undefined && service === this.#service) return;
    const owner =
      stored?.kind === undefined ? `a sign-in at ${service}` : `a token of another source ("${stored.kind}")`;
    throw new ConfigurationError(`The token store contains ${owner}, and not a sign-in at ${this.#service}.`, {
      advice: 'Use one store for each token source and service.',
    });
  }

  async #update(state: OAuthState, change: (current: OAuthState) => OAuthState): Promise<OAuthState> {
    // If the store cannot be read, continue with the last known state, so that new tokens are not lost.
    const current = await this.#load().catch(() => state);
    const next = change(current);
    if (next !== current) await this.#save(next);
    return next;
  }

  async #save(state: OAuthState): Promise<void> {
    this.#addSecrets(state);
    const { token = '', expiresAt } = state.grant ?? {};
    try {
      await this.#store.save({ token, expiresAt, oauth: { service: this.#service, ...state } });
      this.#unsaved = undefined;
    } catch (error) {
      this.#unsaved = { state, replaces: this.#content };
      const reason = this.#redactor.cause(error).message;
      this.#logger.warn(
        `The token store cannot be written, so the client keeps the current tokens in memory only: ${reason}`,
      );
    }
  }

  #addSecrets({ grant, client, pending }: OAuthState): void {
    const clients = [client, grant?.client, ...pending.map((signIn) => signIn.client)];
    const secrets = [grant?.token, grant?.refreshToken, ...clients.map((registered) => registered?.client_secret)];
    for (const secret of [...secrets, ...pending.map(({ verifier }) => verifier)]) this.#redactor.addRecent(secret);
  }
}
