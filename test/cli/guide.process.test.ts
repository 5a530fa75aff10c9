import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-codes.ts';
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
    const { folder, client, env: login } = scene;
    const env = await install(scene);
    const body = '{"id":"evt_1","type":"webhook.test"}';
    const files = {
      'audience.json': '{"name":"x"}',
      'hashes.csv': 'id\n1\n',
      'hashes.csv.gz': gzipSync('id\n1\n'),
      'delivery.json': body,
      'token.txt': login.AUDIENCE_TOKEN,
    };
    for (const [name, text = ''] of Object.entries(files)) await writeFile(join(folder, name), text);
    const receiver = await serve((request, response) => void request.resume().on('end', () => response.end()));
    const audience = await client.audiences.create({ name: 'a' });
    const idOf = async (created: PromiseLike<{ readonly id: number }>) => String((await created).id);
    const variables = {
      AUDIENCE: String(audience.id),
      OTHER: await idOf(client.audiences.create({ name: 'b' })),
      COHORT: await idOf(client.cohorts.import(new Blob(['id\n1\n']), { name: 'customers' })),
      ACTIVATION: await idOf(client.activations.create({ audience_id: audience.id })),
      RECEIVER: receiver.url,
      SECRET: 'whsec_1',
      SIGNATURE: await signWebhook(body, 'whsec_1'),
    };
    expect(BLOCKS.length).toBeGreaterThan(7);
    const run = async (block: string): Promise<void> => {
      const child = spawn('bash', ['-euo', 'pipefail', '-c', block], { cwd: folder, env: { ...env, ...variables } });
      const { code, err } = await observe(child).ended;
      expect({ block, code, err }).toEqual({ block, code: 0, err });
    };
    // Others would wait for what these delete; without a running sandbox, `--sandbox` starts one for the command.
    const isLast = (block: string): boolean => block.includes(' delete ') || block.includes('aud sandbox ');
    await Promise.all(BLOCKS.filter((block) => !isLast(block)).map(run));
    const sandbox = scene.start(['sandbox', '--duration', '1h']);
    await eventually(() => expect(sandbox.printed.out).toContain('Ready.'));
    await Promise.all(BLOCKS.filter(isLast).map(run));
  });

  it('its table of exit codes is complete', () => {
    const codes = tableAfter('## Exit codes', GUIDE)
      .slice(1)
      .map(([code]) => Number(code));
    expect(codes).toEqual(Object.values(EXIT));
  });
});

it('the build writes a manual page with every command, which roff reads without warnings', () => {
  const page = readFileSync('man/audience-activation.1', 'utf8');
  expect(page).toContain('.SS audiences create [options]');
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-z'], { input: page, encoding: 'utf8' });
  // Without groff, only the text is read.
  if (!error) expect(stderr).toBe('');
});
