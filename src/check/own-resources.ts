import { type Attempts, noteNotFound, read, type Session, tryCandidates } from './check-session.ts';
import {
  envelopeOf,
  type Found,
  invalidFields,
  isMissing,
  type Reply,
  type Row,
  resourceIn,
  rowsIn,
} from './evidence.ts';
import type { Journal, JournalEntry } from './journal.ts';

/** Time for which a create can be repeated under its key: an hour less than the service keeps it. */
const REPEAT_WINDOW_MS = 23 * 3_600_000;

/** Namespaces in which a check creates something, on purpose or because a service accepts what it must refuse. */
export type Creatable = JournalEntry['kind'];

/** Result of a create: a resource, or the fields that were refused. */
export interface CreateResult {
  readonly resource?: Found<Row>;
  readonly refused?: readonly string[];
}

/** Creates resources and deletes them, so that a killed check leaves nothing that the next one could not delete. */
export class OwnResources {
  readonly #session: Session;
  readonly #journal: Journal;
  /** Ids that the lists have shown. */
  readonly #listed = new Set<number>();
  /** Present entry of the journal. */
  #entry: JournalEntry | undefined;

  constructor(session: Session, journal: Journal) {
    this.#session = session;
    this.#journal = journal;
  }

  /** Returns the ids of what exists. */
  get ids(): readonly number[] {
    return this.#entry?.ids ?? [];
  }

  /** Tries the candidates of a create. An unknown outcome is resolved by the same key at the same path, never another one. */
  async create(kind: Creatable, body: unknown, why: string): Promise<Attempts<CreateResult>> {
    const name = `${kind}.create` as const;
    const attempts = await tryCandidates<CreateResult>(this.#session, name, {
      send: async ({ path }) => {
        await this.#keep({ kind, path, key: crypto.randomUUID(), body, at: this.#session.probe.now, ids: [] });
        return this.repeat(why);
      },
      judge: async (reply) => {
        const resource = resourceIn(envelopeOf(reply));
        if (resource) return { resource };
        const refused = invalidFields(reply);
        return refused && refused.length > 0 ? { refused } : undefined;
      },
    });
    const { match, ended } = attempts;
    // Kept only if something exists, or may exist.
    const isUncertain =
      ended && (ended.status === 0 || ended.status >= 500 || (ended.status >= 200 && ended.status < 300));
    if (!match?.result.resource && !isUncertain) await this.#keep(undefined);
    return attempts;
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

  /** Deletes everything that was created; returns the result for the path of deletes. */
  async deleteAll(): Promise<Attempts<Reply> | undefined> {
    let result: Attempts<Reply> | undefined;
    const entry = this.#entry;
    if (!entry) return undefined;
    const space = spaceOf(entry);
    for (const id of entry.ids) {
      if (!this.#listed.has(id)) await this.readList(space, id);
      result = await this.#delete(space, id);
      if (!result.match) break;
      await this.#forget(id);
    }
    return result;
  }

  /**
   * Deletes what a killed check has left. If its id is not known, the create is repeated under its key to learn it.
   *
   * @returns whether nothing is left.
   */
  async recover(): Promise<boolean> {
    const { probe } = this.#session;
    this.#entry = await this.#journal.load();
    if (!this.#entry) return true;
    this.#session.onStep('What an earlier check has left');
    for (const id of this.#entry.ids) probe.own(id);
    if (this.#entry.ids.length === 0) {
      const isTooLate = probe.now - this.#entry.at > REPEAT_WINDOW_MS;
      const reply = isTooLate ? undefined : await this.repeat('the create of an earlier check, to learn its id');
      if (!reply || isMissing(reply.status) || reply.status === 422) {
        if (!reply) this.#session.left = LEFT;
        await this.#keep(undefined);
        return true;
      }
      if (this.#entry.ids.length === 0) return false;
    }
    // The check may have been killed after a delete.
    for (const id of this.#entry.ids) if (await this.#isGone(spaceOf(this.#entry), id)) await this.#forget(id);
    await this.deleteAll();
    return this.#entry === undefined;
  }

  /** Says what is left, if something is. */
  noteLeft(): void {
    if (this.#entry) this.#session.left = LEFT;
  }

  /** Removes the id of something that is deleted. */
  async #forget(id: number): Promise<void> {
    const ids = this.ids.filter((other) => other !== id);
    await this.#keep(this.#entry && ids.length > 0 ? { ...this.#entry, ids } : undefined);
  }

  async #keep(entry: JournalEntry | undefined): Promise<void> {
    await this.#journal.save(entry);
    this.#entry = entry;
  }

  /** Tries the candidates of a delete until the resource is gone. */
  #delete(space: Space, id: number): Promise<Attempts<Reply>> {
    const { probe } = this.#session;
    return tryCandidates<Reply>(this.#session, `${space}.delete`, {
      isRepeatable: true,
      send: ({ method, path, idField }) =>
        probe.send({
          method,
          path,
          ...(idField ? { body: { [idField]: id } } : { id }),
          why: 'delete what the check has created',
          isCleanup: true,
        }),
      judge: async (reply) => {
        if (isMissing(reply.status) || (reply.status >= 400 && reply.status < 500)) return undefined;
        const isGone = await this.#isGone(space, id);
        return isGone ? reply : undefined;
      },
    });
  }

  /** Reads the list of a kind, and keeps whether it has a resource: then its absence shows later that it is deleted. */
  async readList(space: Space, id: number): Promise<Found<readonly Row[]> | undefined> {
    const list = this.#session.working.get(`${space}.list`);
    const rows = list && rowsIn(envelopeOf(await read(this.#session, 'the list with what was created')(list)));
    if (rows?.value.some((row) => row.id === id)) this.#listed.add(id);
    else this.#listed.delete(id);
    return rows;
  }

  /** Returns whether a deleted resource is gone: its GET is refused, or the list does not have it any longer. */
  async #isGone(space: Space, id: number): Promise<boolean> {
    const get = this.#session.working.get(`${space}.get`);
    const reply = get && (await read(this.#session, 'is it deleted?', { id })(get));
    if (reply && isMissing(reply.status)) {
      noteNotFound(this.#session, reply);
      return true;
    }
    if (!this.#listed.has(id)) return false;
    const rows = await this.readList(space, id);
    return rows !== undefined && !this.#listed.has(id);
  }
}

/** Namespaces with a delete in which a check may have created something. */
type Space = 'projects' | 'audiences' | 'activations';

/** Lookalikes are audiences once they are created. */
const spaceOf = ({ kind }: JournalEntry): Space => (kind === 'lookalikes' ? 'audiences' : kind);

/** Says what to do about something that a check has left. */
export const LEFT =
  'Something named `audience-check …` may be left of a check. Run it with --write, which deletes it, or delete it in the console.';
