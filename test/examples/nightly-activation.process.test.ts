import { spawn } from 'node:child_process';
import { readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { observe, type Scene, startScene } from '../cli/support/run-process.ts';
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

/** Expects that the service has each audience and its activation once. */
async function expectOnce({ json }: Scene): Promise<void> {
  const audiences = await json(['audiences', 'list']);
  expect(audiences.map(({ name }) => name).sort()).toEqual(['North', 'South']);
  expect(await json(['activations', 'list'])).toHaveLength(2);
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

  it('saves the files of each row, and creates nothing twice when it is repeated', async () => {
    const scene = await startScene();
    const env = await prepare(scene);
    const first = await start(scene, env).ended;
    expect(first.code, first.err).toBe(0);
    expect(first.err).not.toContain('\u001b');
    const [day = ''] = await readdir(join(scene.folder, 'results'));
    expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
    for (const key of ['north', 'south']) {
      const [saved = ''] = await readdir(join(scene.folder, 'results', day, key));
      expect((await stat(join(scene.folder, 'results', day, key, saved))).size).toBeGreaterThan(0);
    }
    const again = await start(scene, env).ended;
    expect(again.code, again.err).toBe(0);
    await expectOnce(scene);
  }, 60_000);

  it.each(['audiences.create', 'activations.create'])(
    'continues after kill -9 during %s',
    async (on) => {
      const scene = await startScene({ faults: [{ on, inFlight: 600_000, times: 1 }] });
      const env = await prepare(scene);
      const { child, ended } = start(scene, env);
      await eventually(() => expect(scene.sandbox.faults.list()).toEqual([]));
      process.kill(-(child.pid ?? 0), 'SIGKILL');
      expect((await ended).code).toBe('SIGKILL');
      const again = start(scene, env);
      await eventually(() => expect(scene.sandbox.log).toContainEqual(expect.objectContaining({ status: 409 })));
      scene.sandbox.faults.clear();
      const { code, err } = await again.ended;
      expect(code, err).toBe(0);
      await expectOnce(scene);
    },
    60_000,
  );

  it('ends with an error if a build fails', async () => {
    const scene = await startScene({ jobs: { duration: 0, outcome: 107 } });
    const { code, err } = await start(scene, await prepare(scene)).ended;
    expect({ code, err }).toEqual({ code: name.endsWith('.sh') ? 4 : 1, err: expect.stringContaining('107') });
  }, 60_000);
});
