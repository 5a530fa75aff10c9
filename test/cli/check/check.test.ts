import { writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServiceContract } from '../../../src/index.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';
import { ORIGIN, Service, TOKEN } from './support/service.ts';
import { variants } from './variants.ts';

const CANARY = 'canary-5521';

const headersOf = ({ account }: Scene) => ({
  accept: 'application/json',
  authorization: `Bearer ${account.token('login')}`,
  'content-type': 'application/json',
});

/** Returns the ids of the audiences of the account. */
async function audiencesOf(scene: Scene): Promise<number[]> {
  const response = await scene.sandbox.fetch('http://localhost/api/v2/audiences/index', { headers: headersOf(scene) });
  const { data } = await response.json();
  return data.map(({ id }: { id: number }) => id);
}

/** Starts a sandbox whose account has some of everything, with a canary in each name. */
async function startFilled(): Promise<Scene> {
  const scene = await startScene();
  const create = (resource: string, body: object) =>
    scene.sandbox.fetch(`http://localhost/api/v2/${resource}/create`, {
      method: 'POST',
      headers: headersOf(scene),
      body: JSON.stringify({ name: CANARY, description: CANARY, ...body }),
    });
  await create('audiences', {});
  await create('audiences', {});
  const [audience_id] = await audiencesOf(scene);
  await create('projects', {});
  await create('schedules', {});
  await create('cohorts', {});
  await create('activations', { audience_id, credentials: { key: CANARY } });
  return scene;
}

describe('check', () => {
  it('reads only, says first that nothing differs, and ends with 0', async () => {
    const { run, sandbox } = await startFilled();
    const methods = sandbox.log.length;
    const { code, out } = await run(['check']);
    expect(code).toBe(0);
    expect(out).toMatch(/^No checked assumption differs\. To check 5 more assumptions, pass --write\.\n/);
    expect(out).not.toContain('path:audiences.get');
    const all = await run(['check', '--all']);
    expect(all.out).toContain('confirmed  path:audiences.get: The response has the id');
    expect(new Set(sandbox.log.slice(methods).map(({ method }) => method))).toEqual(new Set(['GET']));
  });

  it('shows nothing of the account: in its report, its file and its log', async () => {
    const { run, folder, url, env } = await startFilled();
    const runs = [
      await run(['check', '--write', '--yes', '--verbose', '--out', join(folder, 'service.json')]),
      await run(['check', '--verbose', '--json']),
    ];
    const text = runs.map(({ out, err }) => out + err).join() + (await readFile(join(folder, 'service.json'), 'utf8'));
    const secrets = [CANARY, 'ann@example.com', 'a secret password', env.AUDIENCE_TOKEN ?? '', url, new URL(url).host];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/signature=|upl_/);
  });

  it('writes the settings, with which a second check finds no change', async () => {
    const { run, folder } = await startFilled();
    const file = join(folder, 'service.json');
    expect((await run(['check', '--write', '--yes', '--out', file])).code).toBe(0);
    const settings = JSON.parse(await readFile(file, 'utf8'));
    expect(settings).toEqual({
      $schema: './node_modules/audience-activation/dist/contract.schema.json',
      checked: {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        level: 'write',
        confirmed: expect.arrayContaining(['service', 'path:projects.create', 'time-zone']),
        likely: expect.any(Array),
      },
    });
    const { code, err } = await run(['check', '--against', file]);
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringMatching(/^The check found no change since the check that wrote \S+\.\n$/),
    });
  });

  it('ends with 11 if the service has changed, and names the old and the new request', async () => {
    const { run, folder } = await startFilled();
    const settings = {
      operations: { 'projects.get': { path: '/api/v2/project/{id}' } },
      checked: { at: '2026-01-01', level: 'read', confirmed: ['service'], likely: [] },
    };
    const file = join(folder, 'service.json');
    await writeFile(file, JSON.stringify(settings));
    const { code, err } = await run(['check', '--against', file]);
    expect(code).toBe(11);
    expect(err).toContain('operations.projects.get.path: /api/v2/project/{id} → /api/v2/projects/{id}');
  });

  it('ends with 11 if the client cannot work, although the service has not changed', async () => {
    const { run, folder, sandbox } = await startFilled();
    const file = join(folder, 'service.json');
    sandbox.faults.add({ on: 'cohorts.list', status: 404 });
    expect((await run(['check', '--out', file])).code).toBe(11);
    const { code, out, err } = await run(['check', '--against', file]);
    expect({ code, err }).toEqual({ code: 11, err: '' });
    expect(out).toMatch(/^Lists of cohorts do not work here: /);
  });

  it('ends with 12 if something cannot be checked that was confirmed earlier', async () => {
    const { run, folder, sandbox } = await startFilled();
    const file = join(folder, 'service.json');
    expect((await run(['check', '--out', file])).code).toBe(0);
    sandbox.faults.add({ on: 'cohorts.list', status: 500 });
    const { code, err } = await run(['check', '--against', file]);
    expect({ code, err }).toEqual({
      code: 12,
      err: expect.stringContaining('This check could not verify path:cohorts.list, which an earlier check confirmed'),
    });
  });

  it('ends with 7 if the token is refused, and writes no file', async () => {
    const { run, folder } = await startScene();
    const file = join(folder, 'service.json');
    const { code, err } = await run(['check', '--out', file], { env: { AUDIENCE_TOKEN: 'wrong' } });
    expect({ code, err }).toEqual({ code: 7, err: expect.stringContaining('service.json was not written') });
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });

  it('sends nothing if the file of `--out` cannot be written', async () => {
    const { run, folder, sandbox } = await startScene();
    for (const path of [join(folder, 'missing', 'service.json'), folder]) {
      const { code, err } = await run(['check', '--write', '--yes', '--out', path]);
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(`${path} cannot be written`) });
    }
    expect(sandbox.log).toEqual([]);
  });

  it('asks before it writes: without a terminal, `--yes` is needed', async () => {
    const { run, sandbox } = await startScene();
    {
      const { code, err } = await run(['check', '--write', '--json']);
      expect(code).toBe(2);
      expect(linesOf(err)).toMatchObject([
        { code: 'usage', message: expect.stringContaining('creates and deletes one project') },
      ]);
    }
    expect(sandbox.log).toEqual([]);
  });

  it('prints the same as data with --json', async () => {
    const { json } = await startFilled();
    const [report = {}] = await json(['check']);
    expect(Object.entries(report)[0]).toEqual(['verdict', expect.stringMatching(/^No checked assumption differs/)]);
    expect(report).toMatchObject({
      level: 'read',
      findings: expect.arrayContaining([
        { id: 'time-zone', state: 'not-checked', evidence: 'This assumption needs --write.', needs: 'write' },
      ]),
      contract: { checked: { level: 'read' } },
      requests: { read: expect.any(Number), write: 0 },
    });
  });

  /** A file with settings that a read-only check says nothing about, and one that it finds to be otherwise. */
  const WRITTEN: ServiceContract = {
    statuses: { 'audience 106': 'failed' },
    paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 },
    operations: {
      'audiences.create': { retry: 'never' },
      'cohorts.create': { path: '/api/v2/cohorts/import' },
      'schedules.list': { path: '/api/v2/gone' },
    },
  };

  it('keeps the file of `--out` as you have edited it during the check, and advises another check, which writes it', async () => {
    const { run, folder, sandbox } = await startFilled();
    const file = join(folder, 'service.json');
    await writeFile(file, '{}');
    const edited = '{ "serverTimeZone": "Europe/Berlin" }';
    const edit = (): boolean => {
      writeFileSync(file, edited);
      return false;
    };
    sandbox.faults.add({ on: edit, status: 500 });
    const { err } = await run(['check', '--out', file]);
    expect(err).toContain(
      `${file} was not written, because its content changed during the check. Run the check again.`,
    );
    expect(await readFile(file, 'utf8')).toBe(edited);
    sandbox.faults.clear();
    await run(['check', '--out', file]);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ serverTimeZone: 'Europe/Berlin', checked: {} });
  });

  it('merges into the file of `--out`, and says what it has kept and replaced', async () => {
    const { run, folder } = await startFilled();
    const file = join(folder, 'service.json');
    await writeFile(file, JSON.stringify(WRITTEN, undefined, 4));
    const { code, out, err } = await run(['check', '--out', file]);
    expect(code).toBe(11);
    expect(out).toContain('schedules.list: `GET /api/v2/gone` returns 404. `GET /api/v2/schedules/index` works');
    const text = await readFile(file, 'utf8');
    const { $schema, checked, ...settings } = JSON.parse(text);
    expect(text).toMatch(/^\{\n {4}"\$schema"/);
    expect(settings).toEqual({
      ...WRITTEN,
      operations: { ...WRITTEN.operations, 'schedules.list': { path: '/api/v2/schedules/index' } },
    });
    expect(err).toContain('`paging.maxSize` 50 is unchanged, because the check did not confirm it.');
    expect(err).toContain('`operations.schedules.list.path` "/api/v2/gone" is replaced with "/api/v2/schedules/index"');
  });

  it('keeps the settings of `--contract` in a new file, and refuses a file that is no contract', async () => {
    const { run, folder, sandbox } = await startFilled();
    const [contract, out] = [join(folder, 'contract.json'), join(folder, 'new.json')];
    await writeFile(contract, JSON.stringify({ operations: { 'cohorts.create': { path: '/api/v2/cohorts/import' } } }));
    expect((await run(['check', '--contract', contract, '--out', out])).code).toBe(0);
    expect(JSON.parse(await readFile(out, 'utf8')).operations).toEqual({
      'cohorts.create': { path: '/api/v2/cohorts/import' },
    });
    const requests = sandbox.log.length;
    await writeFile(out, '{ "pages": 1 }');
    expect((await run(['check', '--out', out])).code).toBe(2);
    expect(await readFile(out, 'utf8')).toBe('{ "pages": 1 }');
    expect(sandbox.log).toHaveLength(requests);
  });

  it('refuses to compare with one file and to write another one', async () => {
    const { run, folder, sandbox } = await startScene();
    const { code, err } = await run(['check', '--against', join(folder, 'a.json'), '--out', join(folder, 'b.json')]);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('must name the same file') });
    expect(sandbox.log).toEqual([]);
  });

  it('never writes an existing file of overrides, and shows the code that it needs', async () => {
    const { run, folder, env } = await startScene();
    Object.assign(env, { AUDIENCE_BASE_URL: ORIGIN, AUDIENCE_TOKEN: TOKEN });
    vi.stubGlobal('fetch', new Service(variants['fields in camelCase']).fetch);
    onTestFinished(() => void vi.unstubAllGlobals());
    const [out, code] = [join(folder, 'service.json'), join(folder, 'service.overrides.ts')];
    await run(['check', '--out', out]);
    expect(await readFile(code, 'utf8')).toContain('snakeCased');
    await writeFile(code, '// completed\n');
    const { err } = await run(['check', '--out', out]);
    expect(await readFile(code, 'utf8')).toBe('// completed\n');
    expect(err).toContain('data: snakeCased');
  });

  it('finds no time zone at a sandbox whose clock differs from the clock of the machine', async () => {
    const { run, sandbox } = await startFilled();
    await sandbox.advance(1_800_000);
    const { code, out } = await run(['check', '--write', '--yes', '--all']);
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, ' ')).toContain("time-zone: The timestamps are not from the service's clock.");
  });
});
