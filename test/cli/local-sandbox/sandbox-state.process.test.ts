import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { eventually } from '../../support/eventually.ts';
import { quick } from '../../support/server.ts';
import { runs } from '../../support/volume.ts';
import { type Scene, startScene } from '../support/run-process.ts';
import { linesOf } from '../support/scene.ts';

/** Runs `sandbox --json` until it is ready; returns what it has printed first. */
async function start(scene: Scene, ...args: string[]) {
  const running = scene.start(['sandbox', '--json', ...args]);
  await eventually(() => expect(running.printed.out).toContain('\n'));
  const [banner = {}] = linesOf(running.printed.out.split('\n')[0] ?? '');
  const { url, token } = { url: String(banner.url), token: String(banner.token) };
  return { ...running, banner, client: new AudienceClient({ baseUrl: url, token, ...quick }) };
}

it('a sandbox with --state keeps accounts, tokens, resources and running jobs over a killed process', async () => {
  const scene = await startScene();
  const file = join(scene.folder, 'state.json');
  const first = await start(scene, '--state', file, '--webhook', 'http://127.0.0.1:1/hook', '--duration', '1h');
  const { id } = await first.client.audiences.create({ name: 'Kept' });
  await eventually(async () => expect(await readFile(file, 'utf8')).toContain('Kept'));
  // Actions of the operator are written as requests are.
  const { id: finished } = await first.client.audiences.create({ name: 'Finished' });
  expect(await scene.run(['sandbox', 'finish', `audience:${finished}`, '422'])).toMatchObject({ code: 0 });
  await eventually(async () => expect(await readFile(file, 'utf8')).toContain('422'));
  first.child.kill('SIGKILL');
  await first.ended;
  expect((await stat(file)).mode & 0o777).toBe(0o600);

  const second = await start(scene, '--state', file, '--webhook', 'http://127.0.0.1:1/hook');
  expect(second.banner).toMatchObject({ token: first.banner.token, webhookSecret: first.banner.webhookSecret });
  expect(await second.client.audiences.get(id)).toMatchObject({ name: 'Kept', status: { id: 100 } });
  expect(await second.client.webhooks.list()).toHaveLength(1);
  second.child.kill('SIGINT');
  expect(await second.ended).toMatchObject({ code: 0, err: '' });
  expect((await readdir(scene.folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
});

it('a state file is complete whenever its writer is killed', async () => {
  const file = join(await temporaryDirectory(), 'state.json');
  const program = fileURLToPath(new URL('../support/state-writer.ts', import.meta.url));
  for (let round = 0; round < runs(5, 30, 100); round++) {
    const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let written = '';
    child.stdout.on('data', (lines: Buffer) => {
      written += lines;
    });
    // The second one has replaced the first one, and the next ones are under way.
    await expect.poll(() => written).toContain('2\n');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10));
    child.kill('SIGKILL');
    await ended;
    const { token, data } = JSON.parse(await readFile(file, 'utf8'));
    expect(data).toHaveLength(20_000);
    expect(Number(token)).toBeGreaterThanOrEqual(2);
  }
});
