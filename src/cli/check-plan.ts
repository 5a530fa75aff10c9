import { AudienceClient } from '../index.ts';
import { createSandbox } from '../sandbox/index.ts';
import { type CheckEvent, type CheckLevel, checkService } from './check/index.ts';

/** A request that a check would send. */
export type PlannedRequest = Pick<Extract<CheckEvent, { type: 'request' }>, 'method' | 'path' | 'why'>;

/** Returns the requests of a check of a service that follows the assumptions, by a check of a sandbox in this process. */
export async function plannedRequests(level: CheckLevel): Promise<readonly PlannedRequest[]> {
  await using sandbox = createSandbox({ clock: 'manual', jobs: { duration: DURATION_MS } });
  const account = sandbox.accounts.create({ email: 'dev@example.com', password: 'sandbox' });
  const token = account.token('api');
  const baseUrl = 'http://localhost';
  await using client = new AudienceClient({ baseUrl, token, fetch: sandbox.fetch });
  const audience = await client.audiences.create({ name: 'Audience' });
  await client.audiences.create({ name: 'Another audience' });
  await client.projects.create({ name: 'Project' });
  await client.schedules.create({ name: 'Schedule' });
  const { reference } = await client.uploads.upload({ kind: 'cohort', data: new Blob(['eid\n1\n']) });
  await client.cohorts.create({ name: 'Cohort', upload_reference: reference });
  await sandbox.advance(DURATION_MS);
  await client.lookalikes.create({
    name: 'Lookalike',
    source_audience_id: audience.id,
    config: { target_size: 1_000 },
  });
  await client.activations.create({ description: 'Activation', audience_id: audience.id, credentials: { key: 'key' } });
  await sandbox.advance(DURATION_MS);
  const requests: PlannedRequest[] = [];
  await checkService({
    baseUrl,
    token,
    level,
    // On this clock, a timeout would end before its request does.
    requestTimeout: Number.POSITIVE_INFINITY,
    fetch: sandbox.fetch,
    clock: { now: () => sandbox.now(), sleep: (ms) => sandbox.advance(ms) },
    onProgress(event) {
      if (event.type === 'request') requests.push({ method: event.method, path: event.path, why: event.why });
    },
  });
  return requests;
}

/** Duration of a job. */
const DURATION_MS = 600_000;
