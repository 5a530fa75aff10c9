import { progressOf } from '../spec/job-status.ts';
import { operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';
import { notePlace, read, type Session } from './check-session.ts';
import { envelopeOf, objectWith, resourceIn } from './evidence.ts';
import type { OwnResources } from './own-resources.ts';

import { checkKey, checkOwnRead, deleteOwn, noteZone, ownName } from './own-steps.ts';

const DAY = 86_400_000;
/** Pauses between the reads of a build. */
const POLL_MS: readonly number[] = [5_000, 10_000, 20_000, 30_000];
const LONGEST_POLL_MS = 60_000;
/** Reads of a build; the others of the limit are for what follows. */
const MAX_POLLS = 45;

/** An audience that is built to its end: create, the same key again, budget, reads, delete. */
export async function checkBuild(session: Session, own: OwnResources): Promise<void> {
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
