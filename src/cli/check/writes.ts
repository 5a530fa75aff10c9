import type { OperationName } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { parseTimestamp } from '../../util/timestamps.ts';
import { HELD_BACK, notePlace, placeOf, reasonOf, type Session } from './check-session.ts';
import { isMissing, isRow, objectIn, type Reply, resourceIn, rowsIn, valuesIn } from './evidence.ts';

/**
 * Matches the name of a project that a check has created: the time, and random characters that identify the project.
 */
const NAME = /^audience-check (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) [0-9a-f]{32}(?: again)?$/;
/** Age of another check's project, in milliseconds, after which the other check has certainly ended. */
const LEFT_AFTER_MS = 3_600_000;
/** Milliseconds to wait between reads of a new resource, because a replica may lag. Ten seconds in total. */
const LAG_PAUSES_MS: readonly number[] = [1_000, 2_000, 3_000, 4_000];
const QUARTER_MS = 15 * 60_000;
/** Maximum offset of a time zone from UTC, in quarters of an hour. */
const MAX_QUARTERS = 56;

/** Decides whether the check deletes projects of earlier checks. Receives their names. */
export type ConfirmDelete = (names: readonly string[]) => Promise<boolean>;

/** Sends the writes of a check: reserves an upload, and creates and deletes a project. */
export async function checkWrites(session: Session, confirmDelete: ConfirmDelete): Promise<void> {
  const { findings, paths, rows } = session;
  const names = ['uploads.reserve', 'projects.create', 'projects.delete'] as const;
  const heldBack = names.filter((name) => !paths.isCallable(name));
  for (const name of heldBack) findings.unclear(`path:${name}`, HELD_BACK);
  if (!heldBack.includes('uploads.reserve')) await checkUpload(session);
  // If the check cannot list and read projects, it cannot tell its own project from others.
  const canRead = paths.working.has('projects.get') || !rows.get('projects')?.length;
  if (paths.working.has('projects.list') && canRead && heldBack.every((name) => name === 'uploads.reserve'))
    await new ProjectFlow(session).run(confirmDelete);
}

/**
 * Records that the service refuses an operation, or that its response lacks something, so that calls of the client
 * fail.
 */
async function noteFailure(session: Session, name: OperationName, { status }: Reply, lack = ''): Promise<void> {
  const { method, path } = session.paths.inEffect(name);
  if (isMissing(status)) await session.probe.assertResponsive();
  const text = isMissing(status) ? `returned ${status}` : `returned ${status}${lack}`;
  session.findings.set(`path:${name}`, 'differs', `\`${method} ${path}\` ${text}.`, { breaks: true });
}

/** Reserves an upload without using it. The service deletes it after a day. */
async function checkUpload(session: Session): Promise<void> {
  const { probe, findings, paths } = session;
  const name = 'uploads.reserve';
  const reply = await probe.send({ ...paths.inEffect(name), body: { kind: 'cohort', size: 4 } });
  const fields = ['reference', 'url', 'expires_at'];
  const isReservation = (value: JsonObject): boolean => fields.every((field) => typeof value[field] === 'string');
  const found = objectIn(reply.envelope, isReservation, placeOf(session, name));
  if (found) {
    findings.set(`path:${name}`, 'confirmed', `The response has ${fields.join(', ')}.`);
    notePlace(session, name, found.place);
  } else if (isMissing(reply.status) || reply.envelope)
    await noteFailure(session, name, reply, `, but the response lacks one of ${fields.join(', ')}`);
  else findings.unclear(`path:${name}`, reasonOf(reply));
}

/**
 * Creates a project, repeats the request with the same key, sends the key with another body, then reads and deletes the
 * project.
 */
class ProjectFlow {
  readonly #session: Session;
  readonly #key = crypto.randomUUID();
  readonly #mark = crypto.randomUUID().replaceAll('-', '');
  readonly #name: string;
  #before: ReadonlySet<string> = new Set();
  /** Ids of the projects that this check has certainly created. */
  readonly #own = new Set<string>();
  #mayBeLeft = false;

  constructor(session: Session) {
    this.#session = session;
    this.#name = `audience-check ${new Date(session.probe.now).toISOString().slice(0, 19)}Z ${this.#mark}`;
  }

  async run(confirmDelete: ConfirmDelete): Promise<void> {
    const { probe } = this.#session;
    probe.report('step', 'A project: create, repeat, read, delete');
    const before = await this.#list();
    this.#before = new Set(before.map(({ id }) => String(id)));
    const age = ({ name }: JsonObject): number => probe.now - Date.parse(NAME.exec(String(name))?.[1] ?? '');
    const left = before.filter((row) => age(row) > LEFT_AFTER_MS);
    if (left.length > 0 && (await confirmDelete(left.map(({ name }) => String(name)))))
      for (const { id } of left) await this.#send('projects.delete', { id: String(id) });
    try {
      await this.#check();
      await this.#deleteOwn();
    } catch (error) {
      probe.endSoon();
      await this.#deleteOwn().catch(() => undefined);
      throw error;
    } finally {
      if (this.#mayBeLeft) probe.report('left', this.#name);
    }
  }

  #send(name: OperationName, more: object): Promise<Reply> {
    const { paths, probe } = this.#session;
    return probe.send({ ...paths.inEffect(name), ...more });
  }

  #create(name = this.#name): Promise<Reply> {
    return this.#send('projects.create', { body: { name }, idempotencyKey: this.#key, onConflict: 'throw' });
  }

  async #check(): Promise<void> {
    const { findings } = this.#session;
    const name = 'projects.create';
    this.#mayBeLeft = true;
    const reply = await this.#create();
    const { status, body } = reply;
    if (status >= 300 && status < 500 && status !== 409) this.#mayBeLeft = false;
    const fields = Object.keys(Object(Object(body).errors)).filter((field) => /^[\w.[\]*]{1,60}$/.test(field));
    const isOfBody = status === 422 && fields.length > 0;
    const lack = isOfBody ? `, which names these fields of the body: ${fields.join(', ')}` : '';
    if (isOfBody || isMissing(status)) return noteFailure(this.#session, name, reply, lack);
    if (status < 200 || status > 299) return findings.unclear(`path:${name}`, reasonOf(reply));
    const project = await this.#adopt(reply);
    const found = project && resourceIn(reply.envelope, String(project.id), placeOf(this.#session, name));
    if (found) {
      findings.set(`path:${name}`, 'confirmed', 'The response contains the project that the check created.');
      notePlace(this.#session, name, found.place);
    } else await noteFailure(this.#session, name, reply, ', but the response does not contain the created project');
    if (!project) return;
    this.#noteZone(project, reply);
    await this.#checkKey(project);
  }

  /**
   * Checks that the same key returns the same project for the same body, and a 409 that the client understands for
   * another body.
   */
  async #checkKey({ id }: JsonObject): Promise<void> {
    const { findings } = this.#session;
    const finding = 'idempotency:projects.create';
    const again = await this.#create();
    const project = await this.#adopt(again);
    if (!project || !again.envelope) return findings.unclear(finding, reasonOf(again));
    const setting = { operations: { 'projects.create': { retry: 'never' } } } as const;
    if (project.id !== id)
      return findings.set(finding, 'differs', 'Repeating the key and body creates another resource.', { setting });
    const reply = await this.#create(`${this.#name} again`);
    const { status, outcome } = reply;
    await this.#adopt(reply);
    if (status === 0 || status >= 500) return findings.unclear(finding, reasonOf(reply));
    const reading =
      outcome === 'refused' ? ' that names the cause' : ', but its message might mean a create request in flight';
    const text = `Repeating the key and body returns the same resource. Another body gets a ${status}`;
    findings.set(finding, status === 409 ? 'confirmed' : 'differs', `${text}${status === 409 ? reading : ''}.`);
  }

  /**
   * Records the time zone: `created_at` of a new resource minus the time of the response, rounded to a quarter of an
   * hour.
   */
  #noteZone({ created_at }: JsonObject, { at }: Reply): void {
    const { findings, probe, expected } = this.#session;
    const { serverTimeZone: zone = 'UTC' } = expected;
    const text = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.exec(`${created_at}`)?.[0];
    const quarters = Math.round((Date.parse(`${text?.replace(' ', 'T')}Z`) - at) / QUARTER_MS);
    if (probe.isClockForeign) findings.unclear('time-zone', "The timestamps are not from the service's clock.");
    else if (!(Math.abs(quarters) <= MAX_QUARTERS))
      findings.unclear('time-zone', 'The new resource has no plausible `created_at` in the form `Y-m-d H:i:s`.');
    else {
      const inEffect = parseTimestamp(`${text}`, zone)?.getTime() ?? Number.NaN;
      const serverTimeZone = Math.abs(inEffect - at) <= QUARTER_MS / 2 ? zone : zoneName(quarters * 15);
      const why =
        'The check computed the offset from a resource that it just created. Daylight saving time cannot be detected.';
      findings.prove('time-zone', serverTimeZone, ['UTC', zone], why, { serverTimeZone });
    }
  }

  /**
   * Returns the project that this check has certainly created, from a response or, if the response lacks it, from the
   * list.
   */
  async #adopt(reply?: Reply): Promise<JsonObject | undefined> {
    if (reply?.status === 409) return undefined;
    const shown = valuesIn(reply?.envelope).flatMap(({ value }) => [value].flat().filter(isRow));
    return (await this.#firstOwn(shown)) ?? this.#firstOwn(await this.#listOwn());
  }

  /** Returns the first new project whose name contains the random characters, and records its id. */
  async #firstOwn(rows: readonly JsonObject[]): Promise<JsonObject | undefined> {
    for (const id of rows.map((row) => String(row.id)).filter((id) => !this.#before.has(id))) {
      const project = await this.#readUntil(id, (row) => (this.#isOwn(row) ? row : undefined));
      if (!project) continue;
      this.#own.add(id);
      return project;
    }
    return undefined;
  }

  /** Reads a project until a test passes, for at most ten seconds. Returns the last result of the test. */
  async #readUntil<T>(id: string, test: (project: JsonObject | undefined, reply: Reply) => T): Promise<T> {
    const { probe, paths } = this.#session;
    const path = paths.working.get('projects.get') ?? paths.inEffect('projects.get').path;
    for (let reads = 0; ; reads++) {
      const reply = await probe.get(path, { id });
      const result = test(resourceIn(reply.envelope, id, placeOf(this.#session, 'projects.get'))?.value, reply);
      const pause = LAG_PAUSES_MS[reads];
      const isRefused = reply.status >= 400 && !isMissing(reply.status);
      if (result || isRefused || pause === undefined) return result;
      await probe.pause(pause);
    }
  }

  /** Returns whether a response shows that a project no longer exists. Ignores failed reads. */
  #isGone(id: string): Promise<boolean> {
    return this.#readUntil(
      id,
      (project, { status, envelope }) => project === undefined && (isMissing(status) || envelope !== undefined),
    );
  }

  #isOwn(row: JsonObject | undefined): boolean {
    return JSON.stringify(row ?? '').includes(this.#mark);
  }

  async #listOwn(): Promise<readonly JsonObject[]> {
    return (await this.#list()).filter((row) => this.#isOwn(row));
  }

  async #list(): Promise<readonly JsonObject[]> {
    const { probe, paths, expected } = this.#session;
    const { size = 'per_page', maxSize = 100 } = expected.paging ?? {};
    const { envelope } = await probe.get(paths.working.get('projects.list') ?? '', { query: { [size]: maxSize } });
    return rowsIn(envelope, placeOf(this.#session, 'projects.list'))?.value ?? [];
  }

  async #deleteOwn(): Promise<void> {
    const { findings } = this.#session;
    const name = 'projects.delete';
    if (this.#mayBeLeft && this.#own.size === 0) await this.#adopt();
    // A retry, or a request without a response, may have created another project.
    if (this.#own.size > 0) for (const { id } of await this.#listOwn()) this.#own.add(String(id));
    for (const id of this.#own) {
      const reply = await this.#send(name, { id });
      if (await this.#isGone(id)) {
        this.#own.delete(id);
        findings.set(`path:${name}`, 'confirmed', 'The check deleted the new project.');
      } else if (isMissing(reply.status) || (reply.status >= 200 && reply.status < 300))
        await noteFailure(this.#session, name, reply, ', and the project is still there');
      else findings.unclear(`path:${name}`, reasonOf(reply));
      this.#mayBeLeft = this.#own.size > 0;
    }
  }
}

/** Returns the name of a time zone with a fixed offset. In `Etc` names, offsets west of Greenwich are positive. */
function zoneName(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  if (minutes === 0) return 'UTC';
  if (rest === 0) return `Etc/GMT${minutes > 0 ? '-' : '+'}${hours}`;
  return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${rest}`;
}
