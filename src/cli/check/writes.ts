import { readConflict } from '../../client/index.ts';
import type { OperationName } from '../../spec/operations.ts';
import { isObject } from '../../util/json.ts';
import { parseTimestamp } from '../../util/timestamps.ts';
import {
  envelopeOf,
  type Id,
  invalidFields,
  isMissing,
  isRow,
  isSameId,
  objectIn,
  type Reply,
  type Row,
  resourceIn,
  rowsIn,
  valuesIn,
  zoneName,
  zoneOffset,
} from './evidence.ts';
import { HELD_BACK, placeOf, read, reasonOf, type Session } from './reads.ts';

/** Name of a project of a check: when it was created, and random characters that only its own project has. */
const NAME = /^audience-check (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) [0-9a-f]{32}$/;
/** Age of a project of another check after which that check has certainly ended. */
const LEFT_AFTER_MS = 3_600_000;
/** Pauses between reads of something that was just written: a replica may lag. Ten seconds in all. */
const LAG_PAUSES_MS: readonly number[] = [1_000, 2_000, 3_000, 4_000];

/** Precision of a time zone, as clocks differ. */
const HALF_A_QUARTER_MS = 7.5 * 60_000;

/** Decides whether projects of earlier checks are deleted, by their names. */
export type ConfirmDelete = (names: readonly string[]) => Promise<boolean>;

/** The writes of a check. */
export async function checkWrites(session: Session, confirmDelete: ConfirmDelete): Promise<void> {
  const { findings, paths, rows } = session;
  await checkUpload(session);
  const [list, get] = [paths.working('projects.list'), paths.working('projects.get')];
  const names = ['projects.create', 'projects.delete'] as const;
  const heldBack = names.filter((name) => !paths.isCallable(name));
  for (const name of heldBack) findings.unclear(`path:${name}`, HELD_BACK);
  // What cannot be listed could not be told from another resource.
  if (heldBack.length > 0 || list === undefined || (get === undefined && rows.get('projects')?.length))
    return undefined;
  return new ProjectFlow(session, list, get ?? paths.inEffect('projects.get').path).run(confirmDelete);
}

/** A project: create, the same key again, the key with another body, read, delete. */
class ProjectFlow {
  readonly #session: Session;
  readonly #list: string;
  readonly #get: string;
  readonly #key = crypto.randomUUID();
  readonly #mark = crypto.randomUUID().replaceAll('-', '');
  #before: readonly Row[] = [];
  /** Name of the project of this check, while it may exist. */
  #left: string | undefined;
  /** Projects that this check has certainly created. */
  readonly #own = new Map<string, Id>();
  readonly #deleting = new Set<Id>();

  constructor(session: Session, list: string, get: string) {
    this.#session = session;
    this.#list = list;
    this.#get = get;
  }

  async run(confirmDelete: ConfirmDelete): Promise<void> {
    const { probe, onStep, onLeft } = this.#session;
    onStep('A project: create, repeat, read, delete');
    this.#before = await this.#listed();
    await this.#deleteLeft(confirmDelete);
    const name = `audience-check ${new Date(probe.now).toISOString().slice(0, 19)}Z ${this.#mark}`;
    try {
      await this.#check(name);
      await this.#deleteOwn();
    } catch (error) {
      probe.endSoon();
      await this.#deleteOwn().catch(() => undefined);
      throw error;
    } finally {
      if (this.#left !== undefined) onLeft(this.#left);
    }
  }

  async #deleteOwn(): Promise<void> {
    if (this.#left !== undefined && this.#own.size === 0) await this.#adopt();
    if (this.#own.size === 0) return;
    for (const [key, id] of this.#own) if (await this.#delete(id, true)) this.#own.delete(key);
    if (this.#own.size === 0) this.#left = undefined;
  }

  async #check(name: string): Promise<void> {
    const { findings } = this.#session;
    const id = 'path:projects.create';
    this.#left = name;
    let reply = await this.#create({ name }, 'create a project');
    // The outcome is unknown: the same key once more.
    if (reply.status === 0 || reply.status >= 500) reply = await this.#create({ name }, 'the same create again');
    const { status } = reply;
    if (status >= 300 && status < 500 && status !== 409) this.#left = undefined;
    const fields = invalidFields(reply);
    const request = `\`POST ${this.#session.paths.inEffect('projects.create').path}\``;
    if (isMissing(status)) {
      await this.#session.probe.assertResponsive();
      return findings.set(id, 'differs', `${request} is refused (${status}).`, { breaks: true });
    }
    if (fields.length > 0) {
      const members = `body: (body) => ({ ...Object(body), ${fields.map((field) => `'${field}': complete('${field}')`).join(', ')} })`;
      const codes = [{ operation: 'projects.create', members }] as const;
      return findings.set(id, 'differs', `A 422 names these fields of the body: ${fields.join(', ')}.`, { codes });
    }
    if (status < 200 || status > 299) return findings.unclear(id, reasonOf(reply));
    const project = await this.#adopt(reply);
    const isRead = project && resourceIn(envelopeOf(reply), project.id, placeOf(this.#session, 'projects.create'));
    if (!project) return findings.set(id, 'differs', LACKS_OWN, { breaks: true });
    if (!isRead) findings.set(id, 'differs', `${request} responds (${status}) without the id.`, { breaks: true });
    else {
      findings.set(id, 'confirmed', 'A GET of the id in the response has the name that was sent.');
      const { place } = isRead;
      const setting = { operations: { 'projects.create': { data: place } } };
      const text = `The payload is at \`${place}\` of the response.`;
      if (place !== 'data') findings.set('data:projects.create', 'differs', text, { setting });
    }
    this.#noteZone(project, reply);
    await this.#checkKey(name, project);
  }

  #create(body: object, why: string): Promise<Reply> {
    const { path, method } = this.#session.paths.inEffect('projects.create');
    const headers = { 'idempotency-key': this.#key };
    return this.#session.probe.send({ method, path, body, headers, why });
  }

  /** The same key with the same body returns the same project, with another body a 409 that the client understands. */
  async #checkKey(name: string, { id: first }: Row): Promise<void> {
    const { findings } = this.#session;
    const id = 'idempotency:projects.create';
    const again = await this.#create({ name }, 'the same key and body again');
    const project = await this.#adopt(again);
    const setting = { operations: { 'projects.create': { retry: 'never' } } } as const;
    if (!project) return findings.unclear(id, reasonOf(again));
    const other = 'The same key and body create another resource.';
    if (!isSameId(project.id, first)) return findings.set(id, 'differs', other, { setting });
    const reply = await this.#create({ name: `${name} again` }, 'the same key with another body');
    const { status, body } = reply;
    await this.#adopt(reply);
    const replays = 'The same key and body return the same resource. The key with another body gets';
    const reading = readConflict(isObject(body) && typeof body.message === 'string' ? body.message : '');
    if (status === 0 || status >= 500) return findings.set(id, 'confirmed', `${replays} no response.`);
    if (status !== 409) return findings.set(id, 'differs', `${replays} ${status}, and not 409.`);
    const isStated = reading === 'other-body' ? 'that says so' : 'that could be about a create request in flight';
    return findings.set(id, 'confirmed', `${replays} a 409 ${isStated}.`);
  }

  /** The time zone of timestamps: the time of something just created, minus the time of the response. */
  #noteZone({ created_at }: Row, { at }: Reply): void {
    const { findings, probe, expected } = this.#session;
    const id = 'time-zone';
    const zone = expected.serverTimeZone ?? 'UTC';
    const minutes = zoneOffset(created_at, at);
    const inEffect = parseTimestamp(String(created_at), zone)?.getTime() ?? Number.NaN;
    const evidence =
      'The offset, from a resource that the check just created. Daylight saving time cannot be detected.';
    if (probe.isClockForeign) findings.unclear(id, 'The timestamps do not come from the clock of the service.');
    else if (minutes === undefined)
      findings.unclear(id, 'The new resource has no `created_at` in the form `Y-m-d H:i:s`.');
    else if (Math.abs(inEffect - at) > HALF_A_QUARTER_MS)
      findings.set(id, minutes === 0 ? 'confirmed' : 'differs', evidence, {
        setting: { serverTimeZone: zoneName(minutes) },
      });
    else if (zone === 'UTC') findings.set(id, 'confirmed', 'A new resource has its time in UTC.');
    else findings.set(id, 'differs', evidence, { setting: { serverTimeZone: zone } });
  }

  /** Returns what was certainly created, by the ids of a response or of the list, and keeps its id. */
  async #adopt(reply?: Reply): Promise<Row | undefined> {
    const ofReply = reply?.status === 409 ? [] : idsIn(reply);
    const project = await this.#firstOwn(ofReply);
    if (project || reply?.status === 409) return project;
    const listed = (await this.#listed()).filter((row) => JSON.stringify(row).includes(this.#mark));
    return this.#firstOwn(listed.map(({ id }) => id));
  }

  /** Returns the first resource that was not there before, and that has the random characters that were sent. */
  async #firstOwn(ids: readonly Id[]): Promise<Row | undefined> {
    for (const id of ids) {
      if (this.#before.some((row) => isSameId(row.id, id))) continue;
      const isOwn = (row: Row | undefined): boolean => JSON.stringify(row ?? '').includes(this.#mark);
      const project = await this.#readUntil(id, isOwn);
      if (!project || !isOwn(project)) continue;
      this.#own.set(String(id), id);
      return project;
    }
    return undefined;
  }

  /** Reads a project until it is as expected, for ten seconds at most, and returns what was read last. */
  async #readUntil(id: Id, isExpected: (row: Row | undefined) => boolean): Promise<Row | undefined> {
    const { probe } = this.#session;
    let project: Row | undefined;
    for (const pause of [0, ...LAG_PAUSES_MS]) {
      if (pause > 0) await probe.pause(pause);
      const reply = await read(this.#session, this.#get, 'the project that was created', { id });
      project = resourceIn(envelopeOf(reply), id, placeOf(this.#session, 'projects.get'))?.value;
      if (isExpected(project) || (reply.status >= 400 && !isMissing(reply.status))) break;
    }
    return project;
  }

  async #listed(): Promise<readonly Row[]> {
    const { size = 'per_page', maxSize = 100 } = this.#session.expected.paging ?? {};
    const reply = await read(this.#session, this.#list, 'the list of projects', { query: { [size]: maxSize } });
    return rowsIn(envelopeOf(reply), placeOf(this.#session, 'projects.list'))?.value ?? [];
  }

  /** Offers to delete the projects that earlier checks have left. */
  async #deleteLeft(confirmDelete: ConfirmDelete): Promise<void> {
    const left = this.#before.filter(({ name }) => {
      const at = Date.parse(NAME.exec(String(name))?.[1] ?? '');
      return this.#session.probe.now - at > LEFT_AFTER_MS;
    });
    if (left.length === 0 || !(await confirmDelete(left.map(({ name }) => String(name))))) return;
    for (const { id } of left) await this.#delete(id, false);
  }

  /** Deletes a project. Returns whether it is gone. */
  async #delete(id: Id, isNoted: boolean): Promise<boolean> {
    const { probe, findings, paths } = this.#session;
    const { method, path } = paths.inEffect('projects.delete');
    // Its delete was interrupted.
    if (this.#deleting.has(id)) return this.#isGone(id);
    this.#deleting.add(id);
    const reply = await probe.send({ method, path, id, why: 'delete a project of a check' });
    const { status } = reply;
    const isRefused = status >= 300 && status < 500;
    const isGone = !isRefused && (await this.#isGone(id));
    const finding = 'path:projects.delete';
    if (isGone && isNoted) findings.set(finding, 'confirmed', 'The new resource is gone.');
    else if (isNoted && (isMissing(status) || (status >= 200 && status < 300)))
      findings.set(finding, 'differs', `\`${method} ${path}\` does not delete the project (${status}).`, {
        breaks: true,
      });
    else if (isNoted) findings.unclear(finding, reasonOf(reply));
    return isGone;
  }

  async #isGone(id: Id): Promise<boolean> {
    if ((await this.#readUntil(id, (row) => row === undefined)) === undefined) return true;
    return !(await this.#listed()).some((row) => isSameId(row.id, id));
  }
}

const LACKS_OWN = 'The response to the create has no id of a resource with the name that was sent.';

/** Returns the ids in the response to a create, outer ones first, and the last segment of its `Location`. */
function idsIn(reply: Reply | undefined): readonly Id[] {
  const { status = 0, headers } = reply ?? {};
  if (status < 200 || status > 299) return [];
  const rows = valuesIn(envelopeOf(reply)).flatMap(({ value }) => [value].flat().filter(isRow));
  const segment = /\/([\w-]+)\/?(?:[?#]|$)/.exec(headers?.get('location') ?? '')?.[1];
  return [...rows.map(({ id }) => id), ...(segment === undefined ? [] : [segment])];
}

/** An upload: only reserved, so that the service deletes it after a day. */
async function checkUpload(session: Session): Promise<void> {
  const { probe, findings, paths, onStep } = session;
  const name = 'uploads.reserve' satisfies OperationName;
  const [id, path] = ['uploads.reservation', `path:${name}`];
  if (!paths.isCallable(name)) return findings.unclear(path, HELD_BACK);
  onStep('A reservation of an upload');
  const request = paths.inEffect(name);
  const body = { kind: 'cohort', size: 4 };
  const reply = await probe.send({ method: request.method, path: request.path, body, why: 'reserve an upload' });
  const isLink = (value: unknown): boolean => typeof value === 'string' && /^https?:\/\//.test(value);
  const reservation = objectIn(envelopeOf(reply), (value) => Object.values(value).some(isLink), placeOf(session, name));
  const shown = `\`${request.method} ${request.path}\``;
  findings.unclear(id, 'Nothing was reserved.');
  if (isMissing(reply.status)) {
    await probe.assertResponsive();
    return findings.set(path, 'differs', `${shown} is refused (${reply.status}).`, { breaks: true });
  }
  if (!reservation && !envelopeOf(reply)) return findings.unclear(path, reasonOf(reply));
  if (!reservation) return findings.set(path, 'differs', `${shown} returns no presigned URL.`, { breaks: true });
  findings.set(path, 'confirmed', 'The response has a presigned URL.');
  const fields = ['reference', 'url', 'expires_at'];
  const missing = fields.filter((field) => typeof reservation.value[field] !== 'string');
  const members = `data: () => ({ ${fields.map((field) => `${field}: complete('${field}')`).join(', ')} })`;
  const codes = [{ operation: name, members }] as const;
  if (missing.length === 0) return findings.set(id, 'confirmed', '`reference`, `url` and `expires_at`.');
  return findings.set(id, 'differs', `These fields are missing: ${missing.join(', ')}.`, { codes });
}
