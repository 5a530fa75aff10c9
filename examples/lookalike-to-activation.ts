/**
 * Builds a seed audience, a lookalike of it and an activation, and waits for each.
 *
 * Runs against a sandbox in another process; see `await-audience.ts` for the real service.
 */
import { AudienceClient, apiToken, explainActivation, memoryTokenStore } from 'audience-activation';
import { showProgress } from './support/progress.ts';
import { startSandbox } from './support/sandbox.ts';

const service = await startSandbox({ speed: 600 });
const client = new AudienceClient({
  baseUrl: service.url,
  token: apiToken(service.credentials, { store: memoryTokenStore() }),
});
const day = (daysAgo: number): string => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);

const progress = showProgress();
const wait = {
  timeout: 60_000,
  onUpdate: ({ status }: { status: { name: string } }) => progress.update(status.name),
};
try {
  const seed = await client.audiences.createAndWait(
    { name: 'Buyers', dataset: [{ analysis_type: 'WebDomain', start_date: day(30), end_date: day(1) }] },
    { wait },
  );
  progress.line(`Seed ${seed.id} holds ${seed.results_count} devices.`);

  const twins = await client.lookalikes.createAndWait(
    { name: 'People like buyers', source_audience_id: seed.id, config: { target_size: 250_000 } },
    { wait },
  );
  progress.line(`Lookalike ${twins.id} holds ${twins.results_count} devices.`);

  const { allowed, blockers } = explainActivation(twins, { identifier: 'MAID' });
  if (!allowed) throw new Error(blockers.map(({ message }) => message).join(' '));

  const activation = await client.activations.createAndWait(
    { audience_id: twins.id, description: 'Spring campaign' },
    { wait },
  );
  for (const { name, results } of activation.datastreams) {
    progress.line(`Activation ${activation.id} delivered ${name}: ${results.uri}`);
  }
} finally {
  progress.end();
  await client.close();
  await service.stop();
}
