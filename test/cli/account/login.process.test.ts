import { spawn, spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMAND, observe, type Scene, startScene } from '../support/run-process.ts';

const PASSWORD = 'a secret password';
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };

const login = ({ url }: Scene): string[] => ['login', '--email', 'ann@example.com', '--base-url', url];

/** Tests can mount a small disk, in a separate namespace. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

it('logins at the same time issue one token', async () => {
  const scene = await startScene();
  const results = await Promise.all([1, 2, 3].map(() => scene.run(login(scene), { input: PASSWORD, env: LOGGED_OUT })));
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(scene.account.tokens()).toHaveLength(2);
});

it.skipIf(!canMount)('a full disk is noticed before a token is issued', async () => {
  const scene = await startScene();
  const folder = join(scene.folder, 'config');
  await mkdir(folder);
  const script = `mount -t tmpfs -o size=4k tmpfs "${folder}" && echo x > "${folder}/full" && exec "$0" "$@"`;
  const args = [process.execPath, COMMAND, ...login(scene)];
  const env = { ...scene.env, AUDIENCE_TOKEN: '' };
  const child = spawn('unshare', ['-rm', 'sh', '-c', script, ...args], { env });
  const { code, err } = await observe(child, PASSWORD).ended;
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('could not be written. The disk is full') });
  expect(scene.account.tokens()).toHaveLength(1);
});
