import { findPath, noteNotFound, notePlace, read, type SearchResult, type Session } from './check-session.ts';
import { envelopeOf, isMissing, type Reply, type Row, resourceIn, rowsIn } from './evidence.ts';
import type { Journal, JournalEntry } from './journal.ts';

/** Time for which a create can be repeated under its key: an hour less than the service keeps it. */
const REPEAT_WINDOW_MS = 23 * 3_600_000;

/** Namespaces in which a check creates something, on purpose or because a service accepts what it must refuse. */
export type Creatable = JournalEntry['kind'];

/** Creates resources and deletes them, so that a killed check leaves nothing that the next one could not delete. */
export class OwnResources {
  readonly #session: Session;
  readonly #journal: Journal;
  /** Present entry of the journal. */
  #entry: JournalEntry | undefined;
  /** True if something may exist whose id can no longer be learned. */
  hasLost = false;

  constructor(session: Session, journal: Journal) {
    this.#session = session;
    this.#journal = journal;
  }

  /** True if nothing exists that the check has created, and nothing may exist. */
  get isClean(): boolean {
    return this.#entry === undefined;
  }

  /** Tries the candidates of a create. An unknown outcome is resolved by the same key at the same path, never another one. */
  async create(kind: Creatable, body: unknown, why: string): Promise<SearchResult<Row>> {
    const result = await findPath(this.#session, `${kind}.create`, {
      send: async ({ path }) => {
        await this.#keep({ kind, path, key: crypto.randomUUID(), body, at: this.#session.probe.now, ids: [] });
        return this.repeat(why);
      },
      judge: (reply) => resourceIn(envelopeOf(reply)),
      evidence: () => 'The response has what was created.',
    });
    // Kept only if something exists, or may exist: a 409 says that the key was used.
    const { status = 404 } = result.reply ?? {};
    if (status >= 300 && status < 500 && status !== 409) await this.#keep(undefined);
    return result;
  }

  /** Sends the create of the journal again, under its key; with another body, to see the conflict. */
  async repeat(why: string, body?: unknown): Promise<Reply> {
    const entry = this.#entry;
    if (!entry) throw new Error('Nothing was created.');
    const { probe } = this.#session;
    const headers = { 'idempotency-key': entry.key };
    const send = (): Promise<Reply> =>
      probe.send({ method: 'POST', path: entry.path, headers, body: body ?? entry.body, why });
    const first = await send();
    const reply = first.status === 0 || first.status >= 500 ? await send() : first;
    const id = resourceIn(envelopeOf(reply))?.value.id;
    if (id !== undefined) {
      probe.own(id);
      if (!entry.ids.includes(id)) await this.#keep({ ...entry, ids: [...entry.ids, id] });
    }
    return reply;
  }

  /** Deletes everything that was created, until a delete fails. */
  async deleteAll(): Promise<void> {
    for (const id of this.#entry?.ids ?? []) if (!(await this.#delete(id))) return;
  }

  /** Deletes what a killed check has left. If its id is not known, the create is repeated under its key to learn it. */
  async recover(): Promise<void> {
    const { probe, onStep } = this.#session;
    const entry = await this.#journal.load();
    if (!entry) return;
    onStep('What an earlier check has left');
    this.#entry = entry;
    for (const id of entry.ids) probe.own(id);
    if (entry.ids.length === 0) await this.#learnId(entry);
    // The check may have been killed after a delete.
    for (const id of this.#entry?.ids ?? []) if (await this.#isRefused(id)) await this.#forget(id);
    await this.deleteAll();
  }

  async #learnId({ at }: JournalEntry): Promise<void> {
    this.hasLost = this.#session.probe.now - at > REPEAT_WINDOW_MS;
    if (this.hasLost) return this.#keep(undefined);
    const reply = await this.repeat('the create of an earlier check, to learn its id');
    if (isMissing(reply.status) || reply.status === 422) await this.#keep(undefined);
  }

  async #keep(entry: JournalEntry | undefined): Promise<void> {
    await this.#journal.save(entry);
    this.#entry = entry;
  }

  /** Removes the id of something that is deleted. */
  async #forget(id: number): Promise<void> {
    const ids = this.#entry?.ids.filter((other) => other !== id) ?? [];
    await this.#keep(this.#entry && ids.length > 0 ? { ...this.#entry, ids } : undefined);
  }

  /** Namespace of what exists, with reads and a delete. Lookalikes are audiences once they are created. */
  get #space() {
    const kind = this.#entry?.kind ?? 'projects';
    return kind === 'lookalikes' ? 'audiences' : kind;
  }

  /** Tries the candidates of a delete until the resource is gone: its GET is refused, or the list has lost it. */
  async #delete(id: number): Promise<boolean> {
    const { probe } = this.#session;
    const wasListed = await this.#isListed(id);
    const { value: isDeleted = false } = await findPath(this.#session, `${this.#space}.delete`, {
      send: ({ method, path, idField }) =>
        probe.send({
          method,
          path,
          ...(idField ? { body: { [idField]: id } } : { id }),
          why: 'delete what the check has created',
          isCleanup: true,
        }),
      judge: async ({ status }) => {
        if (status >= 400 && status < 500) return undefined;
        const isGone = (await this.#isRefused(id)) || (wasListed && !(await this.#isListed(id)));
        return isGone ? { place: 'data', value: isGone } : undefined;
      },
      evidence: () => 'What was created is gone.',
    });
    if (isDeleted) await this.#forget(id);
    return isDeleted;
  }

  /** Returns whether the list has a resource. */
  async #isListed(id: number): Promise<boolean> {
    const name = `${this.#space}.list` as const;
    const list = this.#session.candidates.working(name);
    const rows = list && rowsIn(envelopeOf(await read(this.#session, 'the list with what was created')(list)));
    const isListed = rows?.value.some((row) => row.id === id) ?? false;
    if (rows && isListed) notePlace(this.#session, name, rows);
    return isListed;
  }

  /** Returns whether the GET of a resource is refused. */
  async #isRefused(id: number): Promise<boolean> {
    const get = this.#session.candidates.working(`${this.#space}.get`);
    const reply = get && (await read(this.#session, 'is it deleted?', { id })(get));
    if (!reply || !isMissing(reply.status)) return false;
    noteNotFound(this.#session, reply);
    return true;
  }
}
