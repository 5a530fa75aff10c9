import { createSandbox } from '../../src/sandbox/index.ts';

/**
 * Two days in the life of a sandbox, all in process: every kind of request, jobs, faults, deliveries to three endpoints
 * whose answers come in an order that changes from run to run. Prints all that was logged.
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
    return new Response(null, { status: request.url.endsWith('/well') ? 204 : 500 });
  },
});
const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' });
for (const name of ['well', 'ill', 'sick'])
  sandbox.webhooks.create({ account, name, url: `https://${name}.example/${name}`, events: ['audience.completed'] });
const token = account.token('api');

const answers: string[] = [];
async function call(method: string, path: string, body?: object): Promise<void> {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${token}`,
    ...(body && { 'content-type': 'application/json' }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await sandbox.fetch(`http://sandbox${path}`, init).then(
    (response) => response.text(),
    (error: unknown) => String(error),
  );
  answers.push(answer);
}

for (let round = 0; round < 40; round++) {
  await call('POST', '/api/v2/audiences/create', { name: `Audience ${round}` });
  await call('GET', '/api/v2/audiences/index');
  await call('POST', '/api/v2/uploads/create', { kind: 'cohort' });
  await call('POST', '/api/v2/auth/login', { email: 'ada@example.com', password: 'x' });
  await sandbox.advance(72 * 60_000);
}
console.log(JSON.stringify({ log: sandbox.log, deliveries: sandbox.webhooks.deliveries, answers }, null, 1));
