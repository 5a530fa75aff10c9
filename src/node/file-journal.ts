import { createHash } from 'node:crypto';
import { CONFLICT_ADVICE } from '../client/index.ts';
import { ConflictError, ValidationError } from '../errors/api-errors.ts';
import { AudienceError, ConfigurationError, check, withDetails } from '../errors/audience-error.ts';
import type { AudienceClient } from '../index.ts';
import type { CohortCreate } from '../spec/cohort.ts';
import { timeToRepeat } from '../spec/limits.ts';
import type { JsonObject } from '../spec/wire-values.ts';
import { AbortScope } from '../util/abort.ts';
import { messageOf } from '../util/callbacks.ts';
import { createMutex } from '../util/concurrency.ts';
import { formatValue } from '../util/input-checks.ts';
import { isObject } from '../util/json.ts';
import type { Journal, JournalCreateOptions, JournalImportOptions, JournalNamespace } from './journal.ts';
import type { JournalAccount } from './journal-account.ts';
import type { JournalFile } from './journal-file.ts';
import { type ImportInput, identify } from './journal-import.ts';
import type { ImportedFile, JournalEntry } from './journal-lines.ts';
import { bodyChanged, expired, KEPT, kindChanged, otherToken, repeated } from './journal-texts.ts';

/**
 * A create request. `text` is its body with sorted fields and, instead of an upload reference, the hash of the file.
 */
interface Intent<Body> {
  readonly key: string;
  readonly text: string;
  readonly body: Body;
  readonly file?: ImportedFile;
}

/** Parameters of a {@link FileJournal}. */
interface OpenJournal {
  readonly file: JournalFile;
  readonly client: AudienceClient;
  readonly account: JournalAccount;
  readonly release: () => Promise<void>;
}

/** A journal in an open file. */
export class FileJournal implements Journal {
  readonly #open: OpenJournal;
  readonly #byKey = createMutex();
  readonly #creates = new Set<Promise<number>>();

  constructor(open: OpenJournal) {
    this.#open = open;
  }

  get(key: string): JournalEntry | undefined {
    return this.#open.file.entries.get(key);
  }

  find(key: string, body: unknown): number | undefined {
    this.#checkBody(key, canonicalText(body));
    return this.get(key)?.id;
  }

  create<Body>(
    namespace: JournalNamespace<Body>,
    key: string,
    body: NoInfer<Body>,
    options: JournalCreateOptions = {},
  ): Promise<number> {
    return this.#inTurn(key, options, async (scoped) => {
      const text = canonicalText(body);
      const id = this.#existing(namespace, key, text);
      return id ?? this.#send(namespace, { key, text, body: JSON.parse(text) }, scoped);
    });
  }

  import(
    namespace: JournalNamespace<CohortCreate>,
    key: string,
    input: ImportInput,
    fields: Omit<CohortCreate, 'upload_reference'>,
    options: JournalImportOptions = {},
  ): Promise<number> {
    return this.#inTurn(key, options, async (scoped) => {
      const earlier = this.get(key)?.file;
      const { content, open } = await identify(input, earlier);
      // A repeated import may have another upload reference, but the content of the file must be the same.
      const text = canonicalText({ ...fields, upload_reference: `sha256:${content.hash}` });
      const id = this.#existing(namespace, key, text);
      if (id !== undefined) return id;
      const claim = (reference: string): Promise<number> => {
        const body = { ...JSON.parse(text), upload_reference: reference };
        return this.#send(namespace, { key, text, body, file: { ...content, reference } }, scoped);
      };
      const upload = async (): Promise<string> =>
        (await this.#open.client.uploads.upload({ kind: 'cohort', data: await open() }, scoped)).reference;
      const reference = earlier?.reference ?? (await upload());
      try {
        return await claim(reference);
      } catch (error) {
        // The slot has expired: upload the file again. If the earlier claim created the cohort, the service refuses a
        // new claim with the same key.
        if (!ValidationError.isInstance(error) || !error.errors.upload_reference) throw error;
        return claim(await upload());
      }
    });
  }

  async resolve(key: string, id: number): Promise<void> {
    check(
      typeof key === 'string' && key !== '',
      `The \`key\` of \`resolve\` must be a non-empty string, not ${formatValue(key)}.`,
    );
    check(Number.isSafeInteger(id), `The id of "${key}" must be an integer, such as 12, not ${formatValue(id)}.`);
    await this.#byKey(key, async () => {
      const existing = this.get(key)?.id;
      if (existing === id) return;
      check(
        existing === undefined,
        `"${key}" already has the id ${existing}, not ${id}: forget the key before you resolve it.`,
      );
      await this.#open.file.append({ key, id });
    });
  }

  async forget(key: string): Promise<void> {
    await this.#byKey(key, async () => {
      if (this.get(key)) await this.#open.file.append({ key, forget: true });
    });
  }

  finish(key: string, done: JsonObject): Promise<void> {
    return this.#open.file.append({ key, done });
  }

  async close(): Promise<void> {
    this.#open.file.stop.abort(new ConfigurationError('The journal was closed.', { advice: 'Open it again.' }));
    await Promise.allSettled(this.#creates);
    await this.#open.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Runs the create requests for a key one after another. Their signal also aborts if the journal becomes unwritable.
   */
  #inTurn<Options extends JournalCreateOptions>(
    key: string,
    options: Options,
    create: (scoped: Options & { readonly signal: AbortSignal }) => Promise<number>,
  ): Promise<number> {
    const created = this.#byKey(key, async () => {
      const scope = new AbortScope({ parents: [options.signal, this.#open.file.stop.signal] });
      return create({ ...options, signal: scope.signal }).finally(() => scope.dispose());
    });
    this.#creates.add(created);
    return created.finally(() => this.#creates.delete(created));
  }

  /** Returns the id of a key. Throws if the key is bound to another body or another namespace. */
  #existing(namespace: JournalNamespace<never>, key: string, text: string): number | undefined {
    check(
      typeof key === 'string' && key !== '',
      `The \`key\` of a create request must be a non-empty string, not ${formatValue(key)}.`,
    );
    check(
      typeof namespace?.create === 'function',
      `"${key}" was not sent: the first argument must be a namespace with \`create\`, such as \`client.audiences\`.`,
    );
    const { resourceName } = namespace;
    const entry = this.get(key);
    if (entry?.kind !== undefined && resourceName !== undefined && entry.kind !== resourceName)
      throw kindChanged(this.#open.file.path, key, entry, resourceName);
    this.#checkBody(key, text);
    return entry?.id;
  }

  #checkBody(key: string, text: string): void {
    const entry = this.get(key);
    if (entry?.sent !== undefined && entry.sent !== this.#keyOf(key, text))
      throw bodyChanged(this.#open.file.path, key, entry);
  }

  /**
   * Returns the idempotency key for a body. After a change of the body or after `forget`, returns a new idempotency
   * key.
   */
  #keyOf(key: string, text: string): string {
    const identity = [this.#open.file.id, key, this.get(key)?.forgotten ?? 0, text];
    return `journal-${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
  }

  async #send<Body>(
    namespace: JournalNamespace<Body>,
    intent: Intent<Body>,
    { signal, maxRetries }: JournalCreateOptions & { readonly signal: AbortSignal },
  ): Promise<number> {
    const { file, account } = this.#open;
    const { key, body } = intent;
    file.stop.signal.throwIfAborted();
    const { at } = this.get(key) ?? {};
    if (at && timeToRepeat(at) <= 0) throw expired(file.path, key, at);
    const idempotencyKey = await this.#record(namespace.resourceName, intent, signal);
    const creating = namespace.create(body, {
      idempotencyKey,
      onConflict: 'wait',
      signal,
      ...(maxRetries !== undefined && { maxRetries }),
      ...(at && { deadline: timeToRepeat(at) }),
      ...{ [CONFLICT_ADVICE]: KEPT },
    });
    try {
      const created = await creating;
      const creator = account.creator(created);
      await file.append({ key, id: created.id, ...(creator !== undefined && { account: creator }) });
      return created.id;
    } catch (error) {
      // After a 409, keep the create request in the journal whatever the message says. If the client misread the
      // message, the next run would create the resource twice.
      if (ConflictError.isInstance(error)) throw withDetails(error, { outcome: 'unknown' }, '');
      const { outcome } = creating;
      const isVoid = outcome === 'not-sent' || outcome === 'refused';
      if (!isVoid || file.failure !== undefined) throw error;
      if (!at) await file.append({ key, refused: idempotencyKey });
      // The refusal of a repeated request does not show what happened to the request before the crash.
      else if (AudienceError.isInstance(error)) throw withDetails(error, { outcome: 'unknown' }, repeated(key, at));
      throw error;
    }
  }

  /**
   * Records a create request before the client sends it, even if the journal already contains the request. Returns the
   * idempotency key.
   */
  async #record(kind: string | undefined, { key, text, file }: Intent<unknown>, signal: AbortSignal): Promise<string> {
    const { file: journal, account } = this.#open;
    const { at, by: sender } = this.get(key) ?? {};
    const sent = this.#keyOf(key, text);
    if (at && !(await account.trusts(sender, signal))) throw otherToken(journal.path, key, at);
    const by = await account.by(signal);
    const fields = { ...(kind !== undefined && { kind }), ...(by !== undefined && { by }), ...(file && { file }) };
    await journal.append({ key, sent, at: (at ?? new Date()).toISOString(), ...fields });
    return sent;
  }
}

/** Returns a body as JSON with sorted fields. */
function canonicalText(body: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(body, (_, value: unknown) =>
      isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
    );
  } catch (cause) {
    throw new ConfigurationError(`The \`body\` of a create request must be JSON: ${messageOf(cause)}`, { cause });
  }
  if (!text?.startsWith('{')) throw new ConfigurationError('The `body` of a create request must be an object.');
  return text;
}
