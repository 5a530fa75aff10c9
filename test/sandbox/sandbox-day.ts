import { createSandbox } from '../../src/sandbox/index.ts';

/**
 * Runs two days of a sandbox in process: requests, jobs, faults, and deliveries to three endpoints whose responses
 * arrive in a random order. Prints the logs and the responses.
 */
const sandbox = createSandbox({
  seed: 11,
  clock: 'manual',
  start: Date.UTC(2026, 0, 1),
  jobs: { outcome: ({ id }) => (id % 3 === 0 ? 107 : 104) },
  faults: [
    { rate: 0.1, status: 503 },
    { rate: 0.1, cut: 'after' },
    { rate: 0.1, malformed: true },
  ],
  async deliver(request) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
    return new Response(null, { status: request.url.endsWith('/up') ? 204 : 500 });
  },
});
const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' });
for (const name of ['up', 'down', 'broken'])
  sandbox.webhooks.create({ account, name, url: `https://${name}.example/${name}`, events: ['audience.completed'] });
const token = account.token('api');

const results: string[] = [];
async function call(method: string, path: string, body?: object): Promise<void> {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const result = await sandbox.fetch(`http://sandbox${path}`, init).then(
    (response) => response.text(),
    (error: unknown) => String(error),
  );
  results.push(result);
}

for (let round = 0; round < 40; round++) {
  await call('POST', '/api/v2/audiences/create', { name: `Audience ${round}` });
  await call('GET', '/api/v2/audiences/index');
  await call('POST', '/api/v2/uploads/create', { kind: 'cohort' });
  await call('POST', '/api/v2/auth/login', { email: 'ada@example.com', password: 'x' });
  await sandbox.advance(72 * 60_000);
}
console.log(JSON.stringify({ log: sandbox.log, deliveries: sandbox.webhooks.deliveries, results }, null, 1));
