import { AudienceError, ConfigurationError } from '../errors/base.ts';
import type { Logger } from '../transport/log.ts';
import type { Redactor } from '../transport/redact.ts';
import type { StoredToken, TokenStore } from '../transport/tokens.ts';
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
  readonly #logger: Logger;
  readonly #redactor: Redactor;
  #unsaved: Unsaved | undefined;
  /** What the store held when it was last read. */
  #held = '';

  constructor(store: TokenStore, logger: Logger, redactor: Redactor) {
    this.#store = store;
    this.#logger = logger;
    this.#redactor = redactor;
  }

  /** Whether there is something that waits to be saved. */
  get unsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Runs `work` while no other process or tab works on the record. */
  turn<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
    return this.#store.withLock(async () => {
      const record = await this.#load();
      if (this.#unsaved) await this.#save(record);
      return work({ record, reload: () => this.#load(), save: (change) => this.#change(record, change) });
    });
  }

  /** Removes the record. */
  async forget(): Promise<void> {
    await this.#store.withLock(async () => {
      await this.#store.save(undefined);
      this.#unsaved = undefined;
    });
  }

  async #load(): Promise<OAuthRecord> {
    const stored = await this.#read();
    // Somebody has signed in or renewed meanwhile: what is in memory is older than that.
    this.#held = JSON.stringify(stored) ?? '';
    if (this.#unsaved?.over !== this.#held) this.#unsaved = undefined;
    const record = this.#unsaved?.record ?? readRecord(stored);
    this.#remember(record);
    return record;
  }

  async #read(): Promise<StoredToken | undefined> {
    try {
      const stored = await this.#store.load();
      if (stored?.kind === undefined) return stored;
      throw new ConfigurationError(
        'The token store holds a token of another source, such as `apiToken`: give each source a store of its own.',
      );
    } catch (error) {
      if (AudienceError.isInstance(error)) throw error;
      const cause = this.#redactor.cause(error);
      const message = `The token store cannot be read: ${cause.message}`;
      throw new AudienceError(message, { code: 'token-unavailable', cause });
    }
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
      await this.#store.save(writeRecord(record));
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
    const secrets = [grant?.token, grant?.refreshToken, client?.client_secret];
    for (const secret of [...secrets, ...pending.map(({ verifier }) => verifier)]) {
      if (secret !== undefined) this.#redactor.remember(secret);
    }
  }
}
