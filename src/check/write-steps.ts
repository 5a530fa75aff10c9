import { checkBuild } from './build-steps.ts';
import { NO_ID, type Session } from './check-session.ts';
import { type CheckLevel, includes } from './findings.ts';
import type { Journal } from './journal.ts';
import { OwnResources } from './own-resources.ts';
import { checkProject, checkRefusedCreate, ownName } from './own-steps.ts';
import { checkUpload } from './upload-steps.ts';

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
