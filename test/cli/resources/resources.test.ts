import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const days = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const dataset = `WebDomain:${days(30)}:${days(1)}`;

describe('create', () => {
  it('builds the body from flags', async () => {
    const { json } = await startScene();
    const [project] = await json(['projects', 'create', '--name', 'Spring']);
    const args = `--name Visitors --project-id ${project?.id} --dataset ${dataset} --dataset ${dataset}`.split(' ');
    const [audience] = await json(['audiences', 'create', ...args]);
    expect(audience).toMatchObject({
      name: 'Visitors',
      project: { id: project?.id },
      dataset: [{ analysis_type: 'WebDomain', start_date: days(30), end_date: days(1) }, { start_date: days(30) }],
    });
    const [lookalike] = await json(
      `lookalikes create --source-audience-id ${audience?.id} --target-size 5000 --name More`.split(' '),
    );
    expect(lookalike).toMatchObject({ is_lookalike: true, name: 'More' });
    const [activation] = await json(
      `activations create --audience-id ${audience?.id} --identifier SCID --freq-limit --freq-max 3`.split(' '),
    );
    expect(activation).toMatchObject({
      pricing_model: { identifier: 'SCID' },
      filters: { freq_limit: true, freq_min: null, freq_max: 3 },
    });
    expect(await json(['estimates', 'create', '--name', 'How many?', '--dataset', dataset])).toHaveLength(1);
    expect(await json(['schedules', 'create', '--name', 'Weekly'])).toMatchObject([{ name: 'Weekly' }]);
  });

  it('takes the body from `--data`, a file or standard input; flags replace its fields', async () => {
    const { json, folder } = await startScene();
    const file = join(folder, 'body.json');
    await writeFile(file, '\uFEFF{"name":"Of a file"}');
    const create = ['audiences', 'create'];
    expect(await json([...create, '--data', '{"name":"Inline"}'])).toMatchObject([{ name: 'Inline' }]);
    expect(await json([...create, '--data', `@${file}`])).toMatchObject([{ name: 'Of a file' }]);
    expect(await json(create, { input: '{"name":"Piped"}' })).toMatchObject([{ name: 'Piped' }]);
    expect(await json([...create, '--data', '-'], { input: '{"name":"Dash"}' })).toMatchObject([{ name: 'Dash' }]);
    const args = [...create, '--data', '{"name":"Inline","project_id":null}', '--name', 'Flag'];
    expect(await json(args)).toMatchObject([{ name: 'Flag', project: null }]);
  });

  it('`create --wait` prints the completed resource, and how it proceeds on standard error', async () => {
    const { run } = await startScene();
    const { code, out, err } = await run('audiences create --name x --wait --fields name,status.id'.split(' '));
    expect({ code, out }).toEqual({ code: 0, out: 'x\t104\n' });
    expect(err).toMatch(/^Created audience \d+\.\naudience:\d+: 104 Completed\n$/);
    const json = await run(['audiences', 'create', '--name', 'x', '--wait', '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ status: { id: 104 } });
    expect(json.err).toBe('');
  });

  it.each([
    [['explain', '4', '--identifier', 'foo'], 'Allowed choices are MAID, IP, EID, SCID, HEM.'],
    [['help', 'nosuch'], "unknown command 'nosuch'"],
    [['audiences', 'get', '9007199254740993'], 'An id must be an integer from 1 to 9007199254740991'],
    [['audiences', 'create', '--data', '[]'], 'The body must be a JSON object.'],
    [['audiences', 'create', '--data', '{}'], 'The body is empty: pass its fields as flags'],
    [['audiences', 'create', '--data', '{a}'], '--data must be valid JSON'],
    [['audiences', 'create', '--filters', '{'], '--filters must be valid JSON'],
    [['lookalikes', 'create', '--target-size', 'many'], "'many' is invalid. Pass an integer of 0 or more."],
    [['audiences', 'delete', '5', '0'], 'An id must be an integer from 1 to 9007199254740991, not "0".'],
    [['audiences', 'get', 'x'], 'An id must be an integer from 1 to 9007199254740991, not "x".'],
    [['audiences', 'get'], "missing required argument 'id'"],
    [['audiences', 'craete'], "unknown command 'craete'\n(Did you mean create?)"],
    [['audiences', 'list', '--limt', '3'], "unknown option '--limt'\n(Did you mean --limit?)"],
    [['audiences', 'list', '--query', 'page'], 'Pass the parameter as name=value.'],
    [['reference', 'web'], "missing required argument 'table'"],
    [['reference', 'wob', 'domains'], 'Allowed choices are common, web, ctv, apps.'],
    [['request', 'PUSH', '/x'], 'The method must be one of GET, POST, PUT, PATCH, DELETE, not "PUSH".'],
    [['list', 'audiences'], '(Did you mean audiences list?)'],
    [['cancel', 'lookalike', '5'], '(Did you mean lookalikes cancel?)'],
    [['audience'], "unknown command 'audience'\n(Did you mean audiences?)"],
  ])('%j is wrong usage: exit code 2, and nothing is sent', async (args, message) => {
    const { run, sandbox } = await startScene();
    const { code, out, err } = await run(args);
    expect({ code, out, requests: sandbox.log.length }).toEqual({ code: 2, out: '', requests: 0 });
    expect(err).toContain(message);
    expect(err).not.toMatch(/\n {4}at /);
  });
});

describe('get, list, delete, cancel', () => {
  it('print rows separated by tabs, or lines of JSON, with the fields asked for', async () => {
    const { run, json } = await startScene();
    for (const name of ['One', 'Two\n\u001b[31m', 'Three']) await json(['audiences', 'create', '--name', name]);
    const { out, err } = await run(['audiences', 'list', '--fields', 'name,status.name', '--limit', '2']);
    expect(out).toBe('Three\tCompleted\nTwo??[31m\tCompleted\n');
    expect(err).toBe('There are more audiences. To print all of them, pass --all.\n');
    expect(await json(['audiences', 'list', '--fields', 'name,status.id', '--all'])).toEqual([
      { name: 'Three', status: { id: 104 } },
      { name: 'Two\n\u001b[31m', status: { id: 104 } },
      { name: 'One', status: { id: 104 } },
    ]);
    const [{ id } = {}] = await json(['audiences', 'list', '--limit', '1']);
    expect((await run(['audiences', 'get', String(id)])).out).toMatch(/^id\t\d+\nname\tThree\nstatus\.id\t104\n/);
    expect(await run(['audiences', 'delete', String(id)])).toEqual({ code: 0, out: '', err: `${id}: deleted.\n` });
    expect(await json(['audiences', 'list', '--query', 'per_page=1', '--all'])).toHaveLength(2);
    expect(await run(['cohorts', 'list'])).toEqual({ code: 0, out: '', err: 'No cohorts.\n' });
  });

  it('delete tries every id, and ends with the most important exit code', async () => {
    const { run, json, sandbox } = await startScene();
    const ids = [];
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await json(['audiences', 'create', '--name', name]))[0]?.id);
    const [one, two, three, four] = ids.map(String);
    sandbox.faults.add({ on: `/api/v2/audiences/${two}/delete`, status: 500 });
    const args = [one, '99', two, three].map(String);
    const { code, out, err } = await run(['audiences', 'delete', ...args, '--max-retries', '0']);
    expect({ code, out }).toEqual({ code: 8, out: '' });
    expect(err.split('\n')).toEqual([
      `${one}: deleted.`,
      expect.stringMatching(/^error: 99: .*404/),
      expect.stringMatching(new RegExp(`^error: ${two}: .*500`)),
      `${three}: deleted.`,
      '',
    ]);
    const again = await run(['audiences', 'delete', '99', String(four), '--json']);
    expect(again.code).toBe(8);
    expect(linesOf(again.out)).toMatchObject([
      { id: 99, error: { code: 'not-found', exitCode: 8, status: 404 } },
      { id: Number(four), done: 'deleted' },
    ]);
    expect(linesOf(again.err)).toMatchObject([{ code: 'not-found' }]);
    const before = sandbox.log.length;
    const refused = await run(['audiences', 'delete', '101', '102'], { env: { AUDIENCE_TOKEN: 'not-a-token' } });
    expect({ code: refused.code, requests: sandbox.log.length - before }).toEqual({ code: 7, requests: 1 });
  });

  it('`lookalikes cancel` ends a wait with exit code 5', async () => {
    const { json, run, start, sandbox } = await startScene({ jobs: {} });
    const [seed] = await json(['audiences', 'create', '--name', 'Seed']);
    sandbox.jobs.finish('audience', Number(seed?.id), 104);
    const [{ id } = {}] = await json(`lookalikes create --source-audience-id ${seed?.id} --target-size 9`.split(' '));
    const waiting = start(['wait', `lookalike:${id}`]);
    await waiting.shows('err', `lookalike:${id}: 100 Queued`);
    expect(await run(['lookalikes', 'cancel', String(id)])).toMatchObject({
      code: 0,
      err: `${id}: cancel requested.\n`,
    });
    const { code, out } = await waiting.ended;
    expect({ code, out }).toEqual({ code: 5, out: `lookalike\t${id}\tcancelled\t400\tStopped\tUntitled lookalike\n` });
  });
});

describe('the other reads', () => {
  it('reference, usage, budget, webhooks list and request print data', async () => {
    const { run, json, sandbox, account } = await startScene();
    expect(await json(['reference', 'web', 'domains', '--limit', '2'])).toEqual([
      { id: 1, name: 'site-1.example' },
      { id: 2, name: 'site-2.example' },
    ]);
    expect((await run(['reference', 'web', 'domains', '--limit', '1'])).out).toBe('1\tsite-1.example\n');
    const month = new Date().toISOString().slice(0, 7);
    expect(await json(['usage', '--month', month])).toMatchObject([{ build_budget: { hour: { limit: 60 } } }]);
    await json(['audiences', 'create', '--name', 'x']);
    expect(await json(['budget'])).toMatchObject([{ hour: { used: 1, limit: 60, left: 59 }, day: { left: 299 } }]);
    sandbox.webhooks.create({ account, name: 'Mine', url: 'https://example.com/hooks' });
    expect((await run(['webhooks', 'list', '--fields', 'name,url'])).out).toBe('Mine\thttps://example.com/hooks\n');
    expect(JSON.parse((await run(['request', 'get', '/api/v2/webhooks/index'])).out)).toMatchObject([{ name: 'Mine' }]);
    const created = await run(['request', 'POST', '/api/v2/projects/create', '--data', '{"name":"p"}']);
    expect(created.out).toMatch(/"name":"p"/);
    const { code, err } = await run(['request', 'GET', '/api/v2/nothing', '--query', 'a=b']);
    expect({ code, err }).toEqual({ code: 8, err: expect.stringContaining('404') });
  });

  it('explain prints what blocks and what limits an activation', async () => {
    const { run, json } = await startScene({ jobs: { duration: 0, devices: 300 } });
    const [{ id } = {}] = await json(['audiences', 'create', '--name', 'Small']);
    const { code, out, err } = await run(['explain', String(id), '--identifier', 'MAID']);
    expect({ code, err }).toEqual({ code: 8, err: `Activation of audience ${id} is blocked.\n` });
    expect(out).toMatch(/^blocks\ttoo_few_devices\t/);
    const verdict = await run(['explain', String(id), '--json']);
    expect({ code: verdict.code, err: verdict.err }).toEqual({ code: 8, err: '' });
    expect(linesOf(verdict.out)).toMatchObject([
      { allowed: false, blockers: [{ code: 'too_few_devices' }], notices: [] },
    ]);
  });

  it('explain ends with 0 if nothing blocks the activation, and prints the fields asked for', async () => {
    const { run, json } = await startScene();
    const [{ id } = {}] = await json(['audiences', 'create', '--name', 'Large']);
    const explain = ['explain', String(id), '--fields', 'allowed,blockers.0.code'];
    expect(await run(explain)).toEqual({
      code: 0,
      out: 'true\t\n',
      err: `Activation of audience ${id} is allowed.\n`,
    });
    expect(await json(explain)).toEqual([{ allowed: true, blockers: [] }]);
  });
});

describe('files', () => {
  it('a cohort is imported with progress, and results are saved', async () => {
    const { run, json, folder } = await startScene();
    const file = join(folder, 'customers.csv');
    await writeFile(file, `email\n${'someone@example.com\n'.repeat(50_000)}`);
    const imported = await run(['cohorts', 'import', file, '--wait', '--fields', 'name,total_eids']);
    expect(imported).toMatchObject({ code: 0, out: 'customers.csv\t50000\n' });
    expect(imported.err).toMatch(
      /^customers\.csv: .* \(\d+ %\)\n(?:.*\n)*Created cohort \d+\.\ncohort:\d+: 4 Completed\n$/,
    );
    const [audience] = await json(['audiences', 'create', '--name', 'x']);
    const [activation] = await json(['activations', 'create', '--audience-id', String(audience?.id)]);
    const saved = await run(['activations', 'download', String(activation?.id), join(folder, 'results')]);
    expect(saved.code).toBe(0);
    const [path = '', size] = saved.out.trimEnd().split('\t');
    expect((await readFile(path)).length).toBe(Number(size));
  });

  it('an import without `--wait` prints the cohort as created', async () => {
    const { json, folder } = await startScene({ jobs: {} });
    const file = join(folder, 'a.csv');
    await writeFile(file, 'x\n1\n');
    expect(await json(['cohorts', 'import', file, '--name', 'Mine'])).toMatchObject([
      { name: 'Mine', status: { id: 1 } },
    ]);
  });

  it('after a lost response or a refusal, the command is printed that claims the uploaded file', async () => {
    const { run, json, folder, sandbox } = await startScene({
      faults: [{ on: 'cohorts.create', malformed: true, times: 1 }],
    });
    const file = join(folder, 'a b.csv');
    await writeFile(file, 'x\n1\n');
    const lost = await run(['cohorts', 'import', file, '--max-retries', '0']);
    expect(lost.code).toBe(10);
    const claim = /To continue: audience-activation (.*)/.exec(lost.err)?.[1] ?? '';
    expect(claim).toMatch(/^cohorts create --name 'a b\.csv' --upload-reference \S+ --idempotency-key \S+$/);
    const words = claim
      .replace("'a b.csv'", 'a_b')
      .split(' ')
      .map((word) => word.replace('a_b', 'a b.csv'));
    expect(await run(words)).toMatchObject({ code: 0 });
    expect(await json(['cohorts', 'list'])).toMatchObject([{ name: 'a b.csv', total_eids: 1 }]);
    const refused = await run(['cohorts', 'import', file, '--project-id', '99', '--json']);
    expect(refused.code).toBe(8);
    expect(JSON.parse(refused.err).resume).toMatch(/--upload-reference/);
    expect(sandbox.log.filter(({ path }) => path.startsWith('/uploads/'))).toHaveLength(2);
  });
});

describe('help', () => {
  it('without a command, the help goes to standard error: exit code 2', async () => {
    const { run } = await startScene();
    expect(await run([])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/^Exit codes:\n {2}0 +The command succeeded\.$/m),
    });
    expect(await run(['audiences'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('list audiences'),
    });
  });
});
