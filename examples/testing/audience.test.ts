import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AudienceClient, JobNeedsInfoError } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

test('a build that needs more information rejects with JobNeedsInfoError', async () => {
  const sandbox = createSandbox({ jobs: { duration: 0, outcome: 107 } });
  const token = sandbox.accounts.create({ email: 'me@example.com', password: 'secret' }).token('api');
  const client = new AudienceClient({ baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch });
  await assert.rejects(client.audiences.createAndWait({ name: 'Visitors' }), JobNeedsInfoError);
});
