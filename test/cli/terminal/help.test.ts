import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/terminal/exit-codes.ts';
import { startScene } from '../support/run-command.ts';

const PASSWORD = 'a secret password';
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };

describe('help', () => {
  it('has sections of variables and exit codes, which topics print alone', async () => {
    const { run } = await startScene();
    const help = (await run(['--help'])).out;
    const codes = (await run(['help', 'exit-codes'])).out;
    const environment = (await run(['help', 'environment'])).out;
    expect(help).toContain(codes);
    expect(help).toContain(environment);
    for (const code of Object.values(EXIT)) expect(codes).toMatch(new RegExp(`^ {2}${code} +\\w`, 'm'));
    expect(environment).toMatch(/^Environment:\n {2}AUDIENCE_BASE_URL +address/);
  });

  it('lists global options once; commands refer to them in one line', async () => {
    const { run } = await startScene();
    expect((await run(['--help'])).out.match(/--token-command <command>/g)).toHaveLength(1);
    const { out } = await run(['audiences', 'create', '--help']);
    expect(out).not.toContain('--token-command');
    expect(out.match(/^Global options, .*: audience-activation --help$/gm)).toHaveLength(1);
  });
});

describe('profiles', () => {
  it('list marks the profile in use, and use changes it', async () => {
    const scene = await startScene();
    const bob = scene.sandbox.accounts.create({ email: 'bob@example.com', password: PASSWORD });
    for (const [email, name] of [
      ['ann@example.com', 'default'],
      [bob.email, 'bob'],
    ]) {
      const args = ['login', '--email', email ?? '', '--base-url', scene.url, '--profile', name ?? ''];
      expect(await scene.run(args, { input: PASSWORD, env: LOGGED_OUT })).toMatchObject({ code: 0 });
    }
    const names = async (env = {}) =>
      (await scene.json(['profiles', 'list'], { env: { ...LOGGED_OUT, ...env } })).filter(({ current }) => current);
    expect(await names()).toEqual([
      { name: 'default', current: true, base_url: scene.url, email: 'ann@example.com', expires_at: expect.any(String) },
    ]);
    expect(await scene.run(['profiles', 'use', 'bob'], { env: LOGGED_OUT })).toMatchObject({ code: 0, out: '' });
    expect(await names()).toMatchObject([{ name: 'bob' }]);
    expect(await names({ AUDIENCE_PROFILE: 'default' })).toMatchObject([{ name: 'default' }]);
    expect(await scene.json(['whoami'], { env: LOGGED_OUT })).toMatchObject([{ email: bob.email, profile: 'bob' }]);
    const table = await scene.run(['profiles', 'list'], { env: LOGGED_OUT });
    expect(table.out).toMatch(/^\*\tbob\t\S+\tbob@example\.com\t.+\n\tdefault\t/);
    expect(await scene.run(['profiles', 'use', 'eve'], { env: LOGGED_OUT })).toMatchObject({
      code: 8,
      err: expect.stringContaining('Profile "eve" does not exist. Profiles: bob, default.'),
    });
  });
});

it('request takes a query in its path', async () => {
  const { json } = await startScene();
  for (const name of ['a', 'b']) await json(['projects', 'create', '--name', name]);
  const rows = await json(['request', 'GET', '/api/v2/projects/index?per_page=1']);
  expect(rows).toHaveLength(1);
});
