import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { quick } from '../../support/server.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

/** Runs `sandbox --json` until it is ready; returns what it has printed first. */
async function start(scene: Scene, ...args: string[]) {
  const running = scene.start(['sandbox', '--json', ...args]);
  await running.shows('out', '\n');
  const [banner = {}] = linesOf(running.printed.out.split('\n')[0] ?? '');
  const { url, token } = { url: String(banner.url), token: String(banner.token) };
  return { ...running, banner, client: new AudienceClient({ baseUrl: url, token, ...quick }) };
}

describe('sandbox --state', () => {
  it('issues another token if the one of the file was revoked', async () => {
    const scene = await startScene();
    const file = join(scene.folder, 'state.json');
    const first = await start(scene, '--state', file);
    await first.client.auth.revokeApiTokens({ email: 'dev@example.com', password: 'sandbox' });
    first.interrupt();
    await first.ended;
    const second = await start(scene, '--state', file);
    expect(second.banner.token).not.toBe(first.banner.token);
    expect(await second.client.webhooks.list()).toEqual([]);
    second.interrupt();
    await second.ended;
  });

  it.each([
    ['cut', '{"version":1,"seed":1,"da', /is not a complete state of a sandbox, and was not changed/],
    ['of a newer version', '{"version":2,"seed":1,"data":[]}', /of version 2, which only a newer/],
    ['of another seed', '{"version":1,"seed":7,"data":[]}', /was saved with the seed 7, not 1/],
  ])('refuses a file that is %s, and leaves it as it is', async (_, text, message) => {
    const scene = await startScene();
    const file = join(scene.folder, 'state.json');
    await writeFile(file, text);
    const { code, err } = await scene.run(['sandbox', '--state', file, '--seed', '1']);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('refuses a file whose folder does not exist', async () => {
    const scene = await startScene();
    const { code, err } = await scene.run(['sandbox', '--state', join(scene.folder, 'missing', 'x.json')]);
    expect([code, err]).toEqual([2, expect.stringContaining('The state cannot be written to ')]);
  });

  it('reports that the state cannot be written, and keeps the file', async () => {
    const scene = await startScene();
    const file = join(scene.folder, 'state.json');
    const running = await start(scene, '--state', file);
    const before = await readFile(file, 'utf8');
    // The temporary file cannot be created.
    await mkdir(`${file}.part`);
    await running.client.audiences.create({ name: 'x' });
    await running.shows('err', 'The state could not be written');
    running.interrupt();
    expect(await running.ended).toMatchObject({ code: 1 });
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});
