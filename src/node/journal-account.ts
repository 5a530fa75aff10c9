import { createHash } from 'node:crypto';
import { NotFoundError } from '../errors/api-errors.ts';
import { JournalError } from '../errors/journal-errors.ts';
import type { AudienceClient } from '../index.ts';
import { abortable } from '../util/abort.ts';
import { isObject } from '../util/json.ts';
import type { JournalEntry } from './journal-lines.ts';

/** Maximum number of resources to try to read. If all of them are missing, the account counts as different. */
const MAX_MISSING = 5;

/** Returns the email of the creator in a resource, if the resource contains it. */
const creatorOf = (resource: unknown): unknown =>
  isObject(resource) && isObject(resource.created_by) ? resource.created_by.email : undefined;

/** The account of a client, which a journal recognizes by salted hashes. */
export class JournalAccount {
  readonly #client: AudienceClient;
  readonly #salt: string;
  readonly #trusted = new Set<string>();
  #by: string | undefined;

  constructor(client: AudienceClient, salt: string) {
    this.#client = client;
    this.#salt = salt;
  }

  /**
   * Returns the hash to record with a create request. Returns `undefined` if the client has no token: the create
   * request reports the error.
   */
  async by(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#by !== undefined) return this.#by;
    const secret = await abortable(this.#client.accountSecret(signal), signal).catch(() => undefined);
    if (secret !== undefined) this.#by = this.#hash(secret);
    if (this.#by !== undefined) this.#trusted.add(this.#by);
    return this.#by;
  }

  /** Returns the hash of the creator in a response, if the response contains a creator. */
  creator(resource: unknown): string | undefined {
    const email = creatorOf(resource);
    return typeof email === 'string' ? this.#hash(email) : undefined;
  }

  /** Returns whether this account sent a create request, according to the journal. */
  async trusts(by: string | undefined, signal?: AbortSignal): Promise<boolean> {
    return by === undefined || (await this.by(signal)) === undefined || this.#trusted.has(by);
  }

  /**
   * Compares the account of a journal with the client's account. If no entry has the hash of the client, reads
   * resources of the journal, newest first; otherwise, sends nothing.
   *
   * @throws {JournalError} `account-changed` if the account can read none of up to five resources, or if a resource has
   * another creator.
   */
  async verify(entries: ReadonlyMap<string, JournalEntry>, path: string, signal?: AbortSignal): Promise<void> {
    const created = [...entries.values()].reverse().filter(({ id, by }) => id !== undefined && by !== undefined);
    if (created.length === 0) return;
    const by = await this.by(signal);
    const own = created.find((entry) => entry.by === by) ?? (await this.#read(created, path, signal));
    if (!own) return;
    for (const entry of created) {
      const isSame = entry.by === own.by || (own.account !== undefined && entry.account === own.account);
      if (isSame && entry.by !== undefined) this.#trusted.add(entry.by);
    }
  }

  /** Returns the first entry whose resource the account can read, or `undefined`. */
  async #read(created: JournalEntry[], path: string, signal?: AbortSignal): Promise<JournalEntry | undefined> {
    let missing = 0;
    for (const entry of created) {
      const namespace: Partial<AudienceClient['audiences']> = Object(Object(this.#client)[entry.kind ?? '']);
      if (!namespace.get || entry.id === undefined) continue;
      try {
        const account = this.creator(await namespace.get(entry.id, { ...(signal && { signal }) }));
        if (account !== undefined && entry.account !== undefined && account !== entry.account) throw changed(path);
        return entry;
      } catch (error) {
        if (!NotFoundError.isInstance(error)) throw error;
        if (++missing === MAX_MISSING) break;
      }
    }
    if (missing > 0) throw changed(path);
    return undefined;
  }

  #hash(text: string): string {
    return createHash('sha256')
      .update(JSON.stringify([this.#salt, text]))
      .digest('hex')
      .slice(0, 16);
  }
}

function changed(path: string): JournalError {
  const message = `${path} was written with another account, and not with the account of this token. No create request was sent.`;
  return new JournalError(message, {
    code: 'account-changed',
    path,
    advice: 'Use a token of that account, or another journal.',
  });
}
