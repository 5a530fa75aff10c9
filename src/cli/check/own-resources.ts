import { valueAt } from '../../util/json.ts';
import { findPath, notePlace, read, type SearchResult, type Session } from './check-session.ts';
import {
  envelopeOf,
  type Found,
  type Id,
  isMissing,
  isRow,
  isSameId,
  type Kind,
  type Reply,
  type Row,
  resourceIn,
  rowsIn,
  valuesIn,
} from './evidence.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { readAllRows } from './paging-steps.ts';

/** Time for which a create can be repeated under its key: an hour less than the service keeps it. */
const REPEAT_WINDOW_MS = 23 * 3_600_000;

/** Rows of a list that appeared after a create, and are read to see whether one is what was created. */
const MAX_NEW_ROWS = 3;

/** Namespaces in which a check creates something, on purpose or because a service accepts what it must refuse. */
export type Creatable = JournalEntry['kind'];

/** A namespace with reads and a delete. */
type Space = Exclude<Creatable, 'lookalikes'>;

/** Returns the namespace with the reads and the delete of what is created. Lookalikes are audiences then. */
const spaceOf = (kind: Creatable): Space => (kind === 'lookalikes' ? 'audiences' : kind);

/** Returns the random part of the name that a create has sent. */
const markOf = ({ body }: Pick<JournalEntry, 'body'>): string =>
  /audience-check ([0-9a-f]{32})/.exec(JSON.stringify(body))?.[1] ?? '';

/** Says what a check has left, where, and what to do. */
export const leftText = (entry: JournalEntry): string =>
  `\`audience-check ${markOf(entry)}\` may be left among the ${spaceOf(entry.kind)} of the account. A check with --write deletes it, if it can tell that it is its own; else delete it in the console.`;

/**
 * Creates resources and deletes them, so that a killed check leaves nothing that the next one could not delete. Its own is
 * only what no list had before, and what a GET shows with the random name that was sent: the response to the create
 * proves nothing.
 */
export class OwnResources {
  readonly #session: Session;
  readonly #journal: Journal;
  /** Present entry of the journal. */
  #entry: JournalEntry | undefined;
  /** Ids in the lists before the first create, by namespace. */
  readonly #before = new Map<Kind, readonly Id[]>();
  /** Something that may exist, and whose id can no longer be learned. */
  lost: JournalEntry | undefined;

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
    const { probe, findings, payloads, candidates } = this.#session;
    const id = `path:${kind}.create`;
    const space = spaceOf(kind);
    const before = await this.#idsBefore(space);
    if (!before || candidates.isHeldBack(`${space}.delete`)) {
      const reason = `Nothing is created: ${before ? 'the check must not call the delete of the contract' : `the ${space} cannot be read to the last one, so what is created could be mistaken for another one`}.`;
      findings.unclear(`body:${kind}.create`, reason);
      return {};
    }
    const result = await findPath(this.#session, `${kind}.create`, {
      send: async ({ path }) => {
        await this.#keep({ kind, path, key: crypto.randomUUID(), body, at: probe.now, ids: [], before });
        return this.#send(why);
      },
      judge: (reply) => this.#adopt(reply),
      evidence: () => 'A GET of the id in the response has the name that was sent.',
    });
    const { status = 404, body: received } = result.reply ?? {};
    // Kept only if something exists, or may exist: a 409 says that the key was used.
    if (status >= 300 && status < 500 && status !== 409) await this.#keep(undefined);
    if (status < 200 || status > 299) return result;
    const place = (result.place || 'data').split('.');
    if (envelopeOf(result.reply)) payloads.push({ namespace: space, data: valueAt(received, place), verb: 'create' });
    if (result.value && result.place !== '') return result;
    // What was created is not where the client reads it.
    const value = result.value ?? (await this.#adoptListed());
    const ids = idsIn(result.reply).map(({ value: one }) => one);
    const isKnown = ids.some((one) => includesId(before, one));
    const isNew = ids.length > 0 && !isKnown && result.place !== '';
    const lack = ids.length === 0 || result.place === '' ? 'no id in its body' : 'the id of something else';
    if (!value && isNew)
      findings.set(id, 'likely', 'The response has a new id, and a GET of it does not have the name that was sent.');
    else findings.set(id, 'differs', `The response to the create (${status}) has ${lack}.`, { breaks: true });
    return { ...result, ...(value && { value }) };
  }

  /** Sends the create of the journal again, under its key; with another body, to see the conflict. */
  async repeat(why: string, body?: unknown): Promise<{ readonly reply: Reply; readonly id: Id | undefined }> {
    const reply = await this.#send(why, body);
    return { reply, id: (await this.#adopt(reply))?.value.id };
  }

  async #send(why: string, body?: unknown): Promise<Reply> {
    const entry = this.#entry;
    if (!entry) throw new Error('Nothing was created.');
    const { probe } = this.#session;
    const headers = { 'idempotency-key': entry.key };
    const request = { method: 'POST', path: entry.path, headers, body: body ?? entry.body, why } as const;
    const first = await probe.send(request);
    if (first.status > 0 && first.status < 500) return first;
    const second = await probe.send(request);
    // Both may have created something.
    await this.#adoptListed();
    return second;
  }

  /** Deletes everything that was created, until a delete fails. */
  async deleteAll(): Promise<void> {
    for (const id of this.#entry?.ids ?? []) if (!(await this.#delete(id))) return;
  }

  /** Deletes what was created by a check that is interrupted, in a few seconds. */
  async cleanUp(): Promise<void> {
    if (!this.#entry) return;
    this.#session.probe.endSoon();
    try {
      if (this.#entry.ids.length === 0) await this.#adoptListed();
      await this.deleteAll();
    } catch {
      // It stays in the journal, for the next check.
    }
  }

  /** Deletes what a killed check has left. If its id is not known, the create is repeated under its key to learn it. */
  async recover(): Promise<void> {
    const { onStep } = this.#session;
    const entry = await this.#journal.load();
    if (!entry) return;
    onStep('What an earlier check has left');
    this.#entry = entry;
    for (const id of entry.ids) {
      // The check may have been killed after a delete.
      if (await this.#isRefused(id)) await this.#forget(id);
      else if (!(await this.#adoptId(id))) return;
    }
    if (entry.ids.length === 0 && !(await this.#adoptListed())) await this.#learnId(entry);
    await this.deleteAll();
  }

  async #learnId(entry: JournalEntry): Promise<void> {
    if (this.#session.probe.now - entry.at > REPEAT_WINDOW_MS) {
      this.lost = entry;
      return this.#keep(undefined);
    }
    const reply = await this.#send('the create of an earlier check, to learn its id');
    if (isMissing(reply.status) || reply.status === 422) return this.#keep(undefined);
    await this.#adopt(reply);
  }

  /** Returns the ids that a list has before something is created; `undefined` if they cannot be known. */
  async #idsBefore(space: Space): Promise<readonly Id[] | undefined> {
    const existing = this.#before.get(space);
    if (existing) return existing;
    const rows = await readAllRows(this.#session, space);
    // What cannot be read could not be told from another resource.
    if (!rows || (rows.length > 0 && !this.#session.candidates.working(`${space}.get`))) return undefined;
    const ids = rows.map(({ id }) => id);
    this.#before.set(space, ids);
    return ids;
  }

  /** Returns what was created, if a response names it, and keeps its id. Its place is empty if it is not in the body. */
  async #adopt(reply: Reply): Promise<Found<Row> | undefined> {
    for (const { place, value } of idsIn(reply)) {
      const row = await this.#adoptId(value);
      if (row) return { place, value: row };
    }
    return undefined;
  }

  /** Searches the list for what was created, and keeps its ids. Returns the last one. */
  async #adoptListed(): Promise<Row | undefined> {
    const entry = this.#entry;
    const rows = entry?.before && (await readAllRows(this.#session, this.#space));
    if (!entry || !rows) return undefined;
    const isNamed = (row: Row): boolean => JSON.stringify(row).includes(markOf(entry));
    const fresh = rows.filter(({ id }) => !includesId(entry.before, id));
    const likely = fresh.some(isNamed) ? fresh.filter(isNamed) : fresh.slice(0, MAX_NEW_ROWS);
    let adopted: Row | undefined;
    for (const { id } of likely) adopted = (await this.#adoptId(id)) ?? adopted;
    return adopted;
  }

  /** Returns a resource and keeps its id, if it is certainly one that this check has created. */
  async #adoptId(id: Id): Promise<Row | undefined> {
    const entry = this.#entry;
    if (!entry?.before || includesId(entry.before, id)) return undefined;
    const mark = markOf(entry);
    const name = `${this.#space}.get` as const;
    const search = {
      send: read(this.#session, 'is it what was created?', { id }),
      judge(reply: Reply): Found<Row> | undefined {
        const resource = resourceIn(envelopeOf(reply), id);
        return mark !== '' && resource && JSON.stringify(resource.value).includes(mark) ? resource : undefined;
      },
      evidence: () => 'The response has the id of what was created.',
    };
    const get = this.#session.candidates.working(name);
    const { value } = get
      ? { value: search.judge(await search.send(get))?.value }
      : await findPath(this.#session, name, search);
    if (!value) return undefined;
    this.#session.probe.own(id);
    if (!includesId(entry.ids, id)) await this.#keep({ ...entry, ids: [...entry.ids, id] });
    return value;
  }

  async #keep(entry: JournalEntry | undefined): Promise<void> {
    await this.#journal.save(entry);
    this.#entry = entry;
  }

  /** Removes the id of something that is deleted. */
  async #forget(id: Id): Promise<void> {
    const ids = this.#entry?.ids.filter((other) => other !== id) ?? [];
    await this.#keep(this.#entry && ids.length > 0 ? { ...this.#entry, ids } : undefined);
  }

  get #space(): Space {
    return spaceOf(this.#entry?.kind ?? 'projects');
  }

  /** Tries the candidates of a delete until the resource is gone: its GET is refused, or the list has lost it. */
  async #delete(id: Id): Promise<boolean> {
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
  async #isListed(id: Id): Promise<boolean> {
    const name = `${this.#space}.list` as const;
    const list = this.#session.candidates.working(name);
    const rows = list && rowsIn(envelopeOf(await read(this.#session, 'the list with what was created')(list)));
    const isListed = includesId(
      rows?.value.map((row) => row.id),
      id,
    );
    if (rows && isListed) notePlace(this.#session, name, rows);
    return isListed;
  }

  /** Returns whether the GET of a resource is refused. */
  async #isRefused(id: Id): Promise<boolean> {
    const get = this.#session.candidates.working(`${this.#space}.get`);
    return get !== undefined && isMissing((await read(this.#session, 'is it deleted?', { id })(get)).status);
  }
}

/** Returns whether a list has an id. */
const includesId = (ids: readonly Id[] = [], id: Id): boolean => ids.some((other) => isSameId(other, id));

/** Returns the ids in the response to a create, outer ones first, and the last segment of its `Location`. */
function idsIn(reply: Reply | undefined): readonly Found<Id>[] {
  const { status = 0, headers } = reply ?? {};
  if (status < 200 || status > 299) return [];
  const ofBody = [...valuesIn(envelopeOf(reply))].flatMap(({ place, value }) =>
    [value].flat().flatMap((one) => (isRow(one) ? [{ place, value: one.id }] : [])),
  );
  const segment = /\/([\w-]+)\/?(?:[?#]|$)/.exec(headers?.get('location') ?? '')?.[1];
  const ofHeader =
    segment === undefined ? [] : [{ place: '', value: /^\d+$/.test(segment) ? Number(segment) : segment }];
  return [...ofBody, ...ofHeader];
}
