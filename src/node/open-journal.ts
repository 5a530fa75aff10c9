import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CONFLICT_ADVICE } from '../client/index.ts';
import { ConflictError } from '../errors/api-errors.ts';
import { AudienceError, ConfigurationError, check, withDetails } from '../errors/audience-error.ts';
import type { CreateOutcome } from '../errors/error-details.ts';
import { JournalError } from '../errors/journal-errors.ts';
import { timeToRepeat } from '../spec/limits.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { AbortScope } from '../util/abort.ts';
import { createMutex } from '../util/concurrency.ts';
import { isObject } from '../util/json.ts';
import { withFileLock } from './file-lock.ts';
import { filePath, PRIVATE_FILE, syncFolder, writing } from './file-system.ts';
import { entryAfter, type JournalContent, type JournalEntry, type JournalLine, readJournal } from './journal-lines.ts';

/** Maximum time to wait for the lock. A killed process leaves a lock that is free after ten seconds. */
const MAX_LOCK_WAIT_MS = 12_000;

/** Options of the creates of a journal, as namespaces of the client take them. */
interface SentOptions {
  readonly idempotencyKey: string;
  readonly onConflict: 'wait';
  readonly signal: AbortSignal;
  readonly maxRetries?: number;
  readonly deadline?: number;
}

/** A namespace whose creates take an idempotency key, such as `client.audiences`. */
export interface JournalNamespace<Body> {
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

/** A file that remembers what was created under which key: see {@link openJournal}. */
export interface Journal extends AsyncDisposable {
  /**
   * Creates a resource once for each key, as long as the journal is kept, and returns its id. If it exists, nothing is
   * sent. A key stands for one body: name another kind of resource differently, such as `north activation`.
   *
   * @throws {JournalError} `body-changed` if the key stands for another body; `outcome-expired` if an earlier create was
   * sent more than 23 hours ago and its response was lost. Also the errors of the namespace's `create`.
   */
  create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    body: NoInfer<Body>,
    options?: JournalCreateOptions,
  ): Promise<number>;
  /**
   * Returns the id that was created under a key, `undefined` if there is none yet.
   *
   * @throws {JournalError} `body-changed` if the key stands for another body.
   */
  find(key: string, body: unknown): number | undefined;
  /** Returns what the journal contains about a key, whatever its body is. */
  get(key: string): JournalEntry | undefined;
  /** Makes a key unused again, so that it can be created once more, also with another body. */
  forget(key: string): Promise<void>;
  /** Ends creates in progress, closes the file and releases its lock. */
  close(): Promise<void>;
  /** @internal Records that nothing is left to do for a key. */
  finish(key: string, done: JsonObject): Promise<void>;
}

/**
 * Opens a journal: a file that remembers what was created under which key. A program that was killed at any moment and is
 * started again creates nothing twice, however much later. One process at a time uses a journal; another one waits for
 * twelve seconds. Keep the file on one machine, and use one for each batch: a new file creates everything again.
 *
 * @throws {JournalError} `journal-locked` if another process uses it; `journal-invalid` if the file is no journal, is
 * damaged, or was written for another service.
 * @throws {FileError} if the file or its lock cannot be read or written.
 *
 * @example
 * await using journal = await openJournal('regions-2026-11-24.journal', client);
 * const id = await journal.create(client.audiences, 'north', { name: 'North', dataset });
 * const audience = await client.audiences.wait(id);
 */
export async function openJournal(
  path: string | URL,
  client: { readonly baseUrl: string },
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Journal> {
  const file = filePath(path, 'openJournal');
  const opened = Promise.withResolvers<Journal>();
  const closed = Promise.withResolvers<void>();
  const wait = new AbortScope({ parents: [signal], ms: MAX_LOCK_WAIT_MS, reason: () => lockedBy(file) });
  const work = async (lost: AbortSignal): Promise<void> => {
    wait.dispose();
    const handle = await writing(file, () => open(file, 'a+', PRIVATE_FILE));
    try {
      const bytes = await writing(file, () => handle.readFile());
      const content = readJournal(bytes, file, client.baseUrl);
      if (lost.aborted) throw lostTo(file, lost.reason);
      await writing(file, () => complete(handle, content, bytes.length, dirname(file)));
      const release = (): Promise<void> => {
        closed.resolve();
        return released;
      };
      opened.resolve(new FileJournal({ file, handle, content, lost, release }));
      await closed.promise;
    } finally {
      await handle.close();
    }
  };
  const released = withFileLock(file, work, { signal: wait.signal }).finally(() => wait.dispose());
  released.catch(opened.reject);
  return opened.promise;
}

/** Removes a line that was cut off, because the next one would be lost with it, and begins a new journal. */
async function complete(
  handle: FileHandle,
  { size, missing }: JournalContent,
  readSize: number,
  folder: string,
): Promise<void> {
  // After a loss of the lock, the file may have lines of another process.
  if (size < readSize) await handle.truncate(size);
  await handle.appendFile(missing);
  await handle.datasync();
  await syncFolder(folder);
}

interface OpenFile {
  readonly file: string;
  readonly handle: FileHandle;
  readonly content: JournalContent;
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
}

class FileJournal implements Journal {
  readonly #open: OpenFile;
  readonly #entries: Map<string, JournalEntry>;
  readonly #byKey = createMutex();
  readonly #inOrder = createMutex();
  readonly #creates = new Set<Promise<number>>();
  /** Ends the creates in progress. */
  readonly #stop = new AbortController();
  /** Why nothing more is written: a write has failed, or the lock is lost. */
  #failure: unknown;

  constructor(file: OpenFile) {
    this.#open = file;
    this.#entries = file.content.entries;
    const fail = (): void => this.#fail(lostTo(file.file, file.lost.reason));
    if (file.lost.aborted) fail();
    else file.lost.addEventListener('abort', fail);
  }

  get(key: string): JournalEntry | undefined {
    return this.#entries.get(key);
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
    const created = this.#byKey(key, () => this.#create(namespace, key, canonicalText(body), options));
    this.#creates.add(created);
    return created.finally(() => this.#creates.delete(created));
  }

  async #create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    text: string,
    { signal, maxRetries }: JournalCreateOptions,
  ): Promise<number> {
    check(typeof key === 'string' && key !== '', 'The `key` of a create must be a non-empty string.');
    const idempotencyKey = this.#keyOf(key, text);
    this.#checkBody(key, idempotencyKey);
    const { id, at } = this.get(key) ?? {};
    if (id !== undefined) return id;
    this.#stop.signal.throwIfAborted();
    const deadline = at && this.#timeLeft(key, at);
    if (!at) await this.#append({ key, sent: idempotencyKey, at: new Date().toISOString() });
    const scope = new AbortScope({ parents: [signal, this.#stop.signal] });
    const creating = namespace.create(JSON.parse(text) as Body, {
      idempotencyKey,
      onConflict: 'wait',
      signal: scope.signal,
      ...(maxRetries !== undefined && { maxRetries }),
      ...(deadline !== undefined && { deadline }),
      ...{ [CONFLICT_ADVICE]: KEPT },
    });
    try {
      const created = await creating;
      await this.#append({ key, id: created.id });
      return created.id;
    } catch (error) {
      // A 409 never voids a create, whatever it says: one that is misread would later be created twice.
      if (ConflictError.isInstance(error)) throw withDetails(error, { outcome: 'unknown' }, '');
      const { outcome } = creating;
      const isVoid = outcome === 'not-sent' || outcome === 'refused';
      if (!isVoid || this.#failure) throw error;
      if (!at) await this.#append({ key, refused: idempotencyKey });
      // The refusal of a repetition says nothing about the request before the crash.
      else if (AudienceError.isInstance(error))
        throw withDetails(error, { outcome: 'unknown' }, this.#repeated(key, at));
      throw error;
    } finally {
      scope.dispose();
    }
  }

  async forget(key: string): Promise<void> {
    await this.#byKey(key, async () => {
      if (this.get(key)) await this.#append({ key, forget: true });
    });
  }

  finish(key: string, done: JsonObject): Promise<void> {
    return this.#append({ key, done });
  }

  async close(): Promise<void> {
    this.#stop.abort(new ConfigurationError('The journal was closed.', { advice: 'Open it again.' }));
    await Promise.allSettled(this.#creates);
    await this.#open.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Writes a line, and flushes it to the disk. After a failure, nothing more is written: lines would follow a part of one. */
  #append(line: JournalLine): Promise<void> {
    const { file, handle } = this.#open;
    return this.#inOrder(file, async () => {
      if (this.#failure !== undefined) throw this.#failure;
      try {
        await writing(file, async () => {
          await handle.appendFile(`${JSON.stringify(line)}\n`);
          await handle.datasync();
        });
      } catch (error) {
        this.#fail(error);
        throw error;
      }
      this.#entries.set(line.key, entryAfter(this.get(line.key), line));
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop.abort(this.#failure);
  }

  /** Returns the idempotency key for a body. A changed body, or a key that was forgotten, never meets an earlier one. */
  #keyOf(key: string, text: string): string {
    const identity = [this.#open.content.id, key, this.get(key)?.forgotten ?? 0, text];
    return `journal-${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
  }

  #checkBody(key: string, idempotencyKey: string): void {
    const { id, sent = idempotencyKey, at } = this.get(key) ?? {};
    if (sent === idempotencyKey) return;
    const details = { code: 'body-changed', path: this.#open.file, key } as const;
    if (id !== undefined) {
      const message = `"${key}" was created with another body, with the id ${id}. A key stands for one body.`;
      throw new JournalError(message, { ...details, advice: 'Use another key.' });
    }
    const message = `The outcome of "${key}" is not known, and its body has changed.`;
    const advice = `Create it once with its body of ${at?.toISOString()}, then change it. If the service refuses that body: ${this.#byHand(key)}`;
    throw new JournalError(message, { ...details, outcome: 'unknown', advice });
  }

  #timeLeft(key: string, at: Date): number {
    const left = timeToRepeat(at);
    if (left > 0) return left;
    const message = `"${key}" was sent at ${at.toISOString()}, its response was lost, and the service has forgotten its key since.`;
    const advice = `To settle it by hand: ${this.#byHand(key)}`;
    throw new JournalError(message, {
      code: 'outcome-expired',
      path: this.#open.file,
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
    const [existing, missing] = [`{"key":${JSON.stringify(key)},"id":<its id>}`, JSON.stringify({ key, forget: true })];
    return `look for it in the list, by name and time. If it is there, add the line ${existing} to ${this.#open.file}; if not, ${missing}.`;
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

function lockedBy(path: string): JournalError {
  return new JournalError(`Another run uses ${path}. Nothing was sent.`, { code: 'journal-locked', path });
}

function lostTo(path: string, cause: unknown): JournalError {
  const message = `The lock of ${path} was lost: this process was suspended, and another one may have taken the journal over. It creates nothing more.`;
  return new JournalError(message, { code: 'journal-locked', path, cause, advice: 'Run it again.' });
}
