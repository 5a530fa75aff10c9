/**
 * Runs the worker of `worker.ts` in workerd, Cloudflare's runtime, against a sandbox over HTTP: `node
 * examples/worker/run.ts`. Starts a build, lets the sandbox send the event of its end, and shows the result that the worker has stored.
 */
import { fileURLToPath } from 'node:url';
import { createSandbox } from 'audience-activation/sandbox';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';

// The worker checks signatures by the machine's clock, so the sandbox must sign with that clock's time.
const sandbox = createSandbox({ clock: 'manual', signatureClock: 'machine' });
const account = sandbox.accounts.create({ email: 'demo@example.com', password: 'a password of the sandbox' });
const service = await sandbox.listen();

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
  bundle: true,
  write: false,
  minify: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['workerd', 'worker', 'browser'],
});
const [script] = outputFiles;
const bindings = { AUDIENCE_BASE_URL: service.url, AUDIENCE_TOKEN: account.token('api') };
const options = (WEBHOOK_SECRET: string, port = 0) => ({
  port,
  modules: true,
  script: script?.text ?? '',
  compatibilityDate: '2026-04-01',
  bindings: { ...bindings, WEBHOOK_SECRET },
  kvNamespaces: ['ENDED'],
  cf: false,
});
const worker = new Miniflare(options('not registered yet'));
const url = await worker.ready;
const endpoint = sandbox.webhooks.create({
  account,
  name: 'Worker',
  url: `${url.origin}/webhooks`,
  events: ['audience.completed'],
});
await worker.setOptions(options(endpoint.secret, Number(url.port)));

async function call(description: string, path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(new URL(path, url), init);
  console.log(`${description}: ${response.status} ${await response.text()}`);
  return response.headers.get('location') ?? path;
}

console.log(`Bundled in ${Math.round((script?.contents.length ?? 0) / 1024)} KiB.`);
const headers = { 'content-type': 'application/json', 'idempotency-key': 'order-4711' };
const order = { method: 'POST', headers, body: JSON.stringify({ name: 'Visitors' }) };
const location = await call('Started', '/audiences', order);
await call('The same again', '/audiences', order);
await call('Running', location);
// The build ends, and the service sends an event.
await sandbox.advance(600_000);
for (const { type, status } of sandbox.webhooks.deliveries) console.log(`Delivered: ${type}: ${status}`);
await call('Ended', location);
await call('Not genuine', '/webhooks', { method: 'POST', body: '{}' });
await call('Not there', '/audiences/999999');

await worker.dispose();
await service.close();
