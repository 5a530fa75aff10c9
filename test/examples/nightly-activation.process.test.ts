import { spawn } from 'node:child_process';
import { readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { observe, type Scene, startScene } from '../cli/support/run-process.ts';
import { makeOlder } from '../support/directory.ts';
import { eventually } from '../support/eventually.ts';

const DAY = '2026-11-24';

/** Makes the command available in a scene, with rows for both programs; returns the environment. */
async function prepare({ folder, env }: Scene): Promise<NodeJS.ProcessEnv> {
  await symlink(process.execPath, join(folder, 'node'));
  await symlink(join(process.cwd(), 'dist/cli.js'), join(folder, 'audience-activation'));
  await writeFile(join(folder, 'regions.csv'), 'key,name\nnorth,North\nsouth,South\n');
  await writeFile(join(folder, 'regions.json'), '{"north":{"name":"North"},"south":{"name":"South"}}');
  return { ...env, PATH: `${folder}:${env.PATH}`, CI: 'true', DAY };
}

const PROGRAMS = [
  ['nightly-activation.sh', 'regions.csv'],
  ['nightly-activation.ts', 'regions.json'],
] as const;

describe.each(PROGRAMS)('examples/%s', (name, file) => {
  /** Starts the program in its own process group, so that a kill ends the command in it, too. */
  const start = ({ folder }: Scene, env: NodeJS.ProcessEnv) => {
    const path = join(process.cwd(), 'examples', name);
    const command = name.endsWith('.sh') ? [path] : [process.execPath, path];
    return observe(
      spawn(command[0] ?? '', [...command.slice(1), file, 'results'], { cwd: folder, env, detached: true }),
    );
  };

  it('killed during the creates of audiences and of activations and started again, it creates nothing twice and saves the files of each row', async () => {
    const scene = await startScene();
    const { sandbox, client, folder } = scene;
    const env = await prepare(scene);
    for (const on of ['audiences.create', 'activations.create']) {
      sandbox.faults.add({ on, inFlight: 600_000, times: 1 });
      const { child, ended } = start(scene, env);
      await eventually(() => expect(sandbox.faults.list()).toEqual([]));
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      expect((await ended).code).toBe('SIGKILL');
      sandbox.faults.clear();
      // As if the kill was a minute ago: the next process does not wait for ten seconds.
      for (const lock of (await readdir(folder)).filter((path) => path.endsWith('.lock')))
        await makeOlder(join(folder, lock), 60_000);
    }
    const last = await start(scene, env).ended;
    expect(last.code, last.err).toBe(0);
    expect(last.err).not.toContain('\u001b');
    const [day = ''] = await readdir(join(folder, 'results'));
    expect(day).toBe(DAY);
    for (const key of ['north', 'south']) {
      const [saved = ''] = await readdir(join(folder, 'results', day, key));
      expect((await stat(join(folder, 'results', day, key, saved))).size).toBeGreaterThan(0);
    }
    const again = await start(scene, env).ended;
    expect(again.code, again.err).toBe(0);
    const audiences = await client.audiences.list().toArray({ limit: 10 });
    expect(audiences.map(({ name }) => name).sort()).toEqual(['North', 'South']);
    expect(await client.activations.list().toArray({ limit: 10 })).toHaveLength(2);
  });

  it('ends with an error if a build fails', async () => {
    const scene = await startScene({ jobs: { duration: 0, outcome: 107 } });
    const { code, err } = await start(scene, await prepare(scene)).ended;
    expect({ code, err }).toEqual({ code: name.endsWith('.sh') ? 4 : 1, err: expect.stringContaining('107') });
  });
});
