import type { OperationName } from '../spec/operations.ts';
import { madeUpName, notePath, notePlace, read, reasonOf, type Session, tryCandidates } from './check-session.ts';
import {
  envelopeOf,
  type Found,
  isErrorEnvelope,
  type Reply,
  type Row,
  resourceIn,
  timestampFormat,
  zoneName,
  zoneOffset,
} from './evidence.ts';
import type { Creatable, OwnResources } from './own-resources.ts';

/** Returns a name for something that the check creates. */
export const ownName = (): string => `audience-${madeUpName().replace('-', ' ')}`;

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

/** A project: create, the same key again, the key with another body, read, list, delete. Returns whether it is gone. */
export async function checkProject(session: Session, own: OwnResources): Promise<boolean> {
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
    else
      findings.set(
        'body:projects.create',
        'differs',
        'The project does not have the `name` that was sent.',
        `operations: { 'projects.create': { body: (body) => ({ ...body, /* … */ }) } }`,
      );
    if (shown) noteZone(session, shown, match.reply);
  } finally {
    await deleteOwn(session, own, 'projects.delete');
  }
  return own.ids.length === 0;
}

const isHarmless = ({ status }: Reply): boolean => status >= 300 && status < 500;

/** Deletes what was created, and notes the path by which it worked. */
export async function deleteOwn(session: Session, own: OwnResources, name: OperationName): Promise<void> {
  const attempts = await own.deleteAll();
  if (attempts) notePath(session, name, attempts, 'What was created is gone.');
}

/** The same key with the same body: the same resource again. */
export async function checkKey(
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
    findings.set(id, 'differs', 'The same key and body create another resource.', {
      operations: { [`${kind}.create`]: { retry: 'never' } },
    });
  } else findings.unclear(id, reasonOf(reply));
}

/** The same key with another body: a conflict. */
async function checkConflict({ findings }: Session, own: OwnResources, body: unknown): Promise<void> {
  const reply = await own.repeat('the same key with another body', body);
  if (reply.status === 409 && isErrorEnvelope(reply))
    findings.set('errors.409', 'confirmed', 'A key with another body gets 409 in the envelope of an error.');
  else if (reply.status > 0 && reply.status < 500)
    findings.set('errors.409', 'differs', `A key with another body gets ${reply.status}.`);
}

/** Reads what was created, alone and in the list. */
export async function checkOwnRead(
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
export function noteZone({ findings }: Session, { created_at }: Row, { at }: Reply): void {
  if (timestampFormat(created_at) === 'iso') {
    findings.set(
      'time-zone',
      'differs',
      'Timestamps are those of ISO 8601.',
      `operations: { '…': { data: (data) => ({ ...data, created_at: /* Y-m-d H:i:s */ … }) } }`,
    );
    return;
  }
  const minutes = zoneOffset(created_at, at);
  if (minutes === undefined) findings.unclear('time-zone', 'What was created has no usable `created_at`.');
  else if (minutes === 0) findings.set('time-zone', 'confirmed', 'The time of something just created is that of UTC.');
  else {
    const zone = zoneName(minutes);
    findings.set('time-zone', 'differs', 'An offset, by something just created; daylight saving time cannot be seen.', {
      serverTimeZone: zone,
    });
  }
}

/** Notes whether the fields that a 422 names are those of the assumed body. */
function noteFields({ findings }: Session, kind: Creatable, refused: readonly string[] | undefined): void {
  const id = `body:${kind}.create`;
  if (!refused) return;
  const fields = [...new Set(refused.map((field) => field.split(/[.[]/)[0] ?? field))];
  const foreign = fields.filter((field) => !BODY_FIELDS[kind].includes(field)).sort();
  if (foreign.length > 0)
    findings.set(
      id,
      'differs',
      `The service names other fields: ${foreign.join(', ')}.`,
      `operations: { '${kind}.create': { body: (body) => ({ ...body, /* ${foreign.join(', ')} */ }) } }`,
    );
  else findings.set(id, 'confirmed', `A 422 names fields of the body: ${fields.sort().join(', ')}.`);
}

/** A create that breaks two documented rules. Returns whether nothing is left of it. */
export async function checkRefusedCreate(
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
