import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { NO_LIMITS } from '../support/journal.ts';
import { type Scene, startScene } from './support/run-process.ts';
import { linesOf } from './support/scene.ts';

/** Starts a sandbox without limits, with a file of rows. */
async function startRows(content: string, name = 'rows.jsonl', options = {}): Promise<Scene> {
  const scene = await startScene({ limits: NO_LIMITS, ...options });
  await writeFile(join(scene.folder, name), content);
  return scene;
}

const TWO = '{"key":"north","name":"North"}\n{"key":"south","name":"South"}\n';
const creates = ({ sandbox }: Scene) => sandbox.log.filter(({ path }) => path.endsWith('/create'));
const journalOf = (scene: Scene): Promise<string> => readFile(join(scene.folder, 'rows.jsonl.journal'), 'utf8');

describe('aud run', () => {
  it('builds, activates and downloads a CSV once, and says so', async () => {
    const csv =
      '\uFEFFkey,name,dataset.0.analysis_type,dataset.0.start_date,dataset.0.end_date\r\nnorth,"North, ""old""\r\ntown",AffinityTransactions,2026-05-01,2026-05-31\r\nsouth,South,,,\r\n\r\n';
    const scene = await startRows(csv, 'rows.csv');
    const first = await scene.run(['run', 'rows.csv', '--download', 'results']);
    expect(first.code, first.err).toBe(0);
    expect(first.out).toMatch(/^north\tdone\t\d+\t\d+\t\nsouth\tdone\t\d+\t\d+\t\n$/);
    expect(first.err).toContain('2 rows: 2 done.');
    expect((await readdir(join(scene.folder, 'results'))).sort()).toEqual(['north', 'south']);
    const rows = await scene.json(['audiences', 'list']);
    expect(rows.map(({ name }) => name).sort()).toEqual(['North, "old"\r\ntown', 'South']);
    const { length } = scene.sandbox.log;
    const again = await scene.run(['run', 'rows.csv', '--download', 'results', '--json']);
    expect(linesOf(again.out)).toMatchObject([
      { key: 'north', state: 'done', files: [expect.stringContaining('results/north/')] },
      { key: 'south', state: 'done' },
    ]);
    expect(scene.sandbox.log.length).toBe(length);
  });

  it('prints a line of JSON for each change, and takes rows of standard input with a journal', async () => {
    const scene = await startRows('');
    const input = '[{"key":"north","name":"North"}]';
    const missing = await scene.run(['run', '-'], { input });
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--journal <file>')]);
    const { out, code } = await scene.run(['run', '-', '--journal', 'night.journal', '--json'], { input });
    expect(code).toBe(0);
    expect(linesOf(out).map(({ state }) => state)).toEqual(['building', 'done']);
    scene.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const lost = await scene.run(['run', '-', '--journal', 'other.journal', '--max-retries', '0'], { input });
    expect(lost.err).toContain('pass the same rows on standard input');
  });

  it('warns of a field that audiences do not have, also with --dry-run', async () => {
    const scene = await startRows('key,nmae\nnorth,North\n', 'rows.csv');
    const { code, err } = await scene.run(['run', 'rows.csv', '--dry-run']);
    expect([code, err]).toEqual([0, expect.stringContaining('Audiences have no field "nmae" (known: name, ')]);
  });

  it('stops when nothing reads its output any more, and says how to continue', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { jobs: { duration: 3_600_000 } });
    const running = scene.start(['run', 'rows.jsonl', '--json']);
    running.child.stdout?.once('data', () => running.child.stdout?.destroy());
    const { code, err } = await running.ended;
    expect([6, 10]).toContain(code);
    expect(err).toContain('"code":"output-closed"');
    expect(err).toContain('"resume":"audience-activation run rows.jsonl');
    expect(err).not.toContain('"state"');
    expect((await scene.run(['run', 'rows.jsonl', '--deadline', '5s'])).code).toBe(6);
    expect(creates(scene).length).toBeLessThanOrEqual(3);
    expect(await scene.json(['audiences', 'list'])).toHaveLength(2);
  });

  it('says after SIGTERM that a create in flight is unknown, and after a deadline exits with 10', async () => {
    const scene = await startRows(TWO);
    const held = scene.sandbox.faults.add({ on: 'audiences.create', inFlight: 3_600_000, times: 1 });
    const running = scene.start(['run', 'rows.jsonl']);
    await vi.waitFor(() => expect(creates(scene)).toHaveLength(1), { timeout: 60_000 });
    running.child.kill('SIGTERM');
    const { code, err } = await running.ended;
    expect([code, err]).toEqual(['SIGTERM', expect.stringContaining('2 rows: 1 unfinished, 1 unknown.')]);
    const late = await scene.run(['run', 'rows.jsonl', '--deadline', '3s']);
    expect([late.code, late.err]).toEqual([10, expect.stringContaining('within 23 hours')]);
    held();
    expect((await scene.run(['run', 'rows.jsonl'])).code).toBe(0);
    expect(await scene.json(['audiences', 'list'])).toHaveLength(2);
  });

  it.each([
    ['an empty file', '', 'There are no rows'],
    ['a row without a key', '{"name":"North"}', 'Line 1 needs a "key"'],
    ['a key that is no folder name', '{"key":"../north"}', 'Line 1 needs a "key"'],
    ['a key that is a folder', '{"key":".."}', 'Line 1 needs a "key"'],
    ['two equal keys', '{"key":"north"}\n{"key":"North"}', 'Line 2 has the key of Line 1'],
    ['a line that is not JSON', '{"key":"north"}\n{"key', 'Line 2 is not JSON'],
    ['a row that is no object', '[{"key":"north"},4]', 'Row 2 is not an object'],
    ['a field __proto__', '{"key":"north","dataset":[{"__proto__":{}}]}', '"__proto__"'],
    ['a column __proto__', 'key,a.__proto__.b\nnorth,1', '"__proto__"'],
    ['a record with too many cells', 'key,name\nnorth,North,4', 'Line 2 has more cells'],
    ['a quote that is not closed', 'key,name\nnorth,"North\n', 'Line 2 has a quote'],
    ['a quote inside a cell', 'key,name\nnorth,No"rth\n', 'Line 2 has a quote'],
    ['a header without a key', 'name;key\nNorth;north', 'no column "key"'],
    ['a column that is a part of another', 'key,dataset,dataset.0.x\n', 'column "dataset"'],
    [
      'a body that would be refused',
      '{"key":"north","name":"x"}\n{"key":"south","dataset":[{"analysis_type":"WebDomain","start_date":"2020-01-01"}]}',
      'error: south: audiences.create was not sent',
    ],
  ])('refuses %s before anything is sent', async (_, content, message) => {
    const scene = await startRows(content);
    const { code, err } = await scene.run(['run', 'rows.jsonl']);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(scene.sandbox.log).toEqual([]);
    expect(await readdir(scene.folder)).not.toContain('rows.jsonl.journal');
  });

  it('says with --dry-run what would happen to each row, and sends nothing', async () => {
    const scene = await startRows(TWO);
    expect((await scene.run(['run', 'rows.jsonl', '--dry-run'])).out).toBe('north\tcreate\t\nsouth\tcreate\t\n');
    expect(await readdir(scene.folder)).not.toContain('rows.jsonl.journal');
    await scene.run(['run', 'rows.jsonl']);
    const { length } = scene.sandbox.log;
    await appendFile(
      join(scene.folder, 'rows.jsonl.journal'),
      '{"key":"old","sent":"journal-x","at":"2026-11-24T02:00:00.000Z"}\n',
    );
    await writeFile(join(scene.folder, 'rows.jsonl'), `${TWO.replace('"South"', '"Changed"')}{"key":"east"}\n`);
    const { out, code } = await scene.run(['run', 'rows.jsonl', '--dry-run']);
    expect([code, out]).toEqual([
      8,
      expect.stringMatching(/^north\twait\t\d+\nsouth\tchanged\t\d+\neast\tcreate\t\n$/),
    ]);
    expect(scene.sandbox.log.length).toBe(length);

    scene.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    await scene.run(['run', 'rows.jsonl', '--max-retries', '0']);
    const lost = await scene.run(['run', 'rows.jsonl', '--dry-run']);
    expect(lost.out).toContain('east\tsend again\t\n');
    const path = join(scene.folder, 'rows.jsonl.journal');
    await writeFile(path, (await readFile(path, 'utf8')).replace(/"at":"[^"]+"(?=}\n$)/, '"at":"2026-11-01"'));
    expect((await scene.run(['run', 'rows.jsonl', '--dry-run'])).out).toContain('east\tunknown\t\n');
  });

  it('exits with 8 for a row that has changed or a file that is no journal, and with 10 for an unknown outcome', async () => {
    const scene = await startRows(TWO);
    await scene.run(['run', 'rows.jsonl']);
    await writeFile(join(scene.folder, 'rows.jsonl'), TWO.replace('"South"', '"Changed"'));
    const changed = await scene.run(['run', 'rows.jsonl']);
    expect([changed.code, changed.err]).toEqual([8, expect.stringContaining('builds it again only if it has failed')]);
    const activate = ['run', 'rows.jsonl', '--journal', 'activated', '--activate'];
    await scene.run([...activate, '{"identifier":"EID"}']);
    const other = await scene.run([...activate, '{"identifier":"SCID"}']);
    expect([other.code, other.err]).toEqual([
      8,
      expect.stringContaining('The north activation was created with a different --activate. Pass the --activate of'),
    ]);
    const same = await scene.run([...activate, '{"identifier":"EID"}', '--json']);
    expect(same.code, same.err).toBe(0);
    const audience = String(Object(linesOf(same.out)[0]).audience);
    const further = ['activations', 'create', '--audience-id', audience, '--identifier', 'SCID'];
    expect((await scene.run(further)).code).toBe(0);
    const wrong = await scene.run(['run', 'rows.jsonl', '--journal', 'rows.jsonl']);
    expect([wrong.code, wrong.err]).toEqual([8, expect.stringContaining('is not a journal')]);
    const old = '{"key":"east","sent":"X","at":"2026-11-01T02:00:00.000Z"}\n';
    await appendFile(join(scene.folder, 'rows.jsonl.journal'), old);
    await writeFile(join(scene.folder, 'rows.jsonl'), '{"key":"east","name":"East"}\n');
    expect((await scene.run(['run', 'rows.jsonl'])).code).toBe(10);
    expect(creates(scene)).toHaveLength(7);
  });

  it('gives advice that its own flags can follow, without idempotency keys', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { jobs: { duration: 0, outcome: 107 } });
    scene.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const lost = await scene.run(['run', 'rows.jsonl', '--max-retries', '0']);
    expect([lost.code, lost.err]).toEqual([10, expect.stringContaining('run this again within 23 hours, and it')]);
    scene.sandbox.faults.add({ on: 'audiences.create', status: 409, retryAfter: 61, times: 1 });
    const held = await scene.run(['run', 'rows.jsonl', '--max-retries', '0']);
    expect([held.code, held.err]).toEqual([
      10,
      expect.stringContaining('Run this again within 23 hours, and it happens'),
    ]);
    scene.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const record = await scene.run(['run', 'rows.jsonl', '--journal', 'other', '--max-retries', '0', '--json']);
    expect(linesOf(record.out)[0]).toMatchObject({ error: { message: expect.stringContaining('run this again') } });
    const failed = await scene.run(['run', 'rows.jsonl']);
    expect([failed.code, failed.err]).toEqual([4, expect.stringContaining('create it again, with --retry-failed.')]);
    expect(lost.err + held.err + failed.err).not.toMatch(/dempotency|\. and |again\. If/);
    const again = await scene.run(['run', 'rows.jsonl', '--retry-failed']);
    expect([again.code, creates(scene).length]).toEqual([4, 7]);
    const { err } = await scene.run(['run', 'rows.jsonl', '--activate', '{identifier:EID}']);
    expect(err).toContain('--activate must be JSON');
  });

  it('exits with 7 without creating anything if the token is refused', async () => {
    const scene = await startRows(TWO);
    const { code } = await scene.run(['run', 'rows.jsonl'], { env: { AUDIENCE_TOKEN: 'wrong' } });
    expect(code).toBe(7);
    expect(scene.sandbox.log).toHaveLength(1);
  });

  it('exits with 9 when the budget is used up with --budget-wait 0, and says how to continue', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { limits: { ...NO_LIMITS, buildsPerHour: 1 } });
    const { code, err } = await scene.run(['run', 'rows.jsonl', '--budget-wait', '0']);
    expect(code).toBe(9);
    expect(err).toContain('2 rows: 1 done, 1 unfinished.');
    expect(err).not.toContain('dempotency');
    expect(err).toMatch(/Continue with: audience-activation run rows\.jsonl --budget-wait 0s/);
    const env = { npm_lifecycle_script: 'audience-activation run rows.jsonl' };
    const started = await scene.run(['run', 'rows.jsonl', '--budget-wait', '0'], { env });
    expect(started.err).toContain('Continue with: npx audience-activation run rows.jsonl');
  });

  it('prints the summary and the command that continues after SIGTERM, and after its deadline', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { jobs: { duration: 3_600_000 } });
    const running = scene.start(['run', 'rows.jsonl']);
    await vi.waitFor(() => expect(running.printed.err).toContain('south: waiting for audience'), { timeout: 60_000 });
    running.child.kill('SIGTERM');
    const { code, err } = await running.ended;
    expect(code).toBe('SIGTERM');
    expect(err).toContain('2 rows: 2 unfinished.');
    expect(err).toContain('To continue: audience-activation run rows.jsonl');
    const late = await scene.run(['run', 'rows.jsonl', '--deadline', '3s']);
    expect([late.code, late.err]).toEqual([
      6,
      expect.stringContaining('To continue: audience-activation run rows.jsonl'),
    ]);
    expect(creates(scene)).toHaveLength(2);
    expect(await journalOf(scene)).not.toContain('refused');
  });

  it('refuses to run while another run uses the journal', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { jobs: { duration: 3_600_000 } });
    const running = scene.start(['run', 'rows.jsonl']);
    await vi.waitFor(() => expect(running.printed.err).toContain('south: waiting for audience'), { timeout: 60_000 });
    const { code, err } = await scene.run(['run', 'rows.jsonl']);
    expect([code, err]).toEqual([
      8,
      expect.stringMatching(/Another run uses .*rows\.jsonl\.journal\. Nothing was sent/),
    ]);
  });

  it('creates nothing twice when it is suspended, another run takes over, and it continues', async () => {
    const scene = await startRows(TWO, 'rows.jsonl', { jobs: { duration: 20_000 } });
    scene.sandbox.faults.add({ on: 'audiences.create', delay: 1_000 });
    const suspended = scene.start(['run', 'rows.jsonl']);
    await vi.waitFor(() => expect(creates(scene).length).toBeGreaterThan(0), { timeout: 60_000 });
    suspended.child.kill('SIGSTOP');
    const other = scene.start(['run', 'rows.jsonl']);
    await vi.waitFor(() => expect(other.printed.err).toContain('south: waiting for audience'), { timeout: 60_000 });
    suspended.child.kill('SIGCONT');
    expect((await other.ended).code).toBe(0);
    await suspended.ended;
    expect((await scene.json(['audiences', 'list'])).length).toBe(2);
  });
});
