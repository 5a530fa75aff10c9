import { memoryTokenStore, openApiDocument } from 'audience-activation';
import { createOAuthClient } from 'audience-activation/oauth';
import { createSandbox } from 'audience-activation/sandbox';
import { check } from './check.ts';
import { exerciseClient, exerciseErrors, exerciseFiles, exerciseMcp, exerciseWebhooks } from './exercise.ts';

/** A page that uses a sandbox in the same process, and starts a worker that uses the service in the page's query. */
async function main(): Promise<string> {
  const sandbox = createSandbox({ jobs: { duration: 0 } });
  const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
  const token = account.token('api');
  const service = { baseUrl: 'https://api.example.com', token, fetch: sandbox.fetch };
  const audience = await exerciseClient(service);
  await exerciseErrors(service);
  await exerciseFiles(service);
  await exerciseWebhooks(audience);
  await exerciseMcp({ ...service, token: account.token('mcp') });
  const redirectUri = `${location.origin}/callback`;
  const oauth = createOAuthClient({
    baseUrl: service.baseUrl,
    fetch: service.fetch,
    redirectUri,
    store: memoryTokenStore(),
  });
  const { url } = await oauth.authorize();
  check(new URL(url).searchParams.get('redirect_uri') === redirectUri, 'OAuth redirects to the page');
  check(openApiDocument().openapi.startsWith('3.1'), 'the OpenAPI document is part of the bundle');
  const refusal: unknown = await sandbox.listen().catch((error: unknown) => error);
  check(refusal instanceof TypeError && refusal.message.includes('needs Node'), 'the sandbox cannot listen in a page');
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
