/**
 * Builds an audience, waits for it, and shows the error of a build that fails.
 *
 * Runs against a sandbox in another process. For the real service, pass its `baseUrl` and your credentials instead of
 * the credentials of `startSandbox`.
 */
import { AudienceClient, apiToken, JobError, memoryTokenStore } from 'audience-activation';
import { showProgress } from './support/progress.ts';
import { startSandbox } from './support/sandbox.ts';

const service = await startSandbox({ speed: 120 });

// An account can have only ten live API tokens: outside of demos, use a store that outlives the process.
const token = apiToken(service.credentials, { store: memoryTokenStore() });
const client = new AudienceClient({ baseUrl: service.url, token });

const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
const dataset = [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }] as const;

const progress = showProgress();
try {
  const audience = await client.audiences.createAndWait(
    { name: 'Visitors of the last month', dataset },
    {
      onCreated: ({ id, name }) => progress.line(`Created audience ${id}, "${name}".`),
      wait: {
        timeout: 60_000,
        onUpdate: ({ status }, { elapsed }) => progress.update(`${status.name} after ${(elapsed / 1000).toFixed(1)} s`),
      },
    },
  );
  progress.line(`Audience ${audience.id} holds ${audience.results_count} devices.`);
  progress.line(`Activation is ${audience.eligibility.allowed ? 'allowed' : 'blocked'}.`);

  const { hour, day: daily } = await client.usage.buildBudget();
  progress.line(`Builds left: ${hour.limit - hour.used} this hour, ${daily.limit - daily.used} today.`);

  await client.audiences.createAndWait(
    { name: 'A definition that cannot be built', dataset },
    { wait: { onUpdate: ({ status }) => progress.update(status.name) } },
  );
} catch (error) {
  if (!(error instanceof JobError)) throw error;
  progress.line(`${error.name} (${error.code}): ${error.message}`);
} finally {
  progress.end();
  await client.close();
  await service.stop();
}
