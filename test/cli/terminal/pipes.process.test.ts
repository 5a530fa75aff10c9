import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { COMMAND, observe, startScene } from '../support/run-process.ts';

it('a reader that closes the pipe ends a list quietly', async () => {
  const scene = await startScene();
  for (let count = 0; count < 3; count++) await scene.client.projects.create({ name: 'p' });
  const listing = scene.start(['projects', 'list', '--query', 'per_page=1', '--all']);
  listing.child.stdout?.once('data', () => listing.child.stdout?.destroy());
  expect(await listing.ended).toMatchObject({ code: 0, err: '' });
});

it('a create prints its resource on standard error when the disk of standard output is full', async () => {
  const { env, folder } = await startScene();
  const command = `exec "$0" "$1" audiences create --name x > /dev/full`;
  const child = spawn('sh', ['-c', command, process.execPath, COMMAND], {
    cwd: folder,
    env,
  });
  const { code, err } = await observe(child).ended;
  expect({ code, err }).toEqual({
    code: 1,
    err: expect.stringMatching(/^id\t\d+\n(?:.*\n)*error: Standard output cannot be written: ENOSPC/),
  });
});

it('explain keeps a script from the activation that it finds blocked', async () => {
  const { env, folder, client, sandbox } = await startScene({ jobs: { duration: 0, devices: 300 } });
  const { id } = await client.audiences.create({ name: 'Small' });
  const aud = `'${process.execPath}' '${COMMAND}'`;
  const script = `${aud} explain ${id} && ${aud} activations create --audience-id ${id}`;
  const { code } = await observe(spawn('sh', ['-c', script], { env, cwd: folder })).ended;
  expect({ code, writes: sandbox.log.filter(({ method }) => method === 'POST').length }).toEqual({
    code: 8,
    writes: 1,
  });
});

it('a sandbox exits quietly when its output is closed', async () => {
  const scene = await startScene();
  const { child, printed, ended } = scene.start(['sandbox']);
  await eventually(() => expect(printed.out).toContain('Ready.'));
  child.stdout?.destroy();
  const url = /^API +(\S+)$/m.exec(printed.out)?.[1] ?? '';
  // Each request is a line that cannot be written.
  await eventually(() => expect(fetch(url)).rejects.toThrow());
  expect(await ended).toMatchObject({ code: 0, err: '' });
});

it('a token command may print 200 MB after its token: the command discards the rest', async () => {
  const scene = await startScene();
  const command = `echo '${scene.account.token('api')}'; head -c 200000000 /dev/zero | tr '\\0' x`;
  const env = { AUDIENCE_TOKEN: undefined, NODE_OPTIONS: '--max-old-space-size=64' };
  // Without notices: a busy machine may wait for the token for so long that the command says so.
  const { code, err } = await scene.run(['budget', '--quiet', '--token-command', command], { env });
  expect({ code, err }).toEqual({ code: 0, err: '' });
});
