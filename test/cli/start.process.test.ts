import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/util/version.ts';
import { COMMAND, observe, startScene } from './support/run-process.ts';
import { linesOf } from './support/scene.ts';

describe('start of the command', () => {
  it('keeps compiled code in the cache folder of the user', async () => {
    const { run, folder } = await startScene();
    const { code } = await run(['--help'], { env: { XDG_CACHE_HOME: undefined } });
    expect(code).toBe(0);
    const cache = join(folder, '.cache/audience-activation');
    expect(readdirSync(cache, { recursive: true }).length).toBeGreaterThan(1);
  });

  it('keeps compiled code where XDG_CACHE_HOME says', async () => {
    const { run, folder } = await startScene();
    await run(['--help'], { env: { XDG_CACHE_HOME: join(folder, 'elsewhere') } });
    expect(existsSync(join(folder, 'elsewhere/audience-activation'))).toBe(true);
    expect(existsSync(join(folder, '.cache'))).toBe(false);
  });

  it.each([{ HOME: '/dev/null', XDG_CACHE_HOME: undefined }, { NODE_DISABLE_COMPILE_CACHE: '1' }])(
    'runs without a cache: %o',
    async (env) => {
      const { run } = await startScene();
      const { code, out, err } = await run(['help', 'exit-codes'], { env });
      expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^Exit codes:/), err: '' });
    },
  );

  it.each([['--version'], ['-v']])('%s prints the version and loads no code that would be compiled', async (flag) => {
    const { run, folder } = await startScene();
    const { code, out, err } = await run([flag], { env: { XDG_CACHE_HOME: undefined } });
    expect({ code, out, err }).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
    expect(existsSync(join(folder, '.cache'))).toBe(false);
  });
});

it('wrong usage ends with the command for help, by the name that was called', async () => {
  const { folder, env, run } = await startScene();
  await symlink(COMMAND, join(folder, 'aud'));
  const aud = (...args: string[]) =>
    observe(spawn(process.execPath, [join(folder, 'aud'), ...args], { cwd: folder, env })).ended;
  expect(await aud('audiences', 'create', '--nam')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^error: unknown option '--nam'\n.*\n {2}Help: aud audiences create --help\n$/s),
  });
  expect((await aud('nope')).err).toContain('\n  Help: aud --help\n');
  const json = await run(['audiences', 'get', 'x', '--json']);
  expect(linesOf(json.err)).toMatchObject([{ code: 'usage', help: 'audience-activation audiences get --help' }]);
  for (const npm_lifecycle_script of ['audience-activation audiences get x', "'audience-activation'"]) {
    const byNpx = await run(['audiences', 'get', 'x'], { env: { npm_lifecycle_script } });
    expect(byNpx.err).toContain('\n  Help: npx audience-activation audiences get --help\n');
  }
});

it('an older Node is refused in a sentence', async () => {
  const { run } = await startScene();
  const pretend = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'22.11.0'}})`;
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${pretend}` };
  expect(await run(['--help'], { env })).toEqual({
    code: 1,
    out: '',
    err: 'error: This command needs Node 22.12 or later, and this is Node 22.11.0.\n',
  });
});

it('help needs no account, and loads neither the client nor the sandbox', async () => {
  const { run } = await startScene();
  const bare = { env: { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined } };
  const traced = { env: { ...bare.env, NODE_DEBUG: 'esm' } };
  for (const args of [['--help'], ['help', 'audiences', 'create'], ['audiences', 'create', '-h']]) {
    const { code, out, err } = await run(args, traced);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('Usage: audience-activation') });
    expect(err).toContain('cli.js');
    expect(err).not.toMatch(/dist\/(?:index|sandbox|node)\.js/);
  }
});
