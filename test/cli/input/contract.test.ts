import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServiceContract } from '../../../src/index.ts';
import { startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { wireAudience } from '../../support/wire-audience.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const contract: ServiceContract = {
  operations: {
    'audiences.list': { path: '/v9/audience', data: 'data.items' },
    'audiences.get': { path: '/v9/audience/{id}', data: 'data.item' },
    'audiences.create': { path: '/v9/audience' },
  },
  paging: { style: 'offset', param: 'offset', size: 'limit', maxSize: 10 },
  statuses: { 'audience 106': 'failed' },
};
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };

/** Starts a service with a contract and 25 audiences, and a file of the contract. */
async function startContracted() {
  const manyRequests = { limit: 1_000, interval: 60_000 };
  const scene = await startScene({ contract, limits: { write: manyRequests } });
  const file = join(scene.folder, 'service.json');
  await writeFile(file, JSON.stringify(contract));
  const token = scene.env.AUDIENCE_TOKEN;
  for (let index = 0; index < 25; index++) {
    await scene.sandbox.fetch('http://localhost/v9/audience', {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ name: `A${index}` }),
    });
  }
  return { ...scene, file };
}

const login = ({ run, url }: Scene, ...flags: string[]) =>
  run(['login', '--email', 'ann@example.com', '--base-url', url, ...flags], {
    input: 'a secret password\n',
    env: LOGGED_OUT,
  });

describe('--contract', () => {
  it('lets `activations download` and `run --download` send the token and follow redirects', async () => {
    const { run, folder } = await startScene();
    const bearer = 'canary-token-1234';
    const activation = wireActivation('/files/1.csv');
    const api = await startServer({
      'GET /api/v2/activations/7': [{ data: activation }],
      'GET /api/v2/activations/index': [{ data: [activation] }],
      'POST /api/v2/activations/create': [{ data: activation }],
      'GET /api/v2/audiences/index': [{ data: [wireAudience()] }],
      'GET /api/v2/audiences/42': [{ data: wireAudience() }],
      'POST /api/v2/audiences/create': [{ data: wireAudience() }],
      'GET /files/1.csv': [{ status: 302, headers: { location: '/files/2.csv' }, bearer }],
      'GET /files/2.csv': [{ text: 'eid\n1\n', bearer }],
    });
    const [file, rows] = [join(folder, 'service.json'), join(folder, 'rows.jsonl')];
    await writeFile(file, JSON.stringify({ results: { redirect: true, bearer: true } }));
    await writeFile(rows, '{"key":"north","name":"North"}\n');
    const env = { AUDIENCE_BASE_URL: api.url, AUDIENCE_TOKEN: bearer, AUDIENCE_CONTRACT: file };
    const one = await run(['activations', 'download', '7', join(folder, 'one')], { env });
    expect(one.code, one.err).toBe(0);
    const all = await run(['run', rows, '--download', join(folder, 'all')], { env });
    expect(all.code, all.err + all.out).toBe(0);
    for (const path of ['one', 'all/north'])
      expect(await readFile(join(folder, path, 'devices.csv'), 'utf8')).toBe('eid\n1\n');
    const page = await run(['activations', 'download', '7', join(folder, 'none')], {
      env: { ...env, AUDIENCE_CONTRACT: undefined },
    });
    expect(page.err).toContain('set `results: { bearer: true }` in the contract');
    expect(await readdir(join(folder, 'none'))).toEqual([]);
  });

  it('has every command follow the file, as AUDIENCE_CONTRACT does', async () => {
    const { run, json, file } = await startContracted();
    expect(await run(['audiences', 'list', '--all'])).toMatchObject({ code: 8 });
    const rows = await json(['audiences', 'list', '--all', '--contract', file]);
    expect(rows).toHaveLength(25);
    const [created] = await json(['audiences', 'create', '--name', 'B', '--wait'], {
      env: { AUDIENCE_CONTRACT: file },
    });
    expect(created).toMatchObject({ name: 'B', status: { id: 104 } });
  });

  it('ends a wait at a status that it names, and continues by the same file', async () => {
    const scene = await startContracted();
    const { sandbox, run, file } = scene;
    sandbox.jobs.next('audience', 106);
    const { code, out } = await run(['audiences', 'create', '--name', 'B', '--wait', '--json', '--contract', file]);
    expect(code).toBe(3);
    expect(linesOf(out).at(-1)).toMatchObject({ status: { id: 106 } });
    sandbox.jobs.next('audience', { status: 104, duration: 600_000 });
    const { err } = await run(['audiences', 'create', '--name', 'C', '--wait', '--timeout', '1s', '--contract', file]);
    expect(err).toContain(`--contract ${file}`);
  });

  it('is kept with a profile by login, and replaced by a later one', async () => {
    const scene = await startContracted();
    const { json, run, file, folder } = scene;
    expect(await login(scene, '--contract', file)).toMatchObject({ code: 0 });
    expect(await json(['audiences', 'list', '--all'], { env: LOGGED_OUT })).toHaveLength(25);
    expect(await login(scene)).toMatchObject({ code: 0, err: expect.stringContaining('Already logged in') });
    expect(await json(['audiences', 'list'], { env: LOGGED_OUT })).toHaveLength(25);
    await writeFile(file, '{}');
    expect((await login(scene, '--contract', file)).err).toContain(
      `Profile "default" now uses the contract of ${file}.`,
    );
    const profile = JSON.parse(await readFile(join(folder, 'config/profiles/default.json'), 'utf8'));
    expect(profile.contract).toEqual({});
    expect(await run(['audiences', 'list'], { env: LOGGED_OUT })).toMatchObject({ code: 8 });
  });

  it.each([
    ['no JSON', '{', /service\.json must be valid JSON/],
    [
      'another style',
      '{"paging": {"style": "pages", "param": "page"}}',
      /service\.json: `contract\.paging\.style` must be/,
    ],
    ['an unknown operation', '{"operations": {"audience.get": {}}}', /service\.json: `operations` has no operation/],
  ])('refuses a file with %s, and sends nothing', async (_, text, message) => {
    const { run, file, sandbox } = await startContracted();
    const requests = sandbox.log.length;
    await writeFile(file, text);
    const { code, err } = await run(['audiences', 'list', '--contract', file]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    expect(sandbox.log).toHaveLength(requests);
  });

  it('reports a file that is missing', async () => {
    const { run } = await startScene();
    expect(await run(['budget', '--contract', 'nowhere.json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('nowhere.json cannot be read'),
    });
  });

  it('has the sandbox follow the file, also in other commands with --sandbox', async () => {
    const { run, json, start, file } = await startContracted();
    const serving = start(['sandbox', '--contract', file, '--duration', '0', '--json']);
    await serving.shows('out', '"url"');
    const [created] = await json(['audiences', 'create', '--name', 'S', '--wait', '--sandbox'], { env: LOGGED_OUT });
    expect(created).toMatchObject({ name: 'S' });
    expect(await json(['audiences', 'list', '--sandbox'], { env: LOGGED_OUT })).toMatchObject([{ name: 'S' }]);
    expect(serving.printed.err + serving.printed.out).toContain('/v9/audience');
    expect(await run(['budget', '--sandbox', '--contract', file], { env: LOGGED_OUT })).toMatchObject({ code: 0 });
  });

  it('decides when a watched job ends, and the event contains the payload', async () => {
    const { sandbox, run, json, file } = await startContracted();
    sandbox.jobs.next('audience', 106);
    const [created] = await json(['audiences', 'create', '--name', 'W', '--contract', file]);
    const target = `audience:${created?.id}`;
    const { out } = await run([
      ...`listen --jobs ${target} --forward-to http://127.0.0.1:9 --retry-speed 1e9 --json`.split(' '),
      '--contract',
      file,
    ]);
    expect(linesOf(out)[0]).toMatchObject({ type: 'audience.failed', event: { data: { id: created?.id, name: 'W' } } });
  });
});
