import { createHash } from 'node:crypto';
import { CONFLICT_ADVICE } from '../client/index.ts';
import { ConflictError, ValidationError } from '../errors/api-errors.ts';
import { AudienceError, ConfigurationError, check, withDetails } from '../errors/audience-error.ts';
import type { CreateOutcome } from '../errors/error-details.ts';
import { JournalError } from '../errors/journal-errors.ts';
import type { AudienceClient, UploadOptions } from '../index.ts';
import type { CohortCreate } from '../spec/cohort.ts';
import { timeToRepeat } from '../spec/limits.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { AbortScope } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { isObject } from '../util/json.ts';
import type { JournalAccount } from './journal-account.ts';
import type { JournalFile } from './journal-file.ts';
import { type ImportInput, identify } from './journal-import.ts';
import type { ImportedFile, JournalEntry } from './journal-lines.ts';

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
  /** @internal Its name, which a key stays with. */
  readonly resourceName?: string;
  /** Creates a resource. */
  create(
    body: Body,
    options: SentOptions,
  ): PromiseLike<{
    /** Id of the created resource. */
    readonly id: number;
  }> & {
    /** Whether the request took effect, after a failure. */
    readonly outcome: CreateOutcome | undefined;
  };
}

/** Options of {@link Journal.create}. */
export interface JournalCreateOptions {
  /** Ends the create. The next one under the key finds out whether it has taken effect. */
  readonly signal?: AbortSignal | undefined;
  /** Attempts after the first. @default the client's `maxRetries` */
  readonly maxRetries?: number | undefined;
}

/** Options of {@link Journal.import}. */
export interface JournalImportOptions extends JournalCreateOptions, Pick<UploadOptions, 'onProgress'> {}

/** A file that remembers what was created under which key: see {@link openJournal}. */
export interface Journal extends AsyncDisposable {
  /**
   * Creates a resource once for each key, as long as the journal is kept, and returns its id. If it exists, nothing is
   * sent. Each key is bound to one body: use another key for another kind of resource, such as `north activation`.
   *
   * @throws {JournalError} `body-changed` if the key is bound to another body or another kind of resource;
   * `outcome-expired` if an earlier create was sent more than 23 hours ago and its response was lost; `account-changed`
   * if it was sent with another token, and nothing shows that it belongs to this account; `journal-locked` if the file
   * was edited, replaced, moved or removed. Also the errors of the namespace's `create`.
   */
  create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    body: NoInfer<Body>,
    options?: JournalCreateOptions,
  ): Promise<number>;
  /**
   * Imports a file once for each key, as long as the journal is kept, and returns the id of the cohort: reserves a
   * slot, uploads the file, and claims it by a create with `fields`. If the cohort exists, nothing is sent. Each key is
   * bound to one content of the file and to the same fields. After a restart, the import continues under its key: it
   * sends the claim again, and uploads the file once more only if the slot has expired.
   *
   * @param file Its path, or a `Blob`. With a path, the content is read again only if size or time have changed.
   * @throws {JournalError} as {@link Journal.create}; `body-changed` also if the content of the file has changed.
   * @throws {FileError} if the file cannot be read, or changes while it is read or sent. Also the errors of
   * `uploads.upload`.
   *
   * @example const id = await journal.import(client.cohorts, 'customers', 'customers.csv', { name: 'Customers' });
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
   * Returns the id that was created under a key, `undefined` if there is none yet.
   *
   * @throws {JournalError} `body-changed` if the key is bound to another body.
   */
  find(key: string, body: unknown): number | undefined;
  /** Returns what the journal contains about a key, whatever its body is. */
  get(key: string): JournalEntry | undefined;
  /**
   * Records that a create request with an unknown outcome created the resource `id`, as a person has found out.
   *
   * @throws {ConfigurationError} if the journal has another id under the key.
   */
  resolve(key: string, id: number): Promise<void>;
  /** Makes a key unused again, so that it can be created once more, also with another body. */
  forget(key: string): Promise<void>;
  /** Ends create requests in progress, closes the file and releases its lock. */
  close(): Promise<void>;
  /** @internal Records that nothing is left to do for a key. */
  finish(key: string, done: JsonObject): Promise<void>;
}

/** A create: `text` is its body with sorted fields, in which the content of a file stands for its reference. */
interface Intent {
  readonly key: string;
  readonly text: string;
  readonly file?: ImportedFile | undefined;
}

/** What {@link FileJournal} works with. */
interface OpenJournal {
  readonly file: JournalFile;
  readonly client: AudienceClient;
  readonly account: JournalAccount;
  readonly release: () => Promise<void>;
}

/** A journal in an open file. */
export class FileJournal implements Journal {
  readonly #file: JournalFile;
  readonly #account: JournalAccount;
  readonly #client: AudienceClient;
  readonly #release: () => Promise<void>;
  readonly #byKey = createMutex();
  readonly #creates = new Set<Promise<number>>();

  constructor({ file, client, account, release }: OpenJournal) {
    this.#file = file;
    this.#account = account;
    this.#client = client;
    this.#release = release;
  }

  get(key: string): JournalEntry | undefined {
    return this.#file.entries.get(key);
  }

  find(key: string, body: unknown): number | undefined {
    this.#checkBody(key, this.#keyOf(key, canonicalText(body)));
    return this.get(key)?.id;
  }

  create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    body: NoInfer<Body>,
    options: JournalCreateOptions = {},
  ): Promise<number> {
    return this.#inTurn(key, async () => {
      const text = canonicalText(body);
      return (
        this.#existing(namespace, key, text) ?? (await this.#send(namespace, { key, text }, JSON.parse(text), options))
      );
    });
  }

  import(
    namespace: JournalNamespace<CohortCreate>,
    key: string,
    file: ImportInput,
    fields: Omit<CohortCreate, 'upload_reference'>,
    options: JournalImportOptions = {},
  ): Promise<number> {
    return this.#inTurn(key, async () => {
      const earlier = this.get(key)?.file;
      const { content, open } = await identify(file, earlier);
      // The reference of an upload may change; the content may not.
      const text = canonicalText({ ...fields, upload_reference: `sha256:${content.hash}` });
      const id = this.#existing(namespace, key, text);
      if (id !== undefined) return id;
      const claim = (reference: string): Promise<number> => {
        const body = { ...JSON.parse(text), upload_reference: reference };
        return this.#send(namespace, { key, text, file: { ...content, reference } }, body, options);
      };
      const uploadAndClaim = async (): Promise<number> => {
        const { signal, maxRetries, onProgress } = options;
        const scope = new AbortScope({ parents: [signal, this.#file.stop.signal] });
        const upload = { signal: scope.signal, maxRetries, onProgress };
        try {
          const input = { kind: 'cohort', data: await open() } as const;
          return await claim((await this.#client.uploads.upload(input, upload)).reference);
        } finally {
          scope.dispose();
        }
      };
      if (!earlier) return uploadAndClaim();
      return claim(earlier.reference).catch((error) => {
        // Its slot has expired. If that claim has created the cohort, the service refuses another one under its key.
        if (ValidationError.isInstance(error) && error.errors.upload_reference) return uploadAndClaim();
        throw error;
      });
    });
  }

  /** Runs what creates for one key one after another; `close` waits for it. */
  #inTurn(key: string, create: () => Promise<number>): Promise<number> {
    const created = this.#byKey(key, create);
    this.#creates.add(created);
    return created.finally(() => this.#creates.delete(created));
  }

  /** Returns the id under a key, after a check that the key stands for this body of this namespace. */
  #existing(namespace: JournalNamespace<never>, key: string, text: string): number | undefined {
    check(typeof key === 'string' && key !== '', 'The `key` of a create must be a non-empty string.');
    check(
      typeof namespace?.create === 'function',
      `"${key}" was not sent: the first argument must be a namespace with \`create\`, such as \`client.audiences\`.`,
    );
    this.#checkKind(key, namespace.resourceName);
    this.#checkBody(key, this.#keyOf(key, text));
    return this.get(key)?.id;
  }

  async #send<Body>(
    namespace: JournalNamespace<Body>,
    { key, text, file }: Intent,
    body: Body,
    { signal, maxRetries }: JournalCreateOptions,
  ): Promise<number> {
    this.#file.stop.signal.throwIfAborted();
    const idempotencyKey = this.#keyOf(key, text);
    const { at, by: sender, file: earlier } = this.get(key) ?? {};
    const deadline = at && this.#timeLeft(key, at);
    if (at && !(await this.#account.trusts(sender, signal))) throw this.#otherToken(key, at);
    if (at && file?.reference === earlier?.reference) await this.#file.checkPlace();
    else {
      const by = await this.#account.by(signal);
      const kind = namespace.resourceName;
      await this.#file.append({
        key,
        sent: idempotencyKey,
        at: (at ?? new Date()).toISOString(),
        ...(kind !== undefined && { kind }),
        ...(by !== undefined && { by }),
        ...(file && { file }),
      });
    }
    const scope = new AbortScope({ parents: [signal, this.#file.stop.signal] });
    const creating = namespace.create(body, {
      idempotencyKey,
      onConflict: 'wait',
      signal: scope.signal,
      ...(maxRetries !== undefined && { maxRetries }),
      ...(deadline !== undefined && { deadline }),
      ...{ [CONFLICT_ADVICE]: KEPT },
    });
    try {
      const created = await creating;
      const account = this.#account.creator(created);
      await this.#file.append({ key, id: created.id, ...(account !== undefined && { account }) });
      return created.id;
    } catch (error) {
      // A 409 never voids a create, whatever its message says, because a misread message would later create the
      // resource twice.
      if (ConflictError.isInstance(error)) throw withDetails(error, { outcome: 'unknown' }, '');
      const { outcome } = creating;
      const isVoid = outcome === 'not-sent' || outcome === 'refused';
      if (!isVoid || this.#file.failure !== undefined) throw error;
      if (!at) await this.#file.append({ key, refused: idempotencyKey });
      // The refusal of a repetition says nothing about the request before the crash.
      else if (AudienceError.isInstance(error))
        throw withDetails(error, { outcome: 'unknown' }, this.#repeated(key, at));
      throw error;
    } finally {
      scope.dispose();
    }
  }

  async resolve(key: string, id: number): Promise<void> {
    check(typeof key === 'string' && key !== '', 'The `key` of `resolve` must be a non-empty string.');
    check(Number.isSafeInteger(id), `The id of "${key}" must be an integer, such as 12.`);
    await this.#byKey(key, async () => {
      const existing = this.get(key)?.id;
      if (existing === id) return;
      check(existing === undefined, `"${key}" is ${existing}, not ${id}: forget it before you resolve it.`);
      await this.#file.append({ key, id });
    });
  }

  async forget(key: string): Promise<void> {
    await this.#byKey(key, async () => {
      if (this.get(key)) await this.#file.append({ key, forget: true });
    });
  }

  finish(key: string, done: JsonObject): Promise<void> {
    return this.#file.append({ key, done });
  }

  async close(): Promise<void> {
    this.#file.stop.abort(new ConfigurationError('The journal was closed.', { advice: 'Open it again.' }));
    await Promise.allSettled(this.#creates);
    await this.#release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the idempotency key for a body. A changed body, or a key that was forgotten, never meets an earlier one. */
  #keyOf(key: string, text: string): string {
    const identity = [this.#file.id, key, this.get(key)?.forgotten ?? 0, text];
    return `journal-${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
  }

  #checkKind(key: string, kind: string | undefined): void {
    const { kind: existing = kind, id } = this.get(key) ?? {};
    if (existing === kind || kind === undefined) return;
    const message = `"${key}" was ${id === undefined ? 'sent' : 'created'} with \`client.${existing}\`, not \`client.${kind}\`. Each key is bound to one resource.`;
    const advice = `Use another key, such as "${key} ${kind}".`;
    throw new JournalError(message, { code: 'body-changed', path: this.#file.path, key, advice });
  }

  #otherToken(key: string, at: Date): JournalError {
    const message = `"${key}" was sent with another token at ${at.toISOString()}, its response was lost, and nothing shows that both tokens belong to one account.`;
    const advice = `Create it again with that token, within 23 hours of then, or ${this.#byHand(key)}`;
    return new JournalError(message, {
      code: 'account-changed',
      path: this.#file.path,
      key,
      outcome: 'unknown',
      advice,
    });
  }

  #checkBody(key: string, idempotencyKey: string): void {
    const { id, sent = idempotencyKey, at } = this.get(key) ?? {};
    if (sent === idempotencyKey) return;
    const details = { code: 'body-changed', path: this.#file.path, key } as const;
    if (id !== undefined) {
      const message = `"${key}" was created with another body, with the id ${id}. Each key is bound to one body.`;
      throw new JournalError(message, { ...details, advice: 'Use another key.' });
    }
    const message = `The outcome of "${key}" is not known, and its body has changed.`;
    const advice = `Create it once with its body of ${at?.toISOString()}, then change it. If the service refuses that body: ${this.#byHand(key)}`;
    throw new JournalError(message, { ...details, outcome: 'unknown', advice });
  }

  #timeLeft(key: string, at: Date): number {
    const left = timeToRepeat(at);
    if (left > 0) return left;
    const message = `"${key}" was sent at ${at.toISOString()}, its response was lost, and the service has forgotten its key by now.`;
    const advice = `To settle it by hand: ${this.#byHand(key)}`;
    throw new JournalError(message, {
      code: 'outcome-expired',
      path: this.#file.path,
      key,
      outcome: 'unknown',
      advice,
    });
  }

  #repeated(key: string, at: Date): string {
    return `But "${key}" was sent at ${at.toISOString()}, too, and that response was lost. Create it again with this journal, within 23 hours of then. If the service always refuses it: ${this.#byHand(key)}`;
  }

  /** Returns what a person does about a create whose outcome the service cannot tell. */
  #byHand(key: string): string {
    const name = JSON.stringify(key);
    return `look for it in the list, by name and time. If it is there: \`journal.resolve(${name}, id)\`, or \`aud run\` with \`--resolve ${key}=<id>\`. If not: \`journal.forget(${name})\`, or \`--forget ${key}\`.`;
  }
}

/** The advice of a 409, which the journal reads as a create in flight. */
const KEPT = 'The journal keeps it as sent: create it again with this journal, within 23 hours of its first attempt.';

/** Returns a body as JSON with sorted fields, so that their order does not matter. */
function canonicalText(body: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body, (_, value: unknown) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
    );
  } catch (cause) {
    throw new ConfigurationError('The `body` of a create must be JSON.', { cause });
  }
  if (!text?.startsWith('{')) throw new ConfigurationError('The `body` of a create must be an object.');
  return text;
}
