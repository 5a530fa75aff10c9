import { chmod, readFile, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Scene, startScene } from '../support/run-command.ts';

const PASSWORD = 'a secret password';
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };

const loginArgs = ({ url }: Scene, ...flags: string[]) => ['login', '--base-url', url, ...flags];
const login = (scene: Scene, env: Readonly<Record<string, string | undefined>>, ...flags: string[]) =>
  scene.run(loginArgs(scene, '--email', 'ann@example.com', ...flags), { input: PASSWORD, env });

const profiles = ({ folder }: Scene): string => join(folder, 'config/profiles');
const emailOf = async (scene: Scene): Promise<unknown> =>
  JSON.parse(await readFile(join(profiles(scene), 'default.json'), 'utf8')).email;

describe('login for another account', () => {
  it('logs in, and says which token it replaces; the same email keeps the token', async () => {
    const scene = await startScene();
    const bob = scene.sandbox.accounts.create({ email: 'bob@example.com', password: PASSWORD });
    await login(scene, LOGGED_OUT);
    const other = await scene.run(loginArgs(scene, '--email', bob.email), { input: PASSWORD, env: LOGGED_OUT });
    expect(other).toMatchObject({ code: 0, err: expect.stringContaining('Logged in as bob@example.com') });
    expect(other.err).toContain(
      'The new token replaces the token of ann@example.com. To keep both, pass --profile <name>.\n',
    );
    expect(await emailOf(scene)).toBe('bob@example.com');
    const again = await scene.run(loginArgs(scene), { env: LOGGED_OUT });
    expect(again.err).toContain('Already logged in as bob@example.com');
    expect(bob.tokens()).toHaveLength(1);
  });
});

describe('the token of the environment', () => {
  it.each([
    ['AUDIENCE_TOKEN', 'x'],
    ['AUDIENCE_TOKEN_COMMAND', 'echo x'],
  ])('takes precedence over a login, which warns of %s', async (variable, value) => {
    const scene = await startScene();
    const { code, err } = await login(scene, { ...LOGGED_OUT, [variable]: value });
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(`^warning: Commands use ${variable} instead of a profile.*--profile default`),
    });
    const env = { AUDIENCE_TOKEN: 'x' };
    expect(await scene.run(['whoami', '--profile', 'default'], { env })).toMatchObject({ code: 0 });
  });

  it('is not used with --profile, whose file is named when the service refuses its token', async () => {
    const scene = await startScene();
    await login(scene, LOGGED_OUT, '--profile', 'ann');
    scene.account.changePassword();
    const { err } = await scene.run(['budget', '--profile', 'ann']);
    expect(err).toContain(`Source of the token: ${join(profiles(scene), 'ann.json')}. Log in again with`);
    expect(err).toContain('login --profile ann`');
  });
});

describe('a disk or a folder that cannot keep a token', () => {
  it.skipIf(process.platform !== 'linux').each(['/proc/nope', 'a link that leads nowhere'])(
    'ends a login immediately with the reason: %s',
    async (path) => {
      const scene = await startScene();
      const folder = path.startsWith('/') ? path : join(scene.folder, 'link');
      if (folder !== path) await symlink(join(scene.folder, 'gone/x'), folder);
      const { code, err } = await login(scene, { ...LOGGED_OUT, AUDIENCE_CONFIG_DIR: folder });
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringMatching(/^error: \S+profiles could not be written\. ENOENT: no such file or directory/),
      });
      expect(scene.account.tokens()).toHaveLength(1);
    },
    10_000,
  );

  it('a token that others can read is not used', async () => {
    const scene = await startScene();
    await login(scene, LOGGED_OUT);
    const path = join(profiles(scene), 'default.json');
    await chmod(path, 0o644);
    const { code, err } = await scene.run(['budget'], { env: LOGGED_OUT });
    expect({ code, err }).toEqual({
      code: 7,
      err: expect.stringContaining(`(mode 0644), so the command does not use it. Run \`chmod 600 ${path}\``),
    });
    await chmod(path, 0o600);
    expect(await scene.run(['budget'], { env: LOGGED_OUT })).toMatchObject({ code: 0 });
  });

  it('a folder of profiles that is a link is refused, before a token is issued', async () => {
    const scene = await startScene();
    await login(scene, LOGGED_OUT);
    await rename(profiles(scene), join(scene.folder, 'elsewhere'));
    await symlink(join(scene.folder, 'elsewhere'), profiles(scene));
    for (const args of [['budget'], loginArgs(scene, '--email', 'ann@example.com')]) {
      const result = await scene.run(args, { input: PASSWORD, env: LOGGED_OUT });
      expect(result).toMatchObject({ code: 7, err: expect.stringContaining('profiles is a symbolic link') });
    }
    expect(scene.account.tokens()).toHaveLength(2);
  });
});
