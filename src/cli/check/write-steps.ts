import { readConflict } from '../../client/index.ts';
import { progressOf } from '../../spec/job-status.ts';
import { operations } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { isObject } from '../../util/json.ts';
import { findPath, madeUpName, NO_ID, read, reasonOf, type Session } from './check-session.ts';
import {
  envelopeOf,
  type Id,
  objectIn,
  type Reply,
  type Row,
  reportIn,
  resourceIn,
  zoneName,
  zoneOffset,
} from './evidence.ts';
import { type CheckLevel, includes, levelOf } from './findings.ts';
import { statusOf } from './list-facts.ts';
import type { Creatable, OwnResources } from './own-resources.ts';

const DAY = 86_400_000;
/** Longest pause between the reads of a build; the first ones are shorter. */
const LONGEST_POLL_MS = 60_000;
/** Reads of a build; the others of the limit are for what follows. */
const MAX_POLLS = 45;

/** Fields of the bodies of creates, as the package assumes them, and those that the service forbids. */
const BODY_FIELDS: Readonly<Record<Creatable, readonly string[]>> = {
  projects: ['name'],
  audiences: ['name', 'project_id', 'dataset', 'cohort_id', 'filters'],
  lookalikes: ['name', 'source_audience_id', 'config'],
  activations: [
    ...['audience_id', 'description', 'identifier', 'project_id', 'credentials', 'filters'],
    ...['partner_id', 'partner_name', 'pricing_model'],
  ],
};

/** The checks that write: what they create is deleted again, and if that fails, nothing more is created. */
export async function checkWrites(session: Session, own: OwnResources, level: CheckLevel): Promise<void> {
  const { findings } = session;
  await own.recover();
  if (own.isClean) {
    await checkProject(session, own);
    await checkUpload(session);
  }
  for (const [kind, body] of refusedBodies()) {
    if (!own.isClean) break;
    session.onStep(`A create of ${kind} that breaks two rules`);
    await createAndDelete(session, own, kind, [body, 'a body that breaks two documented rules'], async () =>
      findings.set(`body:${kind}.create`, 'differs', 'The service accepts a body that breaks two documented rules.'),
    );
  }
  if (own.isClean && includes(level, 'build')) return checkBuild(session, own);
  for (const { id, needs } of own.isClean ? [] : findings.all)
    if (levelOf(id) !== 'read' && !needs)
      findings.unclear(id, 'Something that was created cannot be deleted, so nothing more is created.');
}

/** Bodies that each break two documented rules, so that nothing is created. */
const refusedBodies = (): readonly (readonly [Exclude<Creatable, 'projects'>, object])[] => [
  [
    'audiences',
    {
      name: ownName(),
      project_id: NO_ID,
      dataset: [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-02' }],
    },
  ],
  ['lookalikes', { name: ownName(), source_audience_id: NO_ID, config: { target_size: 0 } }],
  ['activations', { description: ownName(), audience_id: NO_ID, partner_id: NO_ID }],
];

/** Returns a name for something that the check creates. */
const ownName = (): string => `audience-${madeUpName().replace('-', ' ')}`;

/** Creates something, inspects it, and deletes it. */
async function createAndDelete(
  session: Session,
  own: OwnResources,
  kind: Creatable,
  [body, why]: readonly [body: object, why: string],
  inspect: (created: Row, reply: Reply) => Promise<void>,
): Promise<void> {
  const { value: created, refused, reply } = await own.create(kind, body, why);
  if (refused) noteFields(session, kind, refused);
  if (!created || !reply) return own.deleteAll();
  try {
    await inspect(created, reply);
  } finally {
    await own.deleteAll();
  }
}

/** Notes whether the fields that a 422 names are those of the assumed body. */
function noteFields({ findings }: Session, kind: Creatable, refused: readonly string[]): void {
  const id = `body:${kind}.create`;
  const fields = [...new Set(refused.map((field) => field.split(/[.[]/)[0] ?? field))].sort();
  const others = fields.filter((field) => !BODY_FIELDS[kind].includes(field));
  const evidence = `A 422 names these fields of the body, and says nothing of others: ${fields.join(', ')}.`;
  if (others.length === 0) findings.set(id, 'likely', evidence);
  else findings.set(id, 'differs', `The service names other fields: ${others.join(', ')}.`, bodyOf(kind, others));
}

/** Returns code for a body with other fields. */
function bodyOf(kind: Creatable, fields: readonly string[]) {
  const members = `body: (body) => ({ ...Object(body), ${fields.map((field) => `'${field}': complete('${field}')`).join(', ')} })`;
  return { codes: [{ operation: `${kind}.create`, members }] } as const;
}

/** A project: create, the same key again, the key with another body, read, list, delete. */
async function checkProject(session: Session, own: OwnResources): Promise<void> {
  const { findings } = session;
  session.onStep('A project: create, repeat, read, delete');
  const name = ownName();
  const id = 'body:projects.create';
  await createAndDelete(session, own, 'projects', [{ name }, 'create a project'], async (project, created) => {
    await checkKey(session, own, 'projects', project);
    await checkConflict(session, own, name);
    noteZone(session, project, created);
    if (project.name === name) findings.set(id, 'confirmed', 'The project has the name that was sent.');
    else findings.set(id, 'differs', 'The name that was sent is in another field than `name`.');
  });
  if (findings.stateOf('path:projects.create') === 'likely')
    findings.set(id, 'differs', 'What was created lacks the `name` that was sent.', bodyOf('projects', ['name']));
}

/** The same key with the same body: the same resource again. */
async function checkKey(
  { findings }: Session,
  own: OwnResources,
  kind: 'projects' | 'audiences',
  created: Row,
): Promise<void> {
  const id = `idempotency:${kind}.create`;
  const { reply, id: again } = await own.repeat('the same key and body again');
  const setting = { operations: { [`${kind}.create`]: { retry: 'never' } } } as const;
  if (again === created.id) findings.set(id, 'confirmed', 'The same key and body return the same resource.');
  else if (again === undefined) findings.unclear(id, reasonOf(reply));
  else findings.set(id, 'differs', 'The same key and body create another resource.', { setting });
}

/** The same key with another body: a 409, and whether the client can tell it from one of a create in flight. */
async function checkConflict({ findings }: Session, own: OwnResources, name: string): Promise<void> {
  const id = 'idempotency:projects.create';
  if (findings.stateOf(id) !== 'confirmed') return;
  const { reply } = await own.repeat('the same key with another body', { name: `${name} again` });
  const { status, body } = reply;
  if (status === 0 || status >= 500) return;
  const replays = 'The same key and body return the same resource. The key with another body gets';
  const reading = readConflict(isObject(body) && typeof body.message === 'string' ? body.message : '');
  if (status !== 409) findings.set(id, 'differs', `${replays} ${status}, and not 409.`);
  else if (reading === 'in-flight')
    findings.set(id, 'differs', `${replays} a 409 whose message the client mistakes for that of a create in flight.`);
  else if (reading === 'other-body') findings.set(id, 'confirmed', `${replays} a 409 that says so.`);
  else findings.set(id, 'confirmed', `${replays} a 409 that the client cannot tell from one of a create in flight.`);
}

/** The time zone of timestamps: the time of something just created, minus the time of the response. */
function noteZone({ findings }: Session, { created_at }: Row, { at }: Reply): void {
  const id = 'time-zone';
  const minutes = zoneOffset(created_at, at);
  const evidence = 'An offset, by something just created; daylight saving time cannot be seen.';
  if (minutes === undefined) findings.unclear(id, 'What was created has no `created_at` of the form `Y-m-d H:i:s`.');
  else if (minutes === 0) findings.set(id, 'confirmed', 'The time of something just created is that of UTC.');
  else findings.set(id, 'differs', evidence, { setting: { serverTimeZone: zoneName(minutes) } });
}

const isLink = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

const isReservation = (value: JsonObject): value is JsonObject => Object.values(value).some(isLink);

/** An upload: reserve, and a PUT of 4 bytes; never claimed, so that the service deletes it after a day. */
async function checkUpload(session: Session): Promise<void> {
  const { probe, findings } = session;
  const id = 'uploads.reservation';
  session.onStep('An upload of 4 bytes');
  const body = { kind: 'cohort', size: 4 };
  const { value: reservation, refused } = await findPath(session, 'uploads.reserve', {
    send: ({ path }) => probe.send({ method: 'POST', path, body, why: 'reserve an upload of 4 bytes' }),
    judge: (reply) => objectIn(envelopeOf(reply), isReservation),
    lack: () => 'without a presigned URL',
    evidence: () => 'The response has a presigned URL.',
  });
  if (refused) findings.set(id, 'differs', `The service names these fields: ${refused.join(', ')}.`);
  if (!reservation) return;
  const fields = ['reference', 'url', 'expires_at'];
  const missing = fields.filter((field) => typeof reservation[field] !== 'string');
  const members = `data: () => ({ ${fields.map((field) => `${field}: complete('${field}')`).join(', ')} })`;
  const codes = [{ operation: 'uploads.reserve', members }] as const;
  if (missing.length === 0) findings.set(id, 'confirmed', '`reference`, `url` and `expires_at`.');
  else findings.set(id, 'differs', `These fields are missing: ${missing.join(', ')}.`, { codes });
  const path = Object.values(reservation).find(isLink) ?? '';
  const bytes = new Blob(['1\n2\n']);
  const reply = await probe.send({ method: 'PUT', path, body: bytes, why: 'send 4 bytes' });
  const { status } = reply;
  if (status === 0 || status >= 500) findings.unclear('uploads.put', reasonOf(reply));
  else if (status < 300) findings.set('uploads.put', 'confirmed', 'A PUT without further headers is accepted.');
  else findings.set('uploads.put', 'differs', `A PUT without further headers gets ${status}.`);
}

/** An audience that is built to its end: create, the same key again, budget, reads, delete. */
async function checkBuild(session: Session, own: OwnResources): Promise<void> {
  const { findings, probe } = session;
  session.onStep('A build of an audience');
  const dayAt = (shift: number): string => new Date(probe.now + shift * DAY).toISOString().slice(0, 10);
  const dataset = [{ analysis_type: 'WebDomain', start_date: dayAt(-8), end_date: dayAt(-2) }];
  const before = await buildsOf(session);
  const create = [{ name: ownName(), dataset }, 'create an audience'] as const;
  await createAndDelete(session, own, 'audiences', create, async (audience, created) => {
    await checkKey(session, own, 'audiences', audience);
    const after = await buildsOf(session);
    const id = 'usage.build_budget';
    if (after > before) findings.set(id, 'confirmed', 'The count of builds has risen with a build.');
    else if (after <= before) findings.set(id, 'differs', 'The count of builds does not rise with a build.');
    findings.set('body:audiences.create', 'confirmed', 'An audience was built with `name` and `dataset`.');
    noteZone(session, audience, created);
    await waitForEnd(session, audience.id);
  });
  findings.unclear('idempotency:audiences.create', 'The audience was not created.');
}

/** Returns the number of builds of the last day; `NaN` if it is not known. */
async function buildsOf({ probe }: Session): Promise<number> {
  const { path } = operations['usage.get'];
  const reply = await probe.send({ method: 'GET', path, why: 'the count of builds' });
  const budget = reportIn(envelopeOf(reply))?.value.build_budget;
  const used = isObject(budget) && isObject(budget.day) ? budget.day.used : undefined;
  return typeof used === 'number' ? used : Number.NaN;
}

/** Reads an audience until its build has ended. A kind of status that is not known may be a final one. */
async function waitForEnd(session: Session, id: Id): Promise<void> {
  const get = session.candidates.working('audiences.get');
  if (!get) return;
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    await session.probe.pause(Math.min(5_000 * 2 ** polls, LONGEST_POLL_MS));
    const resource = resourceIn(envelopeOf(await read(session, 'has the build ended?', { id })(get)), id)?.value;
    const status = resource && statusOf(resource);
    if (status && progressOf('audience', { id: 0, status }) !== 'running') return;
  }
  session.findings.unclear('statuses', 'The build of the check did not end at a status that is known to be final.');
}
