import type { CreateOutcome } from '../errors/error-details.ts';
import type { UploadOptions } from '../index.ts';
import type { CohortCreate } from '../spec/cohort.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import type { ImportInput } from './journal-import.ts';
import type { JournalEntry } from './journal-lines.ts';

/** Options of a journal's create requests, a subset of the options of the client's namespaces. */
interface SentOptions {
  readonly idempotencyKey: string;
  readonly onConflict: 'wait';
  readonly signal: AbortSignal;
  readonly maxRetries?: number;
  readonly deadline?: number;
}

/** A namespace whose create requests take an idempotency key, such as `client.audiences`. */
export interface JournalNamespace<Body> {
  /** @internal Name of the namespace. Each key is bound to one namespace. */
  readonly resourceName?: string;
  /** Creates a resource. */
  create(
    body: Body,
    options: SentOptions,
  ): PromiseLike<{
    /** Id of the created resource. */
    readonly id: number;
  }> & {
    /** Outcome of the request, if it has failed. */
    readonly outcome: CreateOutcome | undefined;
  };
}

/** Options of {@link Journal.create}. */
export interface JournalCreateOptions {
  /**
   * Signal that aborts the create request. The next `create` call with the key determines whether the request took
   * effect.
   */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of retries. @default the client's `maxRetries` */
  readonly maxRetries?: number | undefined;
}

/** Options of {@link Journal.import}. */
export interface JournalImportOptions extends JournalCreateOptions, Pick<UploadOptions, 'onProgress'> {}

/** A file that records which resource was created for each key. See {@link openJournal}. */
export interface Journal extends AsyncDisposable {
  /**
   * Creates a resource, and returns its id. As long as you keep the journal, each key creates one resource: if the
   * journal contains its id, the client sends nothing. Each key is bound to one body and one kind of resource, so use
   * another key for another kind, such as `north activation`.
   *
   * @throws {JournalError} `body-changed` if the key is bound to another body or another kind of resource;
   * `outcome-expired` if an earlier create request was sent more than 23 hours ago and its response was lost;
   * `account-changed` if an earlier create request was sent with another token, and nothing shows that it belongs to
   * this account; `journal-locked` if the file was edited, replaced, moved or removed, or its lock was lost. Also the
   * errors of the namespace's `create`.
   * @throws {FileError} if the journal cannot be written.
   */
  create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    body: NoInfer<Body>,
    options?: JournalCreateOptions,
  ): Promise<number>;
  /**
   * Imports a file, and returns the id of the cohort: reserves a slot, uploads the file, and claims the file with a
   * create request that contains `fields`. As long as you keep the journal, each key creates one cohort: if the journal
   * contains its id, the client sends nothing. Each key is bound to the content of the file and to the fields. After a
   * restart, an import with the same key continues: it repeats the claim, and uploads the file again only if the slot
   * has expired.
   *
   * @param file Path of the file, or a `Blob`. The journal reads a file at a path again only if its size or time has
   * changed.
   * @throws {JournalError} like {@link Journal.create}; also `body-changed` if the content of the file has changed.
   * @throws {FileError} if the file cannot be read or changes meanwhile. Also the errors of `uploads.upload`.
   *
   * @example
   * const id = await journal.import(client.cohorts, 'customers', 'customers.csv', { name: 'Customers' });
   * const cohort = await client.cohorts.wait(id);
   */
  import(
    namespace: JournalNamespace<CohortCreate>,
    key: string,
    file: ImportInput,
    fields: Omit<CohortCreate, 'upload_reference'>,
    options?: JournalImportOptions,
  ): Promise<number>;
  /**
   * Returns the id of the created resource for a key, or `undefined`.
   *
   * @throws {JournalError} `body-changed` if the key is bound to another body.
   */
  find(key: string, body: unknown): number | undefined;
  /** Returns the journal's entry for a key, whatever its body; `undefined` if the journal does not have the key. */
  get(key: string): JournalEntry | undefined;
  /**
   * Records that a create request with an unknown outcome created the resource `id`. First look for the resource at the
   * service.
   *
   * @throws {ConfigurationError} if the journal contains another id for the key.
   */
  resolve(key: string, id: number): Promise<void>;
  /** Forgets a key, so that you can use it for a new create request, even with another body. */
  forget(key: string): Promise<void>;
  /** Aborts create requests in progress, closes the file and releases its lock. */
  close(): Promise<void>;
  /** @internal Records that a key is completed. */
  finish(key: string, done: JsonObject): Promise<void>;
}
