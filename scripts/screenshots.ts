import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { AudienceClient } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';
import { chromium } from 'playwright';
import sharp from 'sharp';
import { CHROMIUM } from './chromium.ts';
import { screenOf } from './terminal-screen.ts';

/**
 * Takes the screenshots of `docs/images`: pages of the console, and `aud run` in a terminal.
 *
 *   npm run screenshots
 */
const FOLDER = 'docs/images';
const credentials = { email: 'ada@example.com', password: 'secret' };

const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(request.url === '/old' ? 410 : 200).end('{"received":true}');
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

const sandbox = createSandbox({ clock: 'manual', start: Date.UTC(2026, 5, 15, 9, 30), jobs: { devices: 48_213 } });
const account = sandbox.accounts.create({ ...credentials, company: 'Example Company' });
sandbox.webhooks.create({ url: `${receiverUrl}/webhooks`, name: 'Backend' });
sandbox.webhooks.create({ url: `${receiverUrl}/old`, name: 'Old backend' });
const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
const options = { baseUrl: url, rateLimits: false, maxRetries: 0, maxRetryWait: 0, logLevel: 'off' } as const;
const client = new AudienceClient({ ...options, token: account.token('api') });
const stranger = new AudienceClient({ ...options, token: '99|revoked' });
const ignore = (): void => {};

const { id: audience_id } = await client.audiences.create({ name: 'Visitors of June' }, { idempotencyKey: 'june' });
await client.audiences.create({ name: 'Visitors of May' }, { idempotencyKey: 'june' }).catch(ignore);
const { id: broken } = await client.audiences.create({ name: 'Nobody' });
sandbox.jobs.finish('audience', broken, 107, 'No device visits these domains: widen the filter.');
await sandbox.advance(11 * 60_000);
await client.activations.create({ audience_id, description: 'Summer campaign' });
await client.activations.create({ audience_id: broken }).catch(ignore);
await client.cohorts.create({ name: 'Customers' });
await client.audiences.create({ name: 'Visitors of July' });
await stranger.audiences.list().catch(ignore);
sandbox.faults.add({ on: 'usage.get', status: 503, times: 3 });
await client.usage.get().catch(ignore);
account.company.setBuildBudget({ buildsPerHour: 5 });
await client.estimates.create({ name: 'One too many' }).catch(ignore);
await client.audiences.list();
await sandbox.advance(20_000);

const { origin } = new URL(consoleUrl);
const browser = await chromium.launch(CHROMIUM);
mkdirSync(FOLDER, { recursive: true });

/** Takes a screenshot of a page. */
async function shoot(name: string, path: string, colorScheme: 'light' | 'dark', width: number, height: number) {
  const context = await browser.newContext({ colorScheme, viewport: { width, height } });
  const page = await context.newPage();
  await page.goto(consoleUrl);
  await page.waitForURL(`${origin}/requests`);
  await page.goto(`${origin}${path}`);
  if (path === '/deliveries') await page.getByRole('link', { name: 'audience.' }).first().click();
  // The images are shipped: with a palette they take less than half of the space, without a visible difference.
  await sharp(await page.screenshot())
    .png({ palette: true })
    .toFile(`${FOLDER}/${name}.png`);
  await context.close();
}

/** Runs `aud run` in a terminal against a sandbox of its own, and takes a picture of what it shows. */
async function shootRun(): Promise<void> {
  const service = createSandbox({ clock: { speed: 400 }, jobs: { devices: 48_213 } });
  const token = service.accounts.create(credentials).token('api');
  service.jobs.next('audience', 104);
  service.jobs.next('audience', 107);
  const server = await service.listen();
  const folder = mkdtempSync(join(tmpdir(), 'audience-activation-'));
  const dataset = 'AffinityTransactions,2026-05-01,2026-05-31';
  const header = 'key,name,dataset.0.analysis_type,dataset.0.start_date,dataset.0.end_date';
  const rows = ['north', 'south', 'east', 'west'].map((key) => `${key},${key} region,${dataset}`);
  writeFileSync(join(folder, 'regions.csv'), [header, ...rows, ''].join('\n'));
  const command = `stty cols 96 rows 40; ${process.execPath} ${resolve('dist/cli.js')} run regions.csv --download results`;
  const env = { ...process.env, AUDIENCE_BASE_URL: server.url, AUDIENCE_TOKEN: token, TERM: 'xterm-256color' };
  // `script` gives the command a terminal. Without `-e`, it ignores the exit code of the command: one of the rows fails.
  const printed = await promisify(execFile)('script', ['-qc', command, '/dev/null'], { cwd: folder, env });
  const page = await browser.newPage({ viewport: { width: 880, height: 400 } });
  await page.setContent(
    `<body style="margin:0"><pre style="margin:0;padding:16px;white-space:pre-wrap;background:#0d1117;color:#e6edf3;font:14px/1.5 'DejaVu Sans Mono',monospace">$ npx aud run regions.csv --download results\n${screenOf(printed.stdout)}</pre>`,
  );
  await sharp(await page.locator('pre').screenshot())
    .png({ palette: true })
    .toFile(`${FOLDER}/terminal-run.png`);
  await server.close();
  await service.close();
}

await shootRun();
await shoot('console-requests', '/requests', 'light', 1200, 620);
await shoot('console-deliveries-dark', '/deliveries', 'dark', 1200, 760);
await shoot('console-clock', '/clock', 'light', 1200, 720);
await browser.close();
await client.close();
await stranger.close();
await sandbox.close();
receiver.close();
