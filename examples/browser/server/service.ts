import { AUDIENCE_STATUS, AudienceClient, type Credentials } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

/** The service of this example: a sandbox with some audiences. */
export interface Service {
  readonly url: string;
  /** Origin that files are uploaded to, which differs from the origin of the API, as with the real service. */
  readonly storageUrl: string;
  readonly credentials: Credentials;
  close(): Promise<void>;
}

const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** Audiences that exist at the start. Their builds have completed. */
const BUILT: readonly string[] = [
  'Commuters, city centre',
  'Garden centre visitors',
  'Weekend hikers',
  'Coffee shop regulars',
  'Cinema goers',
  'Pet owners',
  'Electric car drivers',
  'Gym members',
  'Airport lounge visitors',
  'Bookshop browsers',
  'Night-time diners',
  'Home improvers',
  'Winter sports fans',
  'Farmers’ market visitors',
  'Stadium crowd',
];

/** Audiences that exist at the start, and the statuses at which their builds have ended. */
const NOT_BUILT: Readonly<Record<string, number>> = {
  'New movers, north': 422,
  'Trade fair guests': AUDIENCE_STATUS.additionalInfo,
  'Students, west campus': AUDIENCE_STATUS.additionalInfo,
};

/** Starts the sandbox over HTTP, with a clock `speed` times as fast as this machine's. */
export async function startService(speed: number): Promise<Service> {
  const sandbox = createSandbox({
    clock: { speed },
    // Uploads take real time, so the 15 minutes to claim a file must not pass faster.
    limits: { claimWindow: 15 * 60_000 * speed },
    jobs: { outcome: ({ name }) => AUDIENCE_STATUS[name.includes('cannot be built') ? 'additionalInfo' : 'completed'] },
  });
  const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
  const account = sandbox.accounts.create(credentials);
  await using client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: account.token('login'),
    fetch: sandbox.fetch,
  });
  for (const name of [...BUILT, ...Object.keys(NOT_BUILT)]) {
    const dataset = [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }];
    const { id } = await client.audiences.create({ name, dataset });
    sandbox.jobs.finish('audience', id, NOT_BUILT[name] ?? AUDIENCE_STATUS.completed);
  }
  return { ...(await sandbox.listen()), credentials };
}
