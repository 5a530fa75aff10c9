import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { freePort } from '../../../examples/support/free-port.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { eventually } from '../../support/eventually.ts';
import { COMMAND, startScene } from '../support/run-process.ts';
import { linesOf } from '../support/scene.ts';

const addressIn = (printed: string): string => /^API +(\S+)$/m.exec(printed)?.[1] ?? '';

/** Runs `sandbox` until it is ready, with a scene whose other commands find it. */
async function start(...args: string[]) {
  const scene = await startScene();
  const running = scene.start(['sandbox', ...args]);
  await eventually(() => expect(running.printed.out).toContain('Ready.'));
  return { ...running, scene };
}

it('a sandbox runs beside the tests of a CI script, and ends with it, as docs/testing.md shows', async () => {
  const { folder, env } = await startScene();
  const block = /^## CI$.*?```sh\n(.*?)```/ms.exec(await readFile('docs/testing.md', 'utf8'))?.[1] ?? '';
  const bin = join(folder, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  await symlink(process.execPath, join(folder, 'node'));
  await symlink(COMMAND, join(bin, 'audience-activation'));
  const port = String(await freePort());
  const script = `${block.replaceAll('4010', port)}\nnode_modules/.bin/audience-activation usage && node_modules/.bin/audience-activation whoami`;
  const options = { cwd: folder, env: { ...env, PATH: `${folder}:${env.PATH}` } };
  // Resolves when the sandbox, which has the same standard error, has ended, too.
  const { stdout } = await promisify(execFile)('sh', ['-c', script], options);
  expect(stdout).toContain(`http://127.0.0.1:${port}`);
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed');
});

it('a sandbox uses the port and account of its flags, and warns if other machines can use it', async () => {
  const { url, close } = await createSandbox().listen();
  const { port } = new URL(url);
  await close();
  const { child, printed, ended, scene } = await start(
    ...`--port ${port} --host 0.0.0.0 --name sandbox.test --email me@example.com --password pw --no-console`.split(' '),
  );
  expect(printed.out).not.toContain('Console');
  expect((await scene.run(['sandbox', 'status'])).err).toContain('No running sandbox was found');
  expect(printed.out).toContain(`API      http://sandbox.test:${port}\n`);
  expect(printed.out).toContain('Account  me@example.com  password: pw\n');
  child.kill('SIGINT');
  expect((await ended).err).toContain('The sandbox listens on 0.0.0.0: other machines can use it.');
});

it('a running sandbox is chosen by `--port`, `--base-url` and AUDIENCE_BASE_URL; without them, it is the latest that runs', async () => {
  const { scene, printed, child, ended } = await start();
  const second = scene.start(['sandbox', '--json']);
  await eventually(() => expect(second.printed.out).toContain('consoleUrl'));
  const url = addressIn(printed.out);
  const { port } = new URL(url);
  const whoami = async (...flags: string[]) => (await scene.json(['whoami', '--sandbox', ...flags]))[0]?.base_url;
  expect(await Promise.all([whoami(), whoami('--base-url', url)])).toEqual([linesOf(second.printed.out)[0]?.url, url]);

  // A name of this machine names the sandbox; the address of the service names none.
  const fault = ['sandbox', 'fault', 'add', '--status', '503'];
  await scene.json(fault, { env: { AUDIENCE_BASE_URL: `http://localhost:${port}/` } });
  await scene.json([...fault, '--port', port]);
  await scene.json(fault, { env: { AUDIENCE_BASE_URL: 'https://api.example.com' } });
  const faults = async (...flags: string[]) => (await scene.json(['sandbox', 'fault', 'list', ...flags])).length;
  expect(await Promise.all([faults('--port', port), faults()])).toEqual([2, 1]);

  const missing = { code: 8, err: expect.stringContaining('No running sandbox was found at 127.0.0.1:1') };
  expect(await scene.run(['whoami', '--sandbox', '--base-url', 'http://127.0.0.1:1'])).toMatchObject(missing);
  for (const running of [child, second.child]) running.kill('SIGKILL');
  await Promise.all([ended, second.ended]);
  expect(await scene.run(['sandbox', 'status'])).toMatchObject({ code: 8 });
  expect(await readdir(join(scene.folder, 'config/sandboxes'))).toEqual([]);
});
