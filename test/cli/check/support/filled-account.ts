import { createSandbox, type JobKind, type Sandbox, type SandboxState } from '../../../../src/sandbox/index.ts';
import { isObject } from '../../../../src/util/json.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Origin of every variant service. */
export const ORIGIN = 'https://canary-host.example';

/** Owner of the account. */
export const OWNER = {
  email: 'canary.owner@canary-mail.example',
  password: 'canary-password-8c1f',
  company: 'Canary Holdings 5521',
};

/** Texts of the account that must not leave it. Names of all resources contain the last one. */
export const CANARIES: readonly string[] = ['canary', 'Canary', 'CANARY'];

/** Audiences and lookalikes of the account. */
export const AUDIENCES = 131;

/** Limits that no check reaches: requests are counted by the variant service. */
export const NO_LIMITS = {
  read: { limit: 1e6, interval: 1 },
  write: { limit: 1e6, interval: 1 },
  mcp: { limit: 1e6, interval: 1 },
};

const dataset = (now: number) => {
  const day = (ago: number): string => new Date(now - ago * DAY).toISOString().slice(0, 10);
  return [{ analysis_type: 'WebDomain', start_date: day(20), end_date: day(1) }];
};

/** Creates resources as their owner does. */
async function create(sandbox: Sandbox, token: string, resource: string, body: object): Promise<number> {
  const response = await sandbox.fetch(`${ORIGIN}/api/v2/${resource}/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const envelope: unknown = await response.json();
  const [created]: unknown[] = isObject(envelope) && Array.isArray(envelope.data) ? envelope.data : [];
  if (!isObject(created)) throw new Error(`${resource} was not created: ${JSON.stringify(envelope)}`);
  return Number(created.id);
}

/** Fills an account in which most jobs ended twelve days ago, and two still run. */
async function fill(sandbox: Sandbox, token: string): Promise<void> {
  let count = 0;
  const make = (resource: string, fields: object = {}): Promise<number> => {
    count++;
    const name = `CANARY ${resource} ${count}`;
    return create(sandbox, token, resource, { name, description: name, ...fields });
  };
  const outcomes = (kind: JobKind, ...statuses: readonly number[]): void => {
    for (const status of statuses) sandbox.jobs.next(kind, status);
  };
  const account = sandbox.accounts.get(OWNER.email);
  for (const url of ['https://canary-host.example/hook', 'https://canary-host.example/other'])
    sandbox.webhooks.create({ account, name: 'CANARY webhook', url });
  for (let project = 0; project < 4; project++) await make('projects');
  const audience = { dataset: dataset(sandbox.now()) };
  const seed = await make('audiences', audience);
  for (let index = 1; index < 120; index++) {
    outcomes('audience', index % 10 === 0 ? 107 : index % 15 === 0 ? 410 : 104);
    await make('audiences', audience);
  }
  await sandbox.advance(HOUR);
  for (let index = 0; index < 5; index++)
    await make('lookalikes', { source_audience_id: seed, config: { target_size: 20_000 } });
  outcomes('cohort', 4, 4, 5);
  for (let index = 0; index < 3; index++) await make('cohorts');
  outcomes('activation', 104, 107, 104, 104);
  for (let index = 0; index < 4; index++)
    await make('activations', { audience_id: seed, credentials: { key: 'CANARY' } });
  for (let index = 0; index < 2; index++) await make('schedules');
  await sandbox.advance(12 * DAY);
  const recent = { dataset: dataset(sandbox.now()) };
  for (let index = 0; index < 4; index++) await make('audiences', recent);
  for (let index = 0; index < 2; index++) {
    sandbox.jobs.next('audience', { status: 104, duration: 30 * DAY });
    await make('audiences', recent);
  }
  await sandbox.advance(26 * HOUR);
}

const states = new Map<boolean, Promise<SandboxState>>();

/** Returns the state of a sandbox with one account, filled or empty. It is built once. */
export function accountState(isFilled: boolean): Promise<SandboxState> {
  const existing = states.get(isFilled);
  if (existing) return existing;
  const state = (async () => {
    const sandbox = createSandbox({
      clock: 'manual',
      start: Date.UTC(2026, 9, 27, 9, 12, 44),
      origin: ORIGIN,
      limits: { ...NO_LIMITS, buildsPerHour: 1e6, buildsPerDay: 1e6 },
      jobs: { devices: 5_000 },
      deliver: async () => new Response(null, { status: 200 }),
    });
    const account = sandbox.accounts.create(OWNER);
    if (isFilled) await fill(sandbox, account.token('login'));
    account.company.setBuildBudget({ buildsPerHour: 60, buildsPerDay: 300 });
    const saved = sandbox.save();
    await sandbox.close();
    return saved;
  })();
  states.set(isFilled, state);
  return state;
}
