import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { serve } from '../../support/file-server.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const PASSWORD = 'a secret password';

/** Environment without a token and an address. */
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };

const login = ({ run, url }: Scene, ...flags: string[]) =>
  run(['login', '--email', 'ann@example.com', '--base-url', url, ...flags], {
    input: `${PASSWORD}\n`,
    env: LOGGED_OUT,
  });

const profileOf = ({ folder }: Scene, name = 'default'): string => join(folder, 'config/profiles', `${name}.json`);

describe('login and logout', () => {
  it('login keeps one token in a file that only its owner can read, and reports it', async () => {
    const scene = await startScene();
    const { code, out, err } = await login(scene);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toBe(
      `Logged in as ann@example.com at ${scene.url}.\n` +
        `The token is stored in ${profileOf(scene)} (mode 0600: only you can read it), and expires at ${/expires at (\S+)\.\n$/.exec(err)?.[1]}.\n`,
    );
    expect((await stat(profileOf(scene))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(profileOf(scene), 'utf8'))).toMatchObject({ baseUrl: scene.url });
    const again = await login(scene);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('Already logged in as ann@example.com') });
    expect(scene.account.tokens()).toHaveLength(2);
    expect(await scene.run(['audiences', 'list'], { env: LOGGED_OUT })).toMatchObject({ code: 0 });
  });

  it('whoami prints account, profile and where the token comes from', async () => {
    const scene = await startScene();
    await login(scene);
    const [kept] = await scene.json(['whoami'], { env: LOGGED_OUT });
    const file = profileOf(scene);
    expect(kept).toMatchObject({ base_url: scene.url, email: 'ann@example.com', profile: 'default', token_from: file });
    const [fromEnvironment] = await scene.json(['whoami']);
    expect(fromEnvironment).toMatchObject({ email: null, profile: null, token_from: 'AUDIENCE_TOKEN' });
    scene.account.changePassword();
    expect(await scene.run(['whoami'], { env: LOGGED_OUT })).toMatchObject({ code: 7, out: '' });
  });

  it('logout removes the token from this machine, and says that it stays valid', async () => {
    const scene = await startScene();
    await login(scene);
    const { code, err } = await scene.run(['logout'], { env: LOGGED_OUT });
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('The token stays valid until') });
    expect(await readdir(join(scene.folder, 'config/profiles'))).toEqual([]);
    expect((await scene.run(['logout'])).err).toBe('Profile "default" is not logged in.\n');
    expect(await scene.run(['budget'], { env: LOGGED_OUT })).toMatchObject({ code: 7 });
  });

  it('tokens revoke ends every API token of the account', async () => {
    const scene = await startScene();
    await login(scene);
    const { code, out } = await scene.run(['tokens', 'revoke'], { input: PASSWORD, env: LOGGED_OUT });
    expect({ code, out }).toEqual({ code: 0, out: 'revoked\t2\n' });
    expect(scene.account.tokens()).toEqual([]);
    expect(await readdir(join(scene.folder, 'config/profiles'))).toEqual([]);
  });
});

describe('profiles and environment', () => {
  it('profiles are chosen by flag or environment; a flag takes precedence over the environment', async () => {
    const scene = await startScene();
    const bob = scene.sandbox.accounts.create({ email: 'bob@example.com', password: PASSWORD });
    const args = ['login', '--email', bob.email, '--base-url', scene.url, '--profile', 'bob'];
    await scene.run(args, { input: PASSWORD, env: LOGGED_OUT });
    const whoami = (flags: string[], env = {}) => scene.json(['whoami', '--fields', 'profile', ...flags], { env });
    expect(await whoami([], { ...LOGGED_OUT, AUDIENCE_PROFILE: 'bob' })).toEqual([{ profile: 'bob' }]);
    expect(await whoami(['--profile', 'bob'])).toEqual([{ profile: 'bob' }]);
    expect(await whoami([], { AUDIENCE_PROFILE: 'bob' })).toEqual([{ profile: null }]);
    const unknown = await scene.run(['budget', '--profile', 'eve'], { env: LOGGED_OUT });
    expect(unknown).toMatchObject({ code: 7, err: expect.stringContaining('login --profile eve') });
    expect(await scene.run(['budget', '--profile', '../x'])).toMatchObject({ code: 2 });
  });

  it('a token command is run once, and again after a 401; what it prints is never shown', async () => {
    const scene = await startScene();
    const path = join(scene.folder, 'runs');
    const token = scene.account.token('api');
    const command = `echo run >> ${path}; echo '${token}'; echo rest`;
    const { code } = await scene.run(['audiences', 'list', '--token-command', command], {
      env: { AUDIENCE_TOKEN: undefined },
    });
    expect({ code, runs: await readFile(path, 'utf8') }).toEqual({ code: 0, runs: 'run\n' });
    const refused = await scene.run(['budget', '--token-command', `echo run >> ${path}; echo not-a-token-4711`]);
    expect(refused).toMatchObject({ code: 7 });
    expect(await readFile(path, 'utf8')).toBe('run\nrun\nrun\n');
    expect(refused.err).not.toContain('not-a-token-4711');
    const failed = await scene.run(['budget', '--token-command', 'echo canary-token-9; exit 3']);
    expect(failed).toMatchObject({ code: 7, err: expect.stringContaining('failed with exit code 3') });
    expect(failed.err).not.toContain('canary-token-9');
  });

  it('no output contains the token or the password', async () => {
    const { run, env, url } = await startScene();
    const token = env.AUDIENCE_TOKEN ?? '';
    const login = ['login', '--email', 'ann@example.com', '--base-url', url, '--verbose'];
    for (const args of [
      login,
      ['whoami'],
      ['budget', '--verbose'],
      ['audiences', 'get', '9', '--json'],
      ['tokens', 'revoke'],
    ]) {
      const { out, err } = await run(args, { input: PASSWORD });
      expect(out + err).not.toContain(token);
      expect(out + err).not.toContain(PASSWORD);
      expect((out + err).length).toBeGreaterThan(5);
    }
  });

  it('a token is sent only to the address that it was set with', async () => {
    const scene = await startScene();
    await login(scene, '--profile', 'kept');
    const other = createSandbox();
    const { url } = await other.listen();
    const budget = (args: readonly string[], env = {}) => scene.run(['budget', '--max-retries', '0', ...args], { env });
    const alone = await budget([], { AUDIENCE_BASE_URL: undefined, AUDIENCE_PROFILE: 'kept' });
    expect(alone).toMatchObject({
      code: 2,
      err: expect.stringContaining('No service address is set for the token'),
    });
    expect(await budget(['--base-url', url])).toMatchObject({
      code: 7,
      err: expect.stringContaining('does not send the token to'),
    });
    expect(await budget(['--profile', 'kept', '--base-url', `${scene.url}/tenant`])).toMatchObject({ code: 7 });
    expect(await budget(['--base-url', `${scene.url}/`])).toMatchObject({ code: 0 });
    expect(other.log).toEqual([]);
    await other.close();
  });

  it('tokens revoke at another address keeps the profile', async () => {
    const scene = await startScene();
    await login(scene);
    const other = createSandbox();
    other.accounts.create({ email: 'ann@example.com', password: PASSWORD });
    const { url } = await other.listen();
    const revoke = ['tokens', 'revoke', '--base-url', url];
    expect(await scene.run(revoke, { input: PASSWORD, env: LOGGED_OUT })).toMatchObject({
      code: 0,
      out: 'revoked\t0\n',
    });
    expect(await scene.run(['budget'], { env: LOGGED_OUT })).toMatchObject({ code: 0 });
    await other.close();
  });
});

describe('an account in an unusual environment', () => {
  it('without a home folder, commands with a token in the environment work, and login reports what to set', async () => {
    const scene = await startScene();
    const env = { HOME: '', AUDIENCE_CONFIG_DIR: undefined };
    expect(await scene.run(['budget'], { env })).toMatchObject({ code: 0 });
    const args = ['login', '--email', 'ann@example.com', '--base-url', scene.url];
    const { code, err } = await scene.run(args, { input: PASSWORD, env });
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('set AUDIENCE_CONFIG_DIR') });
    expect(scene.account.tokens()).toHaveLength(1);
  });

  it('profiles are in the folder of the user’s configurations', async () => {
    const scene = await startScene();
    const home = { AUDIENCE_CONFIG_DIR: undefined, ...LOGGED_OUT };
    const args = ['login', '--email', 'ann@example.com', '--base-url', scene.url];
    await scene.run(args, { input: PASSWORD, env: home });
    expect(await readdir(join(scene.folder, '.config/audience-activation/profiles'))).toEqual(['default.json']);
    await scene.run(args, { input: PASSWORD, env: { ...home, XDG_CONFIG_HOME: join(scene.folder, 'xdg') } });
    expect(await readdir(join(scene.folder, 'xdg/audience-activation/profiles'))).toEqual(['default.json']);
  });

  it.each([
    ['cut', '{"token":"1|abc'],
    ['of another program', '{"token":"1|abcdefgh","expiresAt":"2030-01-01T00:00:00Z"}'],
  ])('a token file that is %s is refused and left as it is', async (_, text) => {
    const scene = await startScene();
    await mkdir(join(scene.folder, 'config/profiles'), { recursive: true });
    await writeFile(profileOf(scene), text);
    const { code, out, err } = await scene.run(['budget'], { env: LOGGED_OUT });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^error: [^\n]+\n$/);
    expect(err).not.toContain('abc');
    expect(await readFile(profileOf(scene), 'utf8')).toBe(text);
  });

  it.each([
    [['budget']],
    [['login', '--email', 'ann@example.com']],
    [['login', '--oauth', '--no-browser']],
    [['tokens', 'revoke', '--email', 'ann@example.com']],
    [['request', 'POST', '/api/v2/mcp']],
    [['check']],
    [['sandbox', 'status']],
    [['budget', '--sandbox']],
    [['trigger', 'webhook.test', '--secret', 'whsec_1']],
  ])('an address with a password is refused, and never printed: %j', async (args) => {
    const scene = await startScene();
    const address = scene.url.replace('//', '//ann:hunter2@');
    const flag = args[0] === 'trigger' ? '--forward-to' : '--base-url';
    for (const format of [[], ['--json'], ['--verbose']]) {
      const words = [...args, flag, address, ...format];
      const { code, out, err } = await scene.run(words, { env: LOGGED_OUT, input: 'x' });
      expect({ code, out }).toEqual({ code: args.includes('sandbox') || args.includes('--sandbox') ? 8 : 2, out: '' });
      expect(err).not.toContain('hunter2');
    }
    expect(scene.sandbox.log).toEqual([]);
  });

  it('tokens of another address are not sent, whatever their kind', async () => {
    const scene = await startScene();
    const other = await serve((_, response) => void response.end());
    const mcp = ['request', 'POST', '/api/v2/mcp', '--base-url', other.url, '--data', '{}'];
    for (const [args, env] of [
      [['budget', '--base-url', other.url], {}],
      [mcp, { AUDIENCE_MCP_TOKEN: scene.account.token('mcp') }],
    ] as const) {
      const { code, err } = await scene.run([...args, '--json'], { env });
      expect({ code, err: linesOf(err) }).toMatchObject({ code: 7, err: [{ code: 'token-of-other-address' }] });
    }
  });

  it('login --oauth signs in with the browser, for the MCP endpoint; logout revokes', async () => {
    const scene = await startScene();
    const signingIn = scene.start(['login', '--oauth', '--no-browser', '--base-url', scene.url], { env: LOGGED_OUT });
    await signingIn.shows('err', /https?:\S+\/oauth\/authorize\S+\n/);
    const address = /https?:\S+\/oauth\/authorize\S+/.exec(signingIn.printed.err)?.[0] ?? '';
    expect((await fetch(scene.sandbox.oauth.consent(scene.account, address))).status).toBe(200);
    const { code, err } = await signingIn.ended;
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('Signed in. The tokens are stored in') });
    const path = join(scene.folder, 'config/oauth/default.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const request = ['request', 'POST', '/api/v2/mcp', '--data', message];
    const used = await scene.run(request, { env: LOGGED_OUT });
    expect({ code: used.code, err: used.err }).toEqual({ code: 0, err: '' });
    expect(linesOf(used.out)[0]).toMatchObject({ result: { tools: expect.any(Array) } });
    expect(scene.account.connections()).toHaveLength(1);
    const elsewhere = ['--base-url', 'https://api.example.com'];
    expect(await scene.run([...request, ...elsewhere], { env: LOGGED_OUT })).toMatchObject({ code: 7 });
    expect(await scene.run(['login', '--oauth', ...elsewhere], { env: LOGGED_OUT })).toMatchObject({
      code: 2,
      err: expect.stringContaining(`is signed in at ${scene.url}: choose another --profile`),
    });
    expect(await scene.run(['logout'], { env: LOGGED_OUT })).toMatchObject({
      code: 0,
      err: expect.stringContaining('revoked'),
    });
    expect(scene.account.connections()).toEqual([]);
    expect(await scene.run(request, { env: LOGGED_OUT })).toMatchObject({ code: 7 });
  });

  it('login --oauth --quiet prints the address alone, because the browser may not open; logout says what it did not revoke', async () => {
    const scene = await startScene();
    const args = ['login', '--oauth', '--quiet', '--base-url', scene.url];
    const signingIn = scene.start(args, { env: { ...LOGGED_OUT, PATH: '' } });
    await signingIn.shows('err', /^https?:\S+\/oauth\/authorize\S+\n$/);
    const address = signingIn.printed.err.trim();
    expect((await fetch(scene.sandbox.oauth.consent(scene.account, address))).status).toBe(200);
    expect(await signingIn.ended).toMatchObject({ code: 0, err: `${address}\n` });
    scene.sandbox.faults.add({ on: '/oauth/revoke', status: 503 });
    const { code, err } = await scene.run(['logout'], { env: LOGGED_OUT });
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(
        /^The OAuth tokens are removed from this machine\.\n.*End the connection in the service's console, because the tokens may still be valid\./,
      ),
    });
  });
});
