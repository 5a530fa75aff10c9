import { progressOf } from '../spec/job-status.ts';
import type { OperationName } from '../spec/operations.ts';
import { operations } from '../spec/operations.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import {
  madeUpName,
  NO_ID,
  notePath,
  notePlace,
  read,
  reasonOf,
  type Session,
  tryCandidates,
} from './check-session.ts';
import {
  envelopeOf,
  type Found,
  invalidFields,
  isErrorEnvelope,
  objectWith,
  type Reply,
  type Row,
  resourceIn,
  timestampFormat,
  zoneName,
  zoneOffset,
} from './evidence.ts';
import { type CheckLevel, includes } from './findings.ts';
import type { Journal } from './journal.ts';
import { type Creatable, OwnResources } from './own-resources.ts';

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

/** The checks that write: what they create is deleted again. */
export async function checkWrites(session: Session, level: CheckLevel, journal: Journal): Promise<void> {
  const own = new OwnResources(session, journal);
  try {
    await writeWith(session, own, level);
  } finally {
    own.noteLeft();
  }
}

async function writeWith(session: Session, own: OwnResources, level: CheckLevel): Promise<void> {
  if (!(await own.recover())) {
    const reason = 'An earlier check has left something that cannot be deleted, so nothing more is created.';
    for (const id of WRITE_FINDINGS) session.findings.unclear(id, reason);
    return;
  }
  const isClean = await checkProject(session, own);
  await checkUpload(session);
  if (!isClean) {
    for (const id of WRITE_FINDINGS)
      session.findings.unclear(id, 'The project cannot be deleted, so nothing more is created.');
    return;
  }
  for (const [kind, body] of Object.entries(refusedBodies())) {
    if (!(await checkRefusedCreate(session, own, kind as keyof ReturnType<typeof refusedBodies>, body))) return;
  }
  if (includes(level, 'build')) await checkBuild(session, own);
}

const WRITE_FINDINGS: readonly string[] = [
  ...['path:projects.create', 'path:projects.delete', 'body:projects.create', 'idempotency:projects.create'],
  ...['errors.409', 'time-zone', 'path:audiences.create', 'path:lookalikes.create', 'path:activations.create'],
  ...['body:audiences.create', 'body:lookalikes.create', 'body:activations.create', 'idempotency:audiences.create'],
];

/** Bodies that each break two documented rules, so that nothing is created. */
function refusedBodies() {
  const name = ownName();
  return {
    audiences: {
      name,
      project_id: NO_ID,
      dataset: [{ analysis_type: 'WebDomain', start_date: '2020-01-01', end_date: '2020-01-02' }],
    },
    lookalikes: { name, source_audience_id: NO_ID, config: { target_size: 0 } },
    activations: { description: name, audience_id: NO_ID, partner_id: NO_ID },
  } as const;
}

const ownName = (): string => `audience-${madeUpName().replace('-', ' ')}`;

/** A project: create, the same key again, the key with another body, read, list, delete. Returns whether it is gone. */
async function checkProject(session: Session, own: OwnResources): Promise<boolean> {
  const { findings } = session;
  session.onStep('A project: create, repeat, read, delete');
  const body = { name: ownName() };
  const attempts = await own.create('projects', body, 'create a project');
  notePath(session, 'projects.create', attempts, 'The response has the created project.');
  const { match, ended } = attempts;
  const resource = match?.result.resource;
  if (!match || !resource) {
    noteFields(session, 'projects', match?.result.refused);
    return match !== undefined || !ended || isHarmless(ended);
  }
  notePlace(session, 'projects.create', resource);
  try {
    noteZone(session, resource.value, match.reply);
    await checkKey(session, own, 'projects', resource);
    await checkConflict(session, own, { name: ownName() });
    const shown = await checkOwnRead(session, own, 'projects', resource.value.id);
    const echo = [resource.value, shown].some((project) => project?.name === body.name);
    if (echo) findings.set('body:projects.create', 'confirmed', 'The project has the name that was sent.');
    else findings.set('body:projects.create', 'differs', 'The project does not have the `name` that was sent.');
    if (shown) noteZone(session, shown, match.reply);
  } finally {
    await deleteOwn(session, own, 'projects.delete');
  }
  return own.ids.length === 0;
}

const isHarmless = ({ status }: Reply): boolean => status >= 300 && status < 500;

/** Deletes what was created, and notes the path by which it worked. */
async function deleteOwn(session: Session, own: OwnResources, name: OperationName): Promise<void> {
  const attempts = await own.deleteAll();
  if (attempts) notePath(session, name, attempts, 'What was created is gone.');
}

/** The same key with the same body: the same resource again. */
async function checkKey(
  session: Session,
  own: OwnResources,
  kind: 'projects' | 'audiences',
  created: Found<Row>,
): Promise<void> {
  const { findings } = session;
  const id = `idempotency:${kind}.create`;
  const reply = await own.repeat('the same key and body again');
  const again = resourceIn(envelopeOf(reply))?.value.id;
  if (again === created.value.id) findings.set(id, 'confirmed', 'The same key and body return the same resource.');
  else if (again !== undefined) {
    findings.set(id, 'differs', 'The same key and body create another resource.', 'never');
    findings.override(`${kind}.create`, { retry: 'never' });
  } else findings.unclear(id, reasonOf(reply));
}

/** The same key with another body: a conflict. */
async function checkConflict({ findings }: Session, own: OwnResources, body: unknown): Promise<void> {
  const reply = await own.repeat('the same key with another body', body);
  if (reply.status === 409 && isErrorEnvelope(reply))
    findings.set('errors.409', 'confirmed', 'A key with another body gets 409 in the envelope of an error.');
  else if (reply.status > 0 && reply.status < 500)
    findings.set('errors.409', 'differs', `A key with another body gets ${reply.status}.`, reply.status);
}

/** Reads what was created, alone and in the list. */
async function checkOwnRead(
  session: Session,
  own: OwnResources,
  kind: 'projects' | 'audiences',
  id: number,
): Promise<Row | undefined> {
  const { findings, working } = session;
  if (!working.has(`${kind}.get`)) {
    const attempts = await tryCandidates(session, `${kind}.get`, {
      send: read(session, 'what was created', { id }),
      judge: (reply) => resourceIn(envelopeOf(reply), id),
    });
    notePath(session, `${kind}.get`, attempts, 'The response has the id of what was created.');
    if (attempts.match) notePlace(session, `${kind}.get`, attempts.match.result);
  }
  const get = working.get(`${kind}.get`);
  const shown = get && resourceIn(envelopeOf(await read(session, 'what was created', { id })(get)), id)?.value;
  const rows = await own.readList(kind, id);
  if (rows?.value.some((row) => row.id === id)) {
    notePlace(session, `${kind}.list`, rows);
    if (findings.stateOf(`path:${kind}.list`) === 'confirmed')
      findings.set(`path:${kind}.list`, 'confirmed', 'The list has what was created.');
  }
  return shown;
}

/** The time zone of timestamps: the time of something just created, minus the time of the response. */
function noteZone({ findings }: Session, { created_at }: Row, { at }: Reply): void {
  if (timestampFormat(created_at) === 'iso') {
    findings.set('time-zone', 'differs', 'Timestamps are those of ISO 8601.', 'ISO 8601');
    return;
  }
  const minutes = zoneOffset(created_at, at);
  if (minutes === undefined) findings.unclear('time-zone', 'What was created has no usable `created_at`.');
  else if (minutes === 0) findings.set('time-zone', 'confirmed', 'The time of something just created is that of UTC.');
  else {
    const zone = zoneName(minutes);
    findings.set(
      'time-zone',
      'differs',
      'An offset, by something just created; daylight saving time cannot be seen.',
      zone,
    );
    findings.contract.serverTimeZone = zone;
  }
}

/** Notes whether the fields that a 422 names are those of the assumed body. */
function noteFields({ findings }: Session, kind: Creatable, refused: readonly string[] | undefined): void {
  const id = `body:${kind}.create`;
  if (!refused) return;
  const fields = [...new Set(refused.map((field) => field.split(/[.[]/)[0] ?? field))];
  const foreign = fields.filter((field) => !BODY_FIELDS[kind].includes(field)).sort();
  if (foreign.length > 0)
    findings.set(id, 'differs', `The service names other fields: ${foreign.join(', ')}.`, foreign);
  else findings.set(id, 'confirmed', `A 422 names fields of the body: ${fields.sort().join(', ')}.`);
}

/** A create that breaks two documented rules. Returns whether nothing is left of it. */
async function checkRefusedCreate(
  session: Session,
  own: OwnResources,
  kind: Exclude<Creatable, 'projects'>,
  body: unknown,
): Promise<boolean> {
  session.onStep(`A create of ${kind} that breaks two rules`);
  const attempts = await own.create(kind, body, 'a body that breaks two documented rules');
  notePath(session, `${kind}.create`, attempts, 'A 422 names fields of the body.');
  const { match, ended } = attempts;
  noteFields(session, kind, match?.result.refused);
  if (match?.result.resource) {
    session.findings.set(
      `body:${kind}.create`,
      'differs',
      'The service accepts a body that breaks two documented rules.',
    );
    await deleteOwn(session, own, kind === 'lookalikes' ? 'audiences.delete' : `${kind}.delete`);
    return own.ids.length === 0;
  }
  if (!match) session.findings.unclear(`body:${kind}.create`, 'The create was not reached.');
  return !ended || isHarmless(ended);
}

/** An upload: reserve, and a PUT of 4 bytes; never claimed, so that the service deletes it after a day. */
async function checkUpload(session: Session): Promise<void> {
  const { probe, findings } = session;
  session.onStep('An upload of 4 bytes');
  const attempts = await tryCandidates(session, 'uploads.reserve', {
    send: ({ path }) =>
      probe.send({ method: 'POST', path, body: { kind: 'cohort', size: 4 }, why: 'reserve an upload of 4 bytes' }),
    judge: (reply): JsonObject | readonly string[] | undefined => {
      const refused = invalidFields(reply);
      return refused && refused.length > 0 ? refused : reservationIn(envelopeOf(reply));
    },
  });
  notePath(session, 'uploads.reserve', attempts, 'The response has a presigned URL.');
  const result = attempts.match?.result;
  if (!result) return;
  if (Array.isArray(result)) {
    findings.set('uploads.reservation', 'differs', `The service names these fields: ${result.join(', ')}.`, [
      ...result,
    ]);
    return;
  }
  const reservation: JsonObject = Object(result);
  const missing = ['reference', 'url', 'expires_at'].filter((field) => typeof reservation[field] !== 'string');
  if (missing.length === 0) findings.set('uploads.reservation', 'confirmed', '`reference`, `url` and `expires_at`.');
  else
    findings.set(
      'uploads.reservation',
      'differs',
      `These fields are missing: ${missing.join(', ')}.`,
      Object.keys(reservation).sort(),
    );
  const url = Object.values(reservation).find(isLink);
  if (typeof url !== 'string') return;
  const reply = await probe.send({
    method: 'PUT',
    path: url,
    body: new Blob(['1\n2\n']),
    token: 'none',
    why: 'send 4 bytes',
  });
  if (reply.status >= 200 && reply.status < 300)
    findings.set('uploads.put', 'confirmed', 'A PUT without further headers is accepted.');
  else if (reply.status > 0 && reply.status < 500)
    findings.set('uploads.put', 'differs', `A PUT without further headers gets ${reply.status}.`, reply.status);
}

const isLink = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

function reservationIn(envelope: JsonObject | undefined): JsonObject | undefined {
  const places = envelope ? Object.values(envelope) : [];
  const inner = places.flatMap((value) =>
    isObject(value) ? [value, ...Object.values(value)] : Array.isArray(value) ? value : [],
  );
  return inner.filter(isObject).find((value) => Object.values(value).some(isLink));
}

const DAY = 86_400_000;
/** Pauses between the reads of a build. */
const POLL_MS: readonly number[] = [5_000, 10_000, 20_000, 30_000];
const LONGEST_POLL_MS = 60_000;
/** Reads of a build; the others of the limit are for what follows. */
const MAX_POLLS = 45;

/** An audience that is built to its end: create, the same key again, budget, reads, delete. */
async function checkBuild(session: Session, own: OwnResources): Promise<void> {
  const { findings, probe } = session;
  session.onStep('A build of an audience');
  const dayAt = (shift: number): string => new Date(probe.now + shift * DAY).toISOString().slice(0, 10);
  const dataset = [{ analysis_type: 'WebDomain', start_date: dayAt(-8), end_date: dayAt(-2) }];
  const before = await buildsOf(session);
  const attempts = await own.create('audiences', { name: ownName(), dataset }, 'create an audience');
  const resource = attempts.match?.result.resource;
  if (!attempts.match || !resource) {
    const refused = attempts.match?.result.refused;
    const reason = refused ? `The service needs other fields: ${refused.join(', ')}.` : 'The audience was not created.';
    findings.unclear('idempotency:audiences.create', reason);
    return;
  }
  notePlace(session, 'audiences.create', resource);
  noteZone(session, resource.value, attempts.match.reply);
  await checkKey(session, own, 'audiences', resource);
  const after = await buildsOf(session);
  if (before !== undefined && after !== undefined) {
    if (after > before) findings.set('usage.build_budget', 'confirmed', 'The count of builds has risen with a build.');
    else findings.set('usage.build_budget', 'differs', 'The count of builds does not rise with a build.');
  }
  await checkOwnRead(session, own, 'audiences', resource.value.id);
  await waitForEnd(session, resource.value.id);
  await deleteOwn(session, own, 'audiences.delete');
}

/** Returns the number of builds of the last day. */
async function buildsOf({ probe }: Session): Promise<number | undefined> {
  const { path } = operations['usage.get'];
  const reply = await probe.send({ method: 'GET', path, why: 'the count of builds' });
  const budget = objectWith(envelopeOf(reply), ['build_budget'])?.value.build_budget;
  const day = isObject(budget) && isObject(budget.day) ? budget.day.used : undefined;
  return typeof day === 'number' ? day : undefined;
}

/** Reads an audience until its build has ended. A kind of status that is not known may be a final one. */
async function waitForEnd(session: Session, id: number): Promise<void> {
  const get = session.working.get('audiences.get');
  if (!get) return;
  for (let polls = 0; polls < MAX_POLLS; polls++) {
    await session.probe.pause(POLL_MS[polls] ?? LONGEST_POLL_MS);
    const resource = resourceIn(envelopeOf(await read(session, 'has the build ended?', { id })(get)), id)?.value;
    const status =
      isObject(resource?.status) && typeof resource.status.id === 'number' ? resource.status.id : undefined;
    if (status !== undefined && progressOf('audience', { id, status: { id: status, name: '' } }) !== 'running') return;
  }
  session.findings.unclear('statuses', 'The build of the check did not end at a status that is known to be final.');
}
