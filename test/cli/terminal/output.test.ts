import { describe, expect, it } from 'vitest';
import { checkField } from '../../../src/cli/terminal/known-fields.ts';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

/** Responds to each request with a list of one resource. */
const serveResource = (resource: object) =>
  serve((request, response) => {
    request.resume();
    const body = { status: 'success', code: 200, message: 'Found.', data: [resource] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });

const activation = {
  id: 7,
  status: { id: 104, name: 'Completed' },
  datastreams: [{ results: { uri: 'https://files.example/1' } }, { results: { uri: 'https://files.example/2' } }],
  undocumented: { score: 5 },
};

it.each([['explain'], ['audiences', 'delete']])(
  '%j refuses unknown fields before it sends a write',
  async (...args) => {
    const scene = await startScene();
    const [audience] = await scene.json(['audiences', 'create', '--name', 'x']);
    const { length } = scene.sandbox.log;
    const { code, err } = await scene.run([...args, String(audience?.id), '--json', '--fields', 'foo']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('there is no field foo') });
    const writes = scene.sandbox.log.slice(length).filter(({ method }) => method !== 'GET');
    expect(writes).toEqual([]);
  },
);

describe('--fields', () => {
  it.each([
    ['nmae', 'there is no field nmae. Did you mean name?'],
    ['status.nmae', 'there is no field status.nmae. Did you mean status.name?'],
    ['resultsCount', 'there is no field resultsCount. Did you mean results_count?'],
    ['status.colour', 'there is no field status.colour. Fields: status.id, status.name'],
    ['status.id.x', 'there is no field status.id.x. status.id has no fields.'],
    ['dataset.start_date', 'dataset is an array. Name an element, such as dataset.0.start_date.'],
    ['constructor', 'there is no field constructor. Fields: id, name, '],
    ['__proto__.polluted', 'there is no field __proto__.polluted. Fields: id, '],
    ['a..b', 'there is no field a..b. Fields: id, '],
  ])('%s is wrong usage', (field, message) => {
    expect(() => checkField(field, undefined, 'audiences.get')).toThrow(`--fields: ${message}`);
  });

  it('are checked in reads, and before anything is created', async () => {
    const { run, json, sandbox } = await startScene();
    const fields = ['--fields', 'name,statsu.id'];
    const message = 'error: --fields: there is no field statsu.id. Did you mean status?';
    const error = { code: 2, out: '', err: expect.stringContaining(message) };
    expect(await run(['audiences', 'list', ...fields])).toEqual(error);
    const [audience] = await json(['audiences', 'create', '--name', 'x']);
    expect(await run(['audiences', 'get', String(audience?.id), ...fields])).toEqual(error);
    const before = sandbox.log.length;
    expect(await run(['audiences', 'create', '--name', 'y', ...fields])).toEqual(error);
    expect(sandbox.log).toHaveLength(before);
  });

  it('documented fields that the object lacks are empty', async () => {
    const { run, json } = await startScene();
    await json(['audiences', 'create', '--name', 'x']);
    const list = await run(['audiences', 'list', '--fields', 'name,project.id,eligibility.metrics.unique_eids']);
    expect(list).toEqual({ code: 0, out: expect.stringMatching(/^x\t\t\d*\n$/), err: '' });
  });

  it('`--fields` takes undocumented fields that the object has, and elements of arrays', async () => {
    const { run, json } = await startScene();
    const { url } = await serveResource(activation);
    const env = { AUDIENCE_BASE_URL: url };
    const fields = ['--fields', 'undocumented.score,datastreams.1.results.uri,datastreams.9.results.uri'];
    const get = ['activations', 'get', '7', ...fields];
    expect(await run(get, { env })).toMatchObject({ code: 0, out: '5\thttps://files.example/2\t\n' });
    expect(await json(get, { env })).toEqual([
      { undocumented: { score: 5 }, datastreams: [null, { results: { uri: 'https://files.example/2' } }] },
    ]);
  });

  it.each([['projects'], ['schedules'], ['estimates']])(
    'any field of a row of %s is a field, because nothing is specified of them',
    async (resource) => {
      const { run, json } = await startScene();
      const create = [resource, 'create', '--data', '{"name":"x"}', '--fields', 'name'];
      expect(await run(create)).toEqual({ code: 0, out: 'x\n', err: '' });
      if (resource === 'estimates') return;
      const [{ id } = {}] = await json([resource, 'list', '--fields', 'id']);
      expect(await run([resource, 'get', String(id), '--fields', 'name'])).toEqual({
        code: 0,
        out: 'x\n',
        err: '',
      });
      await run([resource, 'delete', String(id)]);
      expect(await run([resource, 'list', '--fields', 'name'])).toMatchObject({ code: 0, out: '' });
    },
  );

  it('a field that a created project lacks is a warning', async () => {
    const { run } = await startScene();
    const { code, out, err } = await run(['projects', 'create', '--name', 'x', '--fields', 'id,nmae']);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^\d+\t\n$/) });
    expect(err).toBe('warning: --fields: there is no field nmae. Did you mean name?\n');
  });

  it('`wait` checks its fields before it waits', async () => {
    const { run, sandbox } = await startScene();
    const { code, err } = await run(['wait', '12', '--fields', 'id,phsae']);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('Did you mean phase?') });
    expect(sandbox.log).toEqual([]);
  });
});

describe('--quiet', () => {
  it('prints data and errors only', async () => {
    const { run } = await startScene();
    const created = await run(['audiences', 'create', '--name', 'x', '--wait', '--quiet', '--fields', 'name']);
    expect(created).toEqual({ code: 0, out: 'x\n', err: '' });
    await run(['audiences', 'create', '--name', 'y']);
    expect(await run(['audiences', 'list', '-n', '1', '--fields', 'name', '-q'])).toEqual({
      code: 0,
      out: 'y\n',
      err: '',
    });
    expect(await run(['cohorts', 'list', '-q'])).toEqual({ code: 0, out: '', err: '' });
    expect(await run(['audiences', 'get', '99', '-q'])).toMatchObject({
      code: 8,
      err: expect.stringMatching(/^error: /),
    });
    expect(await run(['wait', '-q'])).toEqual({ code: 0, out: '', err: '' });
    const json = await run(['audiences', 'list', '-n', '1', '-jq']);
    expect({ rows: linesOf(json.out).length, err: json.err }).toEqual({ rows: 1, err: '' });
  });
});

describe('short flags', () => {
  it('are -j, -q, -p, -n and -d', async () => {
    const { run, json } = await startScene();
    const [created] = await json(['audiences', 'create', '-d', '{"name":"x"}']);
    expect(created).toMatchObject({ name: 'x' });
    const refused = await run(['budget', '-j', '-p', 'none']);
    expect(linesOf(refused.err)).toMatchObject([{ exitCode: 7, message: expect.stringContaining('--profile none') }]);
    expect(linesOf((await run(['audiences', '-j', 'list', '-n', 'x'])).err)).toMatchObject([{ exitCode: 2 }]);
  });
});
