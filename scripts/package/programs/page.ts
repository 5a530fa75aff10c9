import { createSandbox } from 'audience-activation/sandbox';
import { exerciseClient, exerciseErrors, exerciseMcp, exerciseWebhooks } from './exercise.ts';

/** A page that uses a sandbox in the same process, and starts a worker that uses the service in the page's query. */
async function main(): Promise<string> {
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
  const token = account.token('api');
  const service = { baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch };
  const audience = await exerciseClient(service);
  await exerciseErrors(service);
  await exerciseWebhooks(audience);
  await exerciseMcp({ ...service, token: account.token('mcp') });
  await sandbox.close();
  const worker = new Worker(new URL('./web-worker.js', import.meta.url), { type: 'module' });
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(String(data));
    worker.onerror = ({ message }) => resolve(`The worker failed: ${message}`);
    worker.postMessage(Object.fromEntries(new URLSearchParams(location.search)));
  });
}

main().then(
  (text) => {
    document.title = text;
  },
  (error: unknown) => {
    document.title = String(error);
  },
);
