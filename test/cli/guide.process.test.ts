import { execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { signWebhook } from '../../src/webhooks/index.ts';
import { tableAfter } from '../support/documentation.ts';
import { eventually } from '../support/eventually.ts';
import { serve } from '../support/file-server.ts';
import { observe, type Scene, startScene } from './support/run-process.ts';

const GUIDE = readFileSync('docs/cli.md', 'utf8');

/** The shell blocks of the guide that need nobody at the keyboard. */
const BLOCKS = [...GUIDE.matchAll(/^(<!-- shown only: [^\n]+ -->\n)?```sh\n(.*?)^```$/gms)].flatMap(
  ([, marker, code = '']) => (marker === undefined ? [code] : []),
);

/** Makes the command available in a scene under its names, with the Node of this process; returns the environment. */
async function install({ folder, env }: Scene): Promise<NodeJS.ProcessEnv> {
  await symlink(process.execPath, join(folder, 'node'));
  for (const name of ['aud', 'audience-activation'])
    await symlink(join(process.cwd(), 'dist/cli.js'), join(folder, name));
  return { ...env, PATH: `${folder}:${env.PATH}` };
}

describe('docs/cli.md', () => {
  it('all examples that need nobody at the keyboard end without an error', async () => {
    const scene = await startScene();
    const { folder, json, env: login } = scene;
    const env = await install(scene);
    const body = '{"id":"evt_1","type":"webhook.test"}';
    const files = {
      'audience.json': '{"name":"x"}',
      'customers.csv': 'id\n1\n',
      'delivery.json': body,
      'token.txt': login.AUDIENCE_TOKEN,
    };
    for (const [name, text = ''] of Object.entries(files)) await writeFile(join(folder, name), text);
    const receiver = await serve((request, response) => void request.resume().on('end', () => response.end()));
    const idOf = async (...args: string[]) => String((await json(args))[0]?.id);
    const audience = await idOf('audiences', 'create', '--name', 'a');
    const variables = {
      AUDIENCE: audience,
      OTHER: await idOf('audiences', 'create', '--name', 'b'),
      COHORT: await idOf('cohorts', 'import', 'customers.csv'),
      ACTIVATION: await idOf('activations', 'create', '--audience-id', audience),
      RECEIVER: receiver.url,
      SECRET: 'whsec_1',
      SIGNATURE: await signWebhook(body, 'whsec_1'),
    };
    const sandbox = scene.start(['sandbox', '--duration', '4s']);
    await expect.poll(() => sandbox.printed.out).toContain('Ready.');
    expect(BLOCKS.length).toBeGreaterThan(7);
    for (const block of BLOCKS) {
      const child = spawn('bash', ['-euo', 'pipefail', '-c', block], { cwd: folder, env: { ...env, ...variables } });
      const { code, err } = await observe(child).ended;
      expect({ block, code, err }).toEqual({ block, code: 0, err });
    }
  });

  it('its table of exit codes is complete', () => {
    const codes = tableAfter('## Exit codes', GUIDE)
      .slice(1)
      .map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });
});

describe('examples/nightly-activation.sh', () => {
  it('runs as a CI server runs it, and builds nothing twice', async () => {
    const scene = await startScene();
    const env = { ...(await install(scene)), CI: 'true', GITHUB_ACTIONS: 'true' };
    const script = join(process.cwd(), 'examples/nightly-activation.sh');
    const run = () => promisify(execFile)(script, ['out'], { cwd: scene.folder, env });
    const { stdout, stderr } = await run();
    expect(stdout).toMatch(/^out\/[\w.-]+\n$/);
    expect(stderr).toContain('104 Completed');
    expect(stderr).not.toContain('\u001b');
    const [name = ''] = await readdir(join(scene.folder, 'out'));
    expect((await readFile(join(scene.folder, 'out', name))).length).toBeGreaterThan(0);
    await run();
    expect((await scene.json(['audiences', 'list'])).length).toBe(1);
    expect((await scene.json(['activations', 'list'])).length).toBe(1);
  });

  /** Expects that the service has one audience and one activation. */
  const expectOneEach = async ({ json }: Scene): Promise<void> => {
    expect(await json(['audiences', 'list'])).toHaveLength(1);
    expect(await json(['activations', 'list'])).toHaveLength(1);
  };

  it('builds nothing twice when two runs overlap', async () => {
    const creates = ['audiences.create', 'activations.create'];
    const scene = await startScene({ faults: creates.map((on) => ({ on, inFlight: 4_000, times: 1 })) });
    const env = { ...(await install(scene)), CI: 'true' };
    const script = join(process.cwd(), 'examples/nightly-activation.sh');
    const runs = ['a', 'b'].map((folder) => observe(spawn(script, [folder], { cwd: scene.folder, env })).ended);
    for (const { code, err } of await Promise.all(runs)) expect(code, err).toBe(0);
    expect(scene.sandbox.log).toContainEqual(expect.objectContaining({ method: 'POST', status: 409 }));
    await expectOneEach(scene);
  });

  it.each(['audiences.create', 'activations.create'])(
    'continues without building anything twice after kill -9 during %s',
    async (on) => {
      const scene = await startScene({ faults: [{ on, inFlight: 600_000, times: 1 }] });
      const env = { ...(await install(scene)), CI: 'true' };
      const script = join(process.cwd(), 'examples/nightly-activation.sh');
      // Its own process group, so that the command within it is killed, too.
      const killed = spawn(script, { cwd: scene.folder, env, detached: true });
      const { ended } = observe(killed);
      await eventually(() => expect(scene.sandbox.faults.list()).toEqual([]));
      process.kill(-(killed.pid ?? 0), 'SIGKILL');
      expect((await ended).code).toBe('SIGKILL');
      const again = observe(spawn(script, { cwd: scene.folder, env }));
      await eventually(() => expect(scene.sandbox.log).toContainEqual(expect.objectContaining({ status: 409 })));
      scene.sandbox.faults.clear();
      const { code, err } = await again.ended;
      expect(code, err).toBe(0);
      await expectOneEach(scene);
    },
    60_000,
  );

  it('ends with the exit code of the job', async () => {
    const scene = await startScene({ jobs: { duration: 0, outcome: 107 } });
    const script = join(process.cwd(), 'examples/nightly-activation.sh');
    const child = spawn(script, { cwd: scene.folder, env: { ...(await install(scene)), CI: 'true' } });
    const { code, err } = await observe(child).ended;
    expect({ code, err }).toEqual({
      code: 4,
      err: expect.stringContaining('cannot be built as defined: see the console.'),
    });
  });
});
