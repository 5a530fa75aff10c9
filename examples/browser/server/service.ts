import { AudienceClient, type Credentials } from 'audience-activation';
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

/** Audiences that exist at the start: their names, and the final statuses of their builds. */
const SEEDS: readonly (readonly [name: string, status: number])[] = [
  ['Commuters, city centre', 104],
  ['Garden centre visitors', 104],
  ['New movers, north', 422],
  ['Weekend hikers', 104],
  ['Coffee shop regulars', 104],
  ['Cinema goers', 104],
  ['Trade fair guests', 107],
  ['Pet owners', 104],
  ['Electric car drivers', 104],
  ['Gym members', 104],
  ['Airport lounge visitors', 104],
  ['Bookshop browsers', 104],
  ['Night-time diners', 104],
  ['Home improvers', 104],
  ['Students, west campus', 107],
  ['Winter sports fans', 104],
  ['Farmers’ market visitors', 104],
  ['Stadium crowd', 104],
];

/** Starts the sandbox over HTTP, with a clock `speed` times as fast as this machine's. */
export async function startService(speed: number): Promise<Service> {
  const sandbox = createSandbox({
    clock: { speed },
    // Uploads take real time, so the 15 minutes to claim a file must not pass faster.
    limits: { claimWindow: 15 * 60_000 * speed },
    jobs: { outcome: ({ name }) => (name.includes('cannot be built') ? 107 : 104) },
  });
  const credentials = { email: 'demo@example.com', password: 'a password of the sandbox' };
  const account = sandbox.accounts.create(credentials);
  await using client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: account.token('login'),
    fetch: sandbox.fetch,
  });
  for (const [name, status] of SEEDS) {
    const dataset = [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }];
    const { id } = await client.audiences.create({ name, dataset });
    sandbox.jobs.finish('audience', id, status);
  }
  return { ...(await sandbox.listen()), credentials };
}
