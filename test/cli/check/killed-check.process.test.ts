import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { type Fault, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Scene, startScene } from '../support/run-process.ts';

/** Returns the names of all resources that a check could create. */
async function namesOf(sandbox: Sandbox, token: string): Promise<string[]> {
  const lists = ['projects', 'audiences', 'activations'].map(async (kind) => {
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const response = await sandbox.fetch(`http://localhost/api/v2/${kind}/index`, { headers });
    const { data } = await response.json();
    return data.map(({ id, name }: { id: number; name: string }) => `${kind} ${id} ${name}`);
  });
  return (await Promise.all(lists)).flat();
}

/** Starts a sandbox whose account has a project. */
async function startWithProject(): Promise<Scene> {
  const scene = await startScene();
  const authorization = `Bearer ${scene.account.token('login')}`;
  await scene.sandbox.fetch('http://localhost/api/v2/projects/create', {
    method: 'POST',
    headers: { accept: 'application/json', authorization, 'content-type': 'application/json' },
    body: '{"name":"kept"}',
  });
  return scene;
}

/** Requests of `check --write` from the create of the project to the end. */
const STEPS = Array.from({ length: 14 }, (_, index) => index + 1);

test.each(
  STEPS.flatMap((step) => [
    { step, when: 'before' as const },
    { step, when: 'after' as const },
  ]),
)(
  'kill -9 $when request $step of the writes: the next run leaves nothing',
  async ({ step, when }) => {
    const { sandbox, account, url, folder, start } = await startWithProject();
    const token = account.token('login');
    const before = await namesOf(sandbox, token);
    let count = 0;
    let logged = 0;
    const reached = Promise.withResolvers<void>();
    const proxy = await startFaultProxy(url, ({ method, path }): Fault | undefined => {
      if (count === 0 && !(method === 'POST' && path === '/api/v2/projects/create')) return undefined;
      if (++count !== step) return undefined;
      if (when === 'before') killed.child.kill('SIGKILL');
      logged = sandbox.log.length;
      reached.resolve();
      return { kind: when === 'before' ? 'cut-before' : 'stall-headers' };
    });
    const run = () => start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
    const killed = run();
    await reached.promise;
    // Then the service has acted.
    if (when === 'after') await expect.poll(() => sandbox.log.length).toBeGreaterThan(logged);
    killed.child.kill('SIGKILL');
    expect((await killed.ended).code).toBe('SIGKILL');

    const { code, out, err } = await run().ended;
    expect(code, out + err).toBe(0);
    expect(await namesOf(sandbox, token)).toEqual(before);
    const journals = join(folder, 'config', 'checks');
    expect(await readdir(journals).catch(() => [])).toEqual([]);
  },
  60_000,
);

test('there are no other requests after the create of the project', async () => {
  const { url, start } = await startWithProject();
  const proxy = await startFaultProxy(url, () => undefined);
  await start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } }).ended;
  const first = proxy.passed.findIndex(({ path, method }) => method === 'POST' && path === '/api/v2/projects/create');
  expect(proxy.passed.slice(first)).toHaveLength(STEPS.length);
});

test('Ctrl-C says that something is left, and how it is deleted', async () => {
  const { url, start } = await startWithProject();
  let isStalled = false;
  const proxy = await startFaultProxy(url, ({ path }): Fault | undefined => {
    isStalled ||= path.endsWith('/delete');
    return path.endsWith('/delete') ? { kind: 'stall-headers' } : undefined;
  });
  const { child, ended } = start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  await expect.poll(() => isStalled).toBe(true);
  child.kill('SIGINT');
  const { code, err } = await ended;
  expect(code).toBe('SIGINT');
  expect(err).toContain('is left: `audience-activation check --write` deletes it.');
});

test('Ctrl-C after a create deletes what was created before the exit', async () => {
  const { sandbox, account, folder, url, start } = await startWithProject();
  const before = await namesOf(sandbox, account.token('login'));
  let creates = 0;
  const proxy = await startFaultProxy(url, ({ method, path }): Fault | undefined => {
    if (method === 'POST' && path === '/api/v2/projects/create') creates++;
    return creates === 2 && method === 'POST' && path.endsWith('/create') ? { kind: 'stall-headers' } : undefined;
  });
  const { child, ended } = start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  await expect.poll(() => creates).toBe(2);
  child.kill('SIGINT');
  const { code, err } = await ended;
  expect({ code, err }).toEqual({ code: 'SIGINT', err: expect.not.stringContaining('is left') });
  expect(await namesOf(sandbox, account.token('login'))).toEqual(before);
  expect(await readdir(join(folder, 'config', 'checks'))).toEqual([]);
  expect(proxy.passed.filter(({ path }) => path.endsWith('/delete'))).toHaveLength(1);
});

test('while something exists, its id is in a file that only its owner can read', async () => {
  const { sandbox, folder, url, start } = await startScene();
  let isStalled = false;
  const proxy = await startFaultProxy(url, ({ path }): Fault | undefined => {
    isStalled ||= path.endsWith('/delete');
    return path.endsWith('/delete') ? { kind: 'cut-before' } : undefined;
  });
  const { child, ended } = start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  await expect.poll(() => isStalled).toBe(true);
  child.kill('SIGKILL');
  await ended;
  const [name = ''] = await readdir(join(folder, 'config', 'checks'));
  expect((await stat(join(folder, 'config', 'checks', name))).mode & 0o777).toBe(0o600);
  expect(sandbox.log.some(({ path }) => path === '/api/v2/projects/create')).toBe(true);
});

/** Starts a check that writes, up to the delete of its project, which does not reach the service. */
async function startStalled(scene: Scene) {
  const stalled = Promise.withResolvers<void>();
  let isStalled = false;
  const proxy = await startFaultProxy(scene.url, ({ path }): Fault | undefined => {
    if (isStalled || !path.endsWith('/delete')) return undefined;
    isStalled = true;
    stalled.resolve();
    return { kind: 'late', ms: 600_000 };
  });
  const env = { AUDIENCE_BASE_URL: proxy.url };
  const first = scene.start(['check', '--write', '--yes'], { env });
  await stalled.promise;
  return { first, env };
}

test('a second check that writes with the same token refuses, and one that reads does not', async () => {
  const scene = await startWithProject();
  const { first, env } = await startStalled(scene);
  const writes = scene.sandbox.log.length;
  const second = await scene.run(['check', '--write', '--yes', '--json'], { env });
  expect(second).toMatchObject({ code: 8, err: expect.stringContaining('check-running') });
  expect(scene.sandbox.log).toHaveLength(writes);
  expect((await scene.run(['check'], { env })).code).toBe(0);
  first.child.kill('SIGKILL');
  await first.ended;
  const names = await readdir(join(scene.folder, 'config', 'checks'));
  expect(names.filter((name) => name.includes('process'))).toHaveLength(1);
});

test('what a killed check of one account has left is not forgotten by a check of another one', async () => {
  const scene = await startWithProject();
  const before = await namesOf(scene.sandbox, scene.account.token('login'));
  const { first, env } = await startStalled(scene);
  first.child.kill('SIGKILL');
  await first.ended;
  const bob = scene.sandbox.accounts.create({ email: 'bob@example.com', password: 'another password' });
  const run = (token: object) => scene.run(['check', '--write', '--yes'], { env: { ...env, ...token } });
  expect((await run({ AUDIENCE_TOKEN: bob.token('api') })).code).toBe(0);
  expect(await namesOf(scene.sandbox, scene.account.token('login'))).toHaveLength(before.length + 1);
  expect((await run({})).code).toBe(0);
  expect(await namesOf(scene.sandbox, scene.account.token('login'))).toEqual(before);
});
