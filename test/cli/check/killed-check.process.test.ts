import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Fault, type Passing, startFaultProxy } from '../../support/fault-proxy.ts';
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

/** The create of the project, or its delete. */
const isStep = ({ method, path }: Passing, step: 'create' | 'delete'): boolean =>
  method === 'POST' && path.startsWith('/api/v2/projects/') && path.endsWith(`/${step}`);

it('a check that writes leaves nothing after two earlier ones were killed: one before the response of its create, one before that of its delete', async () => {
  const { sandbox, account, url, folder, start } = await startWithProject();
  const token = account.token('login');
  const before = await namesOf(sandbox, token);
  const ahead: ('create' | 'delete')[] = ['create', 'delete'];
  const proxy = await startFaultProxy(url, (request): Fault | undefined => {
    if (!ahead[0] || !isStep(request, ahead[0])) return undefined;
    ahead.shift();
    return { kind: 'stall-headers' };
  });
  const run = () => start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  const isServed = (path: RegExp): boolean => sandbox.log.some((entry) => path.test(entry.path));

  const first = run();
  await eventually(async () => expect(await namesOf(sandbox, token)).toHaveLength(before.length + 1));
  first.child.kill('SIGKILL');
  expect((await first.ended).code).toBe('SIGKILL');

  const second = run();
  await eventually(() => expect(isServed(/projects\/\d+\/delete$/)).toBe(true));
  second.child.kill('SIGKILL');
  expect((await second.ended).code).toBe('SIGKILL');

  const { code, out, err } = await run().ended;
  expect(code, out + err).toBe(0);
  expect(await namesOf(sandbox, token)).toEqual(before);
  expect(await readdir(join(folder, 'config', 'checks'))).toEqual([]);
});

it('while a check writes, a second one with its token refuses; when it is killed, only a check of its account deletes what it has left', async () => {
  const scene = await startWithProject();
  const names = () => namesOf(scene.sandbox, scene.account.token('login'));
  const before = await names();
  const stalled = Promise.withResolvers<void>();
  let isStalled = false;
  const proxy = await startFaultProxy(scene.url, (request): Fault | undefined => {
    if (isStalled || !isStep(request, 'delete')) return undefined;
    isStalled = true;
    stalled.resolve();
    return { kind: 'late', ms: 600_000 };
  });
  const run = (env: object = {}, ...flags: string[]) =>
    scene.start(['check', ...flags], { env: { AUDIENCE_BASE_URL: proxy.url, ...env } });
  const first = run({}, '--write', '--yes');
  await stalled.promise;
  const requests = scene.sandbox.log.length;
  const second = await run({}, '--write', '--yes', '--json').ended;
  expect(second).toMatchObject({ code: 8, err: expect.stringContaining('check-running') });
  expect(scene.sandbox.log).toHaveLength(requests);
  expect((await run().ended).code).toBe(0);

  first.child.kill('SIGKILL');
  await first.ended;
  const bob = scene.sandbox.accounts.create({ email: 'bob@example.com', password: 'another password' });
  expect((await run({ AUDIENCE_TOKEN: bob.token('api') }, '--write', '--yes').ended).code).toBe(0);
  expect(await names()).toHaveLength(before.length + 1);
  expect((await run({}, '--write', '--yes').ended).code).toBe(0);
  expect(await names()).toEqual(before);
});
