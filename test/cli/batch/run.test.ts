import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { NO_LIMITS } from '../../support/journal.ts';
import { startScene, TERMINAL } from '../support/run-command.ts';
import { linesOf, type RunOptions } from '../support/scene.ts';

const HOUR = 3_600_000;
const TWO = '{"key":"north","name":"North"}\n{"key":"south","name":"South"}\n';

/** Starts a sandbox without limits, with a file of rows, and runs `aud run` with it. */
async function startRows(content: string | Uint8Array, options: SandboxOptions = {}, name = 'rows.jsonl') {
  const scene = await startScene({ limits: NO_LIMITS, ...options });
  const file = join(scene.folder, name);
  await writeFile(file, content);
  return {
    ...scene,
    file,
    journal: `${file}.journal`,
    runRows: (flags: readonly string[] = [], runOptions?: RunOptions) => scene.run(['run', file, ...flags], runOptions),
    creates: () => scene.sandbox.log.filter(({ path }) => path.endsWith('/create')),
  };
}

describe('aud run', () => {
  it('builds, activates and downloads a CSV once, and says so', async () => {
    const csv =
      '\uFEFFkey,name,dataset.0.analysis_type,dataset.0.start_date,dataset.0.end_date\r\nnorth,"North, ""old""\r\ntown",AffinityTransactions,2026-05-01,2026-05-31\r\nsouth,South,,,\r\n\r\n';
    const { runRows, json, sandbox, folder } = await startRows(csv, {}, 'rows.csv');
    const results = join(folder, 'results');
    const first = await runRows(['--download', results]);
    expect(first.code, first.err).toBe(0);
    expect(first.out).toMatch(/^north\tdone\t\d+\t\d+\t\nsouth\tdone\t\d+\t\d+\t\n$/);
    expect(first.err).toContain('2 rows: 2 done.');
    expect((await readdir(results)).sort()).toEqual(['north', 'south']);
    const rows = await json(['audiences', 'list']);
    expect(rows.map(({ name }) => name).sort()).toEqual(['North, "old"\r\ntown', 'South']);
    const { length } = sandbox.log;
    const again = await runRows(['--download', results, '--json']);
    expect(linesOf(again.out)).toMatchObject([
      { key: 'north', state: 'done', files: [expect.stringContaining('results/north/')] },
      { key: 'south', state: 'done' },
    ]);
    expect(sandbox.log.length).toBe(length);
  });

  it('prints a line of JSON for each change, and takes rows of standard input with a journal', async () => {
    const { run, sandbox, folder } = await startRows('');
    const input = '[{"key":"north","name":"North"}]';
    const missing = await run(['run', '-'], { input });
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('--journal <file>')]);
    const { out, code } = await run(['run', '-', '--journal', join(folder, 'night'), '--json'], { input });
    expect(code).toBe(0);
    expect(linesOf(out).map(({ state }) => state)).toEqual(['building', 'done']);
    sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const lost = await run(['run', '-', '--journal', join(folder, 'other'), '--max-retries', '0'], { input });
    expect(lost.err).toContain('pass the same rows on standard input');
  });

  it('warns of a field that audiences do not have, also with --dry-run', async () => {
    const { runRows } = await startRows('key,nmae\nnorth,North\n', {}, 'rows.csv');
    const { code, err } = await runRows(['--dry-run']);
    expect([code, err]).toEqual([
      0,
      expect.stringContaining('north: "nmae" is not a known field of an audience (known: name, '),
    ]);
  });

  it.each([
    ['a row without a key', '{"name":"North"}', 'Line 1 needs a "key"'],
    ['letters of Windows', Buffer.from('key,name\nnorth,M\u00fcnchen\n', 'latin1'), 'line 2 is not UTF-8'],
    [
      'a body that would be refused',
      '{"key":"north","name":"x"}\n{"key":"south","dataset":[{"analysis_type":"WebDomain","start_date":"2020-01-01"}]}',
      'error: south: audiences.create was not sent',
    ],
  ])('refuses %s before anything is sent, also on standard input', async (_, content, message) => {
    const { runRows, run, sandbox, folder } = await startRows(content);
    const piped = await run(['run', '-', '--journal', join(folder, 'journal')], { input: content });
    for (const { code, err } of [await runRows(), piped])
      expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(sandbox.log).toEqual([]);
    expect(await readdir(folder)).toEqual(['rows.jsonl']);
  });

  it.each([';', '\t'])(
    'reads a CSV with "%s" instead of commas, as spreadsheets write it in some languages',
    async (separator) => {
      const text = ['name,key', 'North,north', '"a;b",south', ''].join('\r\n').replaceAll(',', separator);
      const { runRows, client } = await startRows(text.replace('a;b', 'Köln, "Süd"'.replaceAll('"', '""')));
      expect((await runRows()).out).toMatch(/^north\tdone\t\d+\t\t\nsouth\tdone\t\d+\t\t\n$/);
      const names = (await client.audiences.list().toArray({ limit: 9 })).map(({ name }) => name);
      expect(names.sort()).toEqual(['Köln, "Süd"', 'North']);
    },
  );

  it('says that it leaves out what a spreadsheet adds', async () => {
    const { runRows } = await startRows('Key,name,cohort_id,,\na,A,81,,\n,,,,\n\n', {}, 'rows.csv');
    const { code, err } = await runRows(['--dry-run']);
    expect([code, err]).toEqual([0, 'The command ignores empty columns at the end (2).\n']);
  });

  it('checks only rows without a create request against the window of WebDomain data, and a continued run refuses only these rows', async () => {
    const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
    const start = day(Date.now() - 44 * 86_400_000);
    const row = { key: 'a', name: 'A', dataset: [{ analysis_type: 'WebDomain', start_date: start, end_date: start }] };
    const { runRows, file, time } = await startRows(JSON.stringify(row));
    expect((await runRows()).code).toBe(0);
    await time.sleepThrough(4 * 86_400_000);
    expect((await runRows()).code).toBe(0);
    await writeFile(file, `${JSON.stringify(row)}\n${JSON.stringify({ ...row, key: 'b' })}`);
    const { code, err } = await runRows();
    expect([code, err]).toEqual([8, expect.stringContaining('error: b: audiences.create was not sent')]);
    expect(err).toContain('2 rows: 1 done, 1 refused.');
    const plan = await runRows(['--dry-run']);
    expect([plan.code, plan.out]).toEqual([8, expect.stringMatching(/^a\tdone\t\d+\t\nb\trefused\t\t\n$/)]);
  });

  it('needs a journal for rows that a shell passes as a file', async () => {
    const { run, folder } = await startRows('');
    expect((await run(['run', '/dev/fd/63'])).err).toContain('--journal <file>');
    const piped = ['run', '/dev/stdin', '--journal', join(folder, 'night')];
    expect((await run(piped, { input: TWO })).code).toBe(0);
  });

  it('says with --dry-run what would happen to each row, and sends nothing', async () => {
    const { runRows, sandbox, folder, file, journal } = await startRows(TWO);
    expect((await runRows(['--dry-run'])).out).toBe('north\tcreate\t\t\nsouth\tcreate\t\t\n');
    expect(await readdir(folder)).not.toContain('rows.jsonl.journal');
    await runRows();
    const { length } = sandbox.log;
    await appendFile(journal, '{"key":"old","sent":"journal-x","at":"2026-11-24T02:00:00.000Z"}\n');
    await writeFile(file, `${TWO.replace('"South"', '"Changed"')}{"key":"east","name":"East"}\n`);
    const { out, code } = await runRows(['--dry-run']);
    const plan = /^north\tdone\t\d+\t\nsouth\tchanged\t\d+\t\neast\tcreate\t\t\n$/;
    expect([code, out]).toEqual([8, expect.stringMatching(plan)]);
    expect(sandbox.log.length).toBe(length);

    sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    await runRows(['--max-retries', '0']);
    expect((await runRows(['--dry-run'])).out).toContain('east\tsend again\t\t\n');
    const text = await readFile(journal, 'utf8');
    await writeFile(journal, text.replace(/"at":"[^"]+"(?=[^\n]*\n$)/, '"at":"2026-11-01"'));
    expect((await runRows(['--dry-run'])).out).toContain('east\tunknown\t\t\n');
  });

  it('sees activations with --dry-run, and ends as the run would', async () => {
    const { runRows, journal } = await startRows(TWO);
    await runRows();
    const activate = ['--activate', '{"identifier":"EID"}'];
    expect((await runRows([...activate, '--dry-run'])).out).toMatch(
      /^north\tactivate\t\d+\t\nsouth\tactivate\t\d+\t\n$/,
    );
    await runRows(activate);
    expect((await runRows([...activate, '--dry-run'])).out).toMatch(/^north\tdone\t\d+\t\d+\n/);
    await runRows(['--forget', 'south activation']);
    expect((await runRows([...activate, '--dry-run'])).out).toMatch(/\nsouth\tactivate\t\d+\t\n$/);
    await runRows(activate);
    const changed = await runRows(['--activate', '{"identifier":"SCID"}', '--dry-run']);
    expect([changed.code, changed.out]).toEqual([8, expect.stringMatching(/^north\tchanged\t\d+\t\d+\n/)]);
    const text = await readFile(journal, 'utf8');
    const lost = text.split('\n').filter((line) => !/"key":"north activation","id"/.test(line));
    await writeFile(journal, lost.join('\n').replaceAll(/"at":"[^"]+"/g, '"at":"2026-11-01"'));
    const unknown = await runRows([...activate, '--dry-run']);
    expect([unknown.code, unknown.out]).toEqual([8, expect.stringMatching(/^north\tunknown\t\d+\t\n/)]);
  });

  it('prints with --status what the journal says, also during a run', async () => {
    const scene = await startRows(`${TWO}{"key":"east","name":"East"}\n`, { jobs: { duration: 3_600_000 } });
    const { runRows, journal, time, file } = scene;
    expect((await runRows(['--status'])).out).toBe('north\tnot begun\t\t\nsouth\tnot begun\t\t\neast\tnot begun\t\t\n');
    const running = scene.start(['run', file]);
    await time.untilTrue(() => (running.printed.err.match(/waiting for audience/g) ?? []).length === 3);
    const { out, code } = await runRows(['--status']);
    expect([code, out]).toEqual([0, expect.stringMatching(/^north\taudience (\d+) created \S+Z\t\1\t\n/)]);
    running.interrupt();
    await running.ended;
    await appendFile(journal, `{"key":"north activation","sent":"x","at":"${new Date().toISOString()}"}\n`);
    await appendFile(journal, '{"key":"south","done":{}}\n{"key":"east","forget":true}\n');
    await writeFile(file, TWO);
    const shorter = (await runRows(['--status'])).out;
    expect(shorter).toMatch(/\nsouth\tdone\t\d+\t\n$/);
    await appendFile(journal, `{"key":"west cohort","sent":"x","at":"${new Date().toISOString()}"}\n`);
    expect((await runRows(['--status'])).out).toMatch(/\nwest\tcohort in doubt until \S+Z \(no row\)\t\t\n$/);
    await runRows(['--forget', 'west cohort']);
    await writeFile(file, `${TWO}{"key":"east","name":"East"}\n`);
    const later = (await runRows(['--status'])).out;
    expect(later).toMatch(/^north\tactivation in doubt until \S+Z\t\d+\t\nsouth\tdone\t\d+\t\neast\tnot begun\t\t\n$/);
  });

  it('records with --resolve and --forget what a person has found out about lost creates', async () => {
    const { runRows, sandbox, client, creates, file } = await startRows(TWO);
    sandbox.faults.add({ on: 'audiences.create', cut: 'after' });
    expect((await runRows(['--max-retries', '0'])).code).toBe(10);
    sandbox.faults.clear();
    const [{ id } = { id: 0 }] = (await client.audiences.list().toArray({ limit: 9 })).filter(
      ({ name }) => name === 'North',
    );
    const { length } = sandbox.log;
    const resolved = await runRows(['--resolve', `north=${id}`, '--forget', 'south']);
    expect([resolved.code, resolved.err]).toEqual([
      0,
      expect.stringContaining(`"north" has the id ${id} in the journal.`),
    ]);
    expect(sandbox.log).toHaveLength(length);
    const { out, code } = await runRows();
    expect([code, out]).toEqual([0, expect.stringMatching(`^north\tdone\t${id}\t\t\nsouth\tdone`)]);
    expect(creates()).toHaveLength(3);
    for (const flags of [
      ['--resolve', 'north'],
      ['--resolve', 'x=1'],
      ['--forget', 'x'],
      ['--journal', `${file}.no`, '--forget', 'north'],
    ])
      expect((await runRows(flags)).code).toBe(2);
  });

  it('shows, resolves and forgets the cohort of a row, too', async () => {
    const { runRows, sandbox, client, folder, journal } = await startRows(
      'key,name,file\nvip,VIP,l.csv\n',
      {},
      'r.csv',
    );
    await writeFile(
      join(folder, 'l.csv'),
      `email\n${Array.from({ length: 600 }, (_, at) => `${at}@x.org\n`).join('')}`,
    );
    expect((await runRows(['--dry-run'])).out).toBe('vip\tcreate\t\t\n');
    sandbox.faults.add({ on: 'cohorts.create', cut: 'after', times: 1 });
    expect((await runRows(['--max-retries', '0'])).code).toBe(10);
    expect((await runRows(['--status'])).out).toMatch(/^vip\tcohort in doubt until \S+Z\t\t\n$/);
    expect((await runRows(['--dry-run'])).out).toBe('vip\tsend again\t\t\n');
    const text = await readFile(journal, 'utf8');
    await writeFile(journal, text.replaceAll(/"at":"[^"]+"/g, '"at":"2026-11-01"'));
    const expired = await runRows();
    expect([expired.code, expired.err]).toEqual([8, expect.stringContaining('`--resolve "vip cohort=<id>"`')]);
    const [cohort] = await client.cohorts.list().toArray({ limit: 9 });
    expect((await runRows(['--resolve', `vip cohort=${cohort?.id}`])).code).toBe(0);
    expect((await runRows()).out).toMatch(/^vip\tdone/);
    expect((await runRows(['--forget', 'vip cohort'])).code).toBe(0);
    const forgotten = (await readFile(journal, 'utf8')).matchAll(/"key":"([^"]+)","forget"/g);
    expect([...forgotten].map(([, key]) => key)).toEqual(['vip', 'vip cohort']);
    expect((await runRows()).code).toBe(0);
    expect(await client.cohorts.list().toArray({ limit: 9 })).toHaveLength(2);
  });

  it('says which files are in another folder, because it does not save them again', async () => {
    const { run, runRows, folder, file } = await startRows(TWO);
    const [old, other] = [join(folder, 'old'), join(folder, 'new')];
    await runRows(['--download', old]);
    expect((await runRows(['--download', old])).err).not.toContain('warning');
    await writeFile(file, `${TWO}{"key":"east","name":"East"}\n`);
    const { code, err } = await runRows(['--download', other]);
    expect([code, err]).toEqual([
      0,
      expect.stringContaining(`An earlier run saved the files of 2 rows outside ${other}, for example in ${old}`),
    ]);
    expect(await readdir(other)).toEqual(['east']);
    const [, ...again] = /To save those files in .*, run: (.*)/.exec(err)?.[1]?.split(' ') ?? [];
    expect((await run(again)).code).toBe(0);
    expect((await readdir(other)).sort()).toEqual(['east', 'north']);
  });

  it('keeps no journal of a sandbox that ends with the command, so that it can run again', async () => {
    const { runRows, folder } = await startRows(TWO);
    for (const _run of [1, 2]) expect((await runRows(['--sandbox'])).code).toBe(0);
    expect(await readdir(folder)).not.toContain('rows.jsonl.journal');
  });

  it('begins each line with the time, and says what was done before in one line', async () => {
    const { runRows, folder, file } = await startRows(TWO);
    const flags = ['--download', join(folder, 'results')];
    const first = await runRows(flags);
    const lines = first.err.trimEnd().split('\n');
    expect(lines).toContainEqual(
      expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ north: waiting for audience \d+$/),
    );
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /);
    await writeFile(file, `${TWO}{"key":"east","name":"East"}\n`);
    const { err } = await runRows(flags);
    expect(err).toMatch(/^\S+Z Earlier runs completed 2 rows\.\n\S+Z east: waiting for audience/);
    expect(err).not.toContain('north');
    const { out } = await runRows([...flags, '--json']);
    expect(linesOf(out)[0]).toMatchObject({ key: 'north', state: 'done', at: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it('exits with 8 for a blocked row with --fail-on-blocked, else with 0', async () => {
    const { runRows } = await startRows(TWO, { jobs: { duration: 0, devices: 10 } });
    const activate = ['--activate', '{}'];
    expect((await runRows(activate)).code).toBe(0);
    expect((await runRows([...activate, '--fail-on-blocked'])).code).toBe(8);
  });

  it('writes the last table with --report, as CSV or as JSON', async () => {
    const { runRows, folder, file, sandbox } = await startRows('{"key":"north","name":"N"}', {
      jobs: { duration: 0, devices: 10 },
    });
    const [csv, json] = [join(folder, 'report.csv'), join(folder, 'report.json')];
    await runRows(['--activate', '{}', '--report', csv]);
    const text = await readFile(csv, 'utf8');
    expect(text).toMatch(
      /^key,state,audience,activation,reason,files,error\nnorth,blocked,\d+,,.*unique devices.*,,\n$/,
    );
    await writeFile(file, '{"key":"poison","name":"P","project_id":99}');
    await runRows(['--report', csv]);
    expect(await readFile(csv, 'utf8')).toMatch(
      /\npoison,refused,,,validation-failed,,audiences\.create failed: 422 .* project_id: The account has no project \d+\. Request id: \S+\n$/,
    );
    await writeFile(file, '{"key":"north","name":"N"}');
    await runRows(['--activate', '{}', '--report', json]);
    expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject([{ key: 'north', state: 'blocked' }]);
    expect((await runRows(['--report', 'report.txt'])).err).toContain('--report must end with .csv or .json');
    const { length } = sandbox.log;
    for (const flags of [['--status'], ['--dry-run'], ['--forget', 'north']]) {
      const { code, err } = await runRows([...flags, '--report', csv]);
      expect([code, err]).toEqual([2, expect.stringContaining('--report cannot be combined with --status')]);
    }
    expect((await runRows(['--report', join(folder, 'none', 'report.csv')])).code).toBe(2);
    expect(sandbox.log).toHaveLength(length);
  });

  it('exits with 1 when storage refuses a file, so that a script runs it again', async () => {
    const { runRows, sandbox, folder } = await startRows(TWO);
    const flags = ['--download', join(folder, 'results')];
    sandbox.faults.add({ on: 'GET /results/*', status: 404 });
    const refused = await runRows(flags);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('2 rows: 2 unfinished.')]);
    sandbox.faults.clear();
    expect((await runRows(flags)).code).toBe(0);
  });

  it('saves a file whose link was refused with a new link', async () => {
    const { runRows, sandbox, folder } = await startRows(TWO);
    sandbox.faults.add({ on: 'GET /results/*', status: 403, times: 1 });
    const { code, err } = await runRows(['--download', join(folder, 'results')]);
    expect(code, err).toBe(0);
  });

  it('tries the folder of --download before anything is built', async () => {
    const { runRows, creates, folder } = await startRows(TWO);
    await writeFile(join(folder, 'taken'), '');
    const { code, err } = await runRows(['--download', join(folder, 'taken')]);
    expect([code, err]).toEqual([2, expect.stringContaining(`${join(folder, 'taken')} cannot be written: `)]);
    expect(creates()).toEqual([]);
    expect((await runRows(['--download', join(folder, 'new', 'results')])).code).toBe(0);
    expect((await readdir(join(folder, 'new', 'results'))).sort()).toEqual(['north', 'south']);
  });

  it('imports the file of a row as a cohort first, once, and builds the audience from it', async () => {
    const { runRows, sandbox, client, folder, creates } = await startRows(
      'key,name,file\nvip,VIP,vip.csv\nall,All,\n',
      {},
      'rows.csv',
    );
    const list = join(folder, 'vip.csv');
    await writeFile(list, '');
    expect((await runRows()).err).toContain(`vip: ${list} is empty.`);
    expect(creates()).toEqual([]);
    await writeFile(list, `email\n${Array.from({ length: 600 }, (_, at) => `${at}@example.com\n`).join('')}`);
    sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const results = ['--download', join(folder, 'results')];
    expect((await runRows([...results, '--max-retries', '0'])).code).toBe(10);
    const { code, err } = await runRows(results);
    expect(code, err).toBe(0);
    expect(await client.cohorts.list().toArray({ limit: 9 })).toMatchObject([{ name: 'VIP' }]);
    const audiences = await client.audiences.list().toArray({ limit: 9 });
    expect(audiences.map(({ name, is_cohort }) => [name, is_cohort]).sort()).toEqual([
      ['All', false],
      ['VIP', true],
    ]);
    const { length } = sandbox.log;
    expect((await runRows(results)).code).toBe(0);
    expect(sandbox.log).toHaveLength(length);
    await writeFile(list, 'email\nbob@example.com\n');
    const changed = await runRows(results);
    expect([changed.code, changed.out]).toEqual([8, expect.stringContaining('vip\trefused')]);
    expect(sandbox.log).toHaveLength(length);
  });

  it('draws one block in a terminal, with the counts, the limit and the last changes', async () => {
    const scene = await startScene({ limits: { ...NO_LIMITS, buildsPerHour: 1 } }, TERMINAL);
    const file = join(scene.folder, 'rows.jsonl');
    await writeFile(file, TWO);
    const running = scene.start(['run', file]);
    await running.shows('err', /2 rows: 1 done, 1 waiting, /);
    await running.shows('err', /The build budget is used up until \S+Z \(1 create request is/);
    expect(running.printed.err).toMatch(/\d\dZ north: done/);
    await scene.time.sleepThrough(HOUR);
    expect((await running.ended).code).toBe(0);
  });

  it('exits with 8 for a row that has changed, a file that is no journal, and an outcome that only a person can find out', async () => {
    const { run, runRows, creates, folder, file, journal } = await startRows(TWO);
    await runRows();
    await writeFile(file, TWO.replace('"South"', '"Changed"'));
    const changed = await runRows();
    expect([changed.code, changed.err]).toEqual([
      8,
      expect.stringContaining('creates a resource again only if the row is "failed"'),
    ]);
    const activate = ['--journal', join(folder, 'activated'), '--activate'];
    await runRows([...activate, '{"identifier":"EID"}']);
    const other = await runRows([...activate, '{"identifier":"SCID"}']);
    expect([other.code, other.err]).toEqual([
      8,
      expect.stringContaining('The north activation was created with a different --activate. Pass the --activate of'),
    ]);
    const same = await runRows([...activate, '{"identifier":"EID"}', '--json']);
    expect(same.code, same.err).toBe(0);
    const audience = String(Object(linesOf(same.out)[0]).audience);
    const further = ['activations', 'create', '--audience-id', audience, '--identifier', 'SCID'];
    expect((await run(further)).code).toBe(0);
    const wrong = await runRows(['--journal', file]);
    expect([wrong.code, wrong.err]).toEqual([8, expect.stringContaining('is not a journal')]);
    await appendFile(journal, '{"key":"east","sent":"X","at":"2026-11-01T02:00:00.000Z"}\n');
    await writeFile(file, '{"key":"east","name":"East"}\n');
    expect((await runRows()).code).toBe(8);
    expect(creates()).toHaveLength(7);
  });

  it('exits with the code that says to run it again while another row needs a person', async () => {
    const { runRows, file, sandbox, time } = await startRows(TWO, { limits: { ...NO_LIMITS, buildsPerHour: 1 } });
    await writeFile(file, `{"key":"poison","name":"P","project_id":99}\n${TWO}`);
    const limited = await runRows(['--budget-wait', '0']);
    expect([limited.code, limited.err]).toEqual([9, expect.stringContaining('1 done, 1 refused, 1 unfinished.')]);
    await time.sleepThrough(HOUR);
    expect((await runRows()).code).toBe(8);
    sandbox.faults.add({ on: 'audiences.create', status: 401 });
    expect((await runRows(['--journal', `${file}.other`])).code).toBe(7);
  });

  it('refuses only the row whose cohort file is missing or empty when a run continues', async () => {
    const { runRows, file, folder } = await startRows(TWO);
    await runRows();
    await writeFile(file, `${TWO}{"key":"vip","name":"VIP","file":"vip.csv"}\n{"key":"east","name":"East"}\n`);
    const missing = await runRows();
    expect([missing.code, missing.err]).toEqual([8, expect.stringContaining('4 rows: 3 done, 1 refused.')]);
    await writeFile(join(folder, 'vip.csv'), '');
    const empty = await runRows();
    expect([empty.code, empty.err]).toEqual([8, expect.stringContaining('The file of an import is empty')]);
  });

  it('gives advice that names its own flags, and no idempotency keys', async () => {
    const { runRows, sandbox, creates, folder } = await startRows(TWO, { jobs: { duration: 0, outcome: 107 } });
    sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const lost = await runRows(['--max-retries', '0']);
    expect([lost.code, lost.err]).toEqual([
      10,
      expect.stringContaining('run the same command again within 23 hours, and the service'),
    ]);
    sandbox.faults.add({ on: 'audiences.create', status: 409, retryAfter: 61, times: 1 });
    const held = await runRows(['--max-retries', '0']);
    expect([held.code, held.err]).toEqual([
      10,
      expect.stringContaining('run the same command again within 23 hours, and the service'),
    ]);
    sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const record = await runRows(['--journal', join(folder, 'other'), '--max-retries', '0', '--json']);
    expect(linesOf(record.out).find(({ key }) => key === 'north')).toMatchObject({
      error: { message: expect.stringContaining('run the same command again') },
    });
    const failed = await runRows();
    expect([failed.code, failed.err]).toEqual([
      4,
      expect.stringContaining('create the resource again with --retry-failed.'),
    ]);
    expect(lost.err + held.err + failed.err).not.toMatch(/dempotency|\. and |again\. If/);
    const again = await runRows(['--retry-failed']);
    expect([again.code, creates().length]).toEqual([4, 8]);
    expect((await runRows(['--activate', '{identifier:EID}'])).err).toContain('--activate must be valid JSON');
  });

  it('says that it waits for the end of an outage only if it does, with advice that its own flags can follow', async () => {
    const { runRows, sandbox } = await startRows(TWO);
    sandbox.faults.add({ cut: 'after' });
    const [waited, ended] = [
      await runRows(['--max-retries', '0', '--outage-wait', '1m']),
      await runRows(['--max-retries', '0', '--outage-wait', '0']),
    ];
    expect(waited.err).toMatch(
      /The command waits for the end of the outage .* run the same command again within 23 hours/,
    );
    expect(waited.err).not.toContain('dempotency');
    expect([ended.code, ended.err]).toEqual([10, expect.not.stringContaining('Waiting for')]);
  });

  it('exits with 13 when its journal is moved, and does not advise to run the command again without it', async () => {
    const scene = await startRows(TWO, { limits: { ...NO_LIMITS, buildsPerHour: 1 } });
    scene.sandbox.faults.add({ on: 'audiences.create', cut: 'after', times: 1 });
    const running = scene.start(['run', scene.file, '--max-retries', '0']);
    await running.shows('err', /The build budget is used up/);
    await rename(scene.journal, `${scene.journal}.old`);
    await scene.time.sleepThrough(HOUR);
    const { code, err } = await running.ended;
    expect([code, err]).toEqual([
      13,
      expect.stringContaining('Restore the file as it was before you start the program again'),
    ]);
    expect(err).not.toContain('Continue with');
  });

  it('exits with 2 if it cannot read the rows or write the journal, because a script must not repeat that', async () => {
    const { run, runRows, folder, file, sandbox } = await startRows(TWO);
    const missing = await run(['run', join(folder, 'missing.csv')]);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('missing.csv cannot be read: ')]);
    const unwritable = await runRows(['--journal', join(file, 'night.journal')]);
    expect([unwritable.code, unwritable.err]).toEqual([
      2,
      expect.stringContaining('in another folder, pass --journal'),
    ]);
    expect(sandbox.log).toEqual([]);
  });

  it('names every row whose cohort file is missing, before anything is sent', async () => {
    const { runRows, sandbox } = await startRows('key,name,file\na,A,a.csv\nb,B,b.csv\n');
    const { code, err } = await runRows();
    expect([code, err]).toEqual([2, expect.stringMatching(/^error: a: .*\nerror: b: .*b\.csv cannot be read: .*\n$/)]);
    expect(sandbox.log).toEqual([]);
  });

  it('exits with 9 when the budget is used up with --budget-wait 0, and says how to continue', async () => {
    const { runRows, file } = await startRows(TWO, { limits: { ...NO_LIMITS, buildsPerHour: 1 } });
    const { code, err } = await runRows(['--budget-wait', '0']);
    expect(code).toBe(9);
    expect(err).toContain('2 rows: 1 done, 1 unfinished.');
    expect(err).not.toContain('dempotency');
    expect(err).toContain(`Continue with: audience-activation run ${file} --budget-wait 0s`);
  });

  it('exits with 6 after its deadline, with the command that continues, and with 10 if a create is in flight', async () => {
    const { runRows, file, creates, sandbox } = await startRows(TWO, { jobs: { duration: 3_600_000 } });
    const late = await runRows(['--deadline', '1m']);
    expect([late.code, late.err]).toEqual([6, expect.stringContaining(`To continue: audience-activation run ${file}`)]);
    expect(late.err).toContain('2 rows: 2 unfinished.');
    expect(creates()).toHaveLength(2);
    sandbox.faults.add({ on: 'audiences.create', inFlight: 3_600_000, times: 1 });
    const lost = await runRows(['--journal', `${file}.other`, '--deadline', '1m']);
    expect([lost.code, lost.err]).toEqual([10, expect.stringContaining('within 23 hours')]);
    expect(lost.err).toContain('2 rows: 1 unfinished, 1 unknown.');
  });
});
