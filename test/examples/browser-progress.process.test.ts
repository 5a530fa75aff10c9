import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApp } from '../../examples/hono-progress/app.ts';
import type { WaitEvent } from '../../src/index.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { launchChromium, openPage } from '../support/example-page.ts';
import { startBench } from '../support/sandbox.ts';

describe('examples/hono-progress', () => {
  it('shows the progress of a build in a page until its webhook arrives', async () => {
    const child = spawn(process.execPath, ['examples/hono-progress/run.ts', '--speed', '120']);
    onTestFinished(() => void child.kill('SIGKILL'));
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        output[name] += chunk.toString();
      });
    }
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await openPage(browser);
    await expect.poll(() => output.stdout).toContain('Open ');
    await page.goto(/Open (\S+)\. /.exec(output.stdout)?.[1] ?? '');
    await page.getByLabel('Name').fill('Visitors');
    await page.getByRole('button', { name: 'Build' }).click();
    await page.getByRole('status').getByText('Building').waitFor();
    await page
      .getByRole('status')
      .getByText(/^\d+ devices$/)
      .waitFor();
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(output.stderr).toBe('');
  });

  it('sends the last status when the webhook arrives', async () => {
    const secrets: string[] = [];
    const { client, account, sandbox } = await startBench({ deliver: (request) => handle(request) });
    const app = createApp(client, createWebhookReceiver({ secrets, now: () => sandbox.now() }));
    const handle = async (request: Request): Promise<Response> => app.fetch(request);
    const events = ['audience.completed'];
    secrets.push(sandbox.webhooks.create({ account, name: 'Mine', url: 'http://localhost/webhooks', events }).secret);

    const body = JSON.stringify({ name: 'Visitors', key: 'order-1' });
    const { id } = await (await app.request('/audiences', { method: 'POST', body })).json();
    const progress = await app.request(`/audiences/${id}/progress`);
    const text = progress.text();
    await expect.poll(() => sandbox.log.some(({ path }) => path.endsWith(`/${id}`))).toBe(true);
    await sandbox.advance(3_600_000);
    const lines = (await text).split('\n');
    expect(lines.filter((line) => line.startsWith('event:')).at(-1)).toBe('event: end');
    expect(lines).toContain('data: {"status":"Completed","source":"webhook"}');
    expect(sandbox.webhooks.deliveries).toMatchObject([{ type: 'audience.completed', status: 200 }]);
  });

  it('ends the wait of a reader who leaves', async () => {
    const ends: unknown[] = [];
    const onWait = (event: WaitEvent): void => void (event.type === 'ended' && ends.push(event.outcome));
    const { client } = await startBench({}, { onWait });
    const app = createApp(client, createWebhookReceiver({ secrets: 'secret' }));
    const { id } = await client.audiences.create({ name: 'Visitors' });
    const { body } = await app.request(`/audiences/${id}/progress`);
    const reader = body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => ends).toEqual(['aborted']);
  });
});
