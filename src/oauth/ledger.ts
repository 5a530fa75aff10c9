import type { StoredToken, TokenStore } from '../auth/token-source.ts';
import { AudienceError, ConfigurationError } from '../errors/audience-error.ts';
import { isObject } from '../util/json.ts';
import type { Logger } from '../util/log.ts';
import type { Redactor } from '../util/redact.ts';
import { type OAuthRecord, readRecord, writeRecord } from './record.ts';

/** What could not be saved, and what the store held then. */
interface Unsaved {
  readonly record: OAuthRecord;
  readonly over: string;
}

/** A turn at the store, alone: what it holds, and how to change that. */
export interface Turn {
  readonly record: OAuthRecord;
  /** Reads it again, for changes that were made without the lock. */
  reload(): Promise<OAuthRecord>;
  /**
   * Changes what the store holds by now: a machine that slept has lost its lock, and others have saved meanwhile.
   * A change that returns what it is given saves nothing.
   */
  save(change: (now: OAuthRecord) => OAuthRecord): Promise<OAuthRecord>;
}

/** The record of one user in its store. What cannot be saved is kept in memory, for as long as the store stays as it is. */
export class Ledger {
  readonly #store: TokenStore;
  readonly #service: string;
  readonly #logger: Logger;
  readonly #redactor: Redactor;
  #unsaved: Unsaved | undefined;
  /** What the store held when it was last read. */
  #held = '';

  /** `service` is the origin that tokens are for. */
  constructor(store: TokenStore, service: string, logger: Logger, redactor: Redactor) {
    this.#store = store;
    this.#service = service;
    this.#logger = logger;
    this.#redactor = redactor;
  }

  /** Whether there is something that waits to be saved. */
  get unsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Runs `work` while no other process or tab works on the record. */
  turn<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#locked(async () => {
      const record = await this.#load();
      if (this.#unsaved) await this.#save(record);
      return work({ record, reload: () => this.#load(), save: (change) => this.#change(record, change) });
    });
  }

  /** Removes the record. */
  async forget(): Promise<void> {
    await this.#locked(async () => {
      await this.#store.save(undefined).catch((error) => this.#fail('written', error));
      this.#unsaved = undefined;
    });
  }

  /** What the lock itself throws is told apart from what happens under it. */
  async #locked<T>(work: () => Promise<T>): Promise<T> {
    let failure: { readonly error: unknown } | undefined;
    const noting = async (): Promise<T> => {
      try {
        return await work();
      } catch (error) {
        failure = { error };
        throw error;
      }
    };
    return this.#store.withLock(noting).catch((error) => {
      if (failure) throw failure.error;
      return this.#fail('locked', error);
    });
  }

  #fail(what: string, error: unknown): never {
    if (AudienceError.isInstance(error)) throw error;
    const cause = this.#redactor.cause(error);
    throw new AudienceError(`The token store cannot be ${what}: ${cause.message}`, {
      code: 'token-unavailable',
      cause,
    });
  }

  async #load(): Promise<OAuthRecord> {
    const stored = await this.#read().catch((error) => this.#fail('read', error));
    // Somebody has signed in or renewed meanwhile: what is in memory is older than that.
    if (this.#unsaved?.over !== this.#held) this.#unsaved = undefined;
    const record = this.#unsaved?.record ?? readRecord(stored);
    this.#remember(record);
    return record;
  }

  async #read(): Promise<StoredToken | undefined> {
    const stored = await this.#store.load();
    this.#held = JSON.stringify(stored) ?? '';
    const kind = stored?.kind;
    const service = isObject(stored?.oauth) ? stored.oauth.service : undefined;
    if (kind === undefined && (service === undefined || service === this.#service)) return stored;
    const what = kind === undefined ? `a sign-in at ${service}` : `a token of another source ("${kind}")`;
    throw new ConfigurationError(
      `The token store holds ${what}: give each source, and each service, a store of its own.`,
    );
  }

  async #change(known: OAuthRecord, change: (now: OAuthRecord) => OAuthRecord): Promise<OAuthRecord> {
    // A new pair must not be lost because the store cannot be read just now.
    const now = await this.#load().catch(() => known);
    const next = change(now);
    if (next !== now) await this.#save(next);
    return next;
  }

  async #save(record: OAuthRecord): Promise<void> {
    this.#remember(record);
    try {
      await this.#store.save(writeRecord(record, this.#service));
      this.#unsaved = undefined;
    } catch (error) {
      this.#unsaved = { record, over: this.#held };
      const reason = this.#redactor.cause(error).message;
      this.#logger.warn(
        `The token store cannot be written: the present tokens are in memory only, and those in the store may be dead: ${reason}`,
      );
    }
  }

  #remember({ grant, client, pending }: OAuthRecord): void {
    const clients = [client, grant?.client, ...pending.map((one) => one.client)];
    const secrets = [grant?.token, grant?.refreshToken, ...clients.map((one) => one?.client_secret)];
    for (const secret of [...secrets, ...pending.map(({ verifier }) => verifier)]) {
      this.#redactor.addRecent(secret);
    }
  }
}
