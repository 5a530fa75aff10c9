import { describe, expect, it } from 'vitest';
import {
  type Audience,
  type AudienceClient,
  AudienceError,
  type Download,
  explainActivation,
  ResponseError,
} from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { someOf } from '../../support/volume.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const stream = { name: 'devices', status: 'Delivered', results: { uri: 'https://storage.example/devices.csv' } };

async function all(downloads: AsyncIterable<Download>): Promise<Download[]> {
  const results: Download[] = [];
  for await (const download of downloads) results.push(download);
  return results;
}

describe('a completed activation whose results differ from what is documented', () => {
  const odd: [unknown, string][] = [
    [undefined, '`datastreams` is missing, but must be an array'],
    [null, '`datastreams` is null, but must be an array'],
    [{ devices: stream }, '`datastreams` is an object, but must be an array'],
    [[null], '`datastreams.0` is null, but must be an object'],
    [[{ ...stream, name: undefined }], '`datastreams.0.name` is missing, but must be a string'],
  ];
  it.each(odd)('fails with a ResponseError that names the field: %j', async (datastreams, problem) => {
    const server = await startServer([{ data: [{ ...wireActivation(''), datastreams }] }]);
    const { activations } = clientOf(server);
    const expected = { code: 'response-invalid', status: 200, message: expect.stringContaining(problem) };
    for (const failing of [activations.results(7), all(activations.download(7))]) {
      const error = await failureOf(failing);
      expect(error).toBeInstanceOf(ResponseError);
      expect(error).toMatchObject(expected);
    }
    // The same holds for one that was read before, as long as it says how far it is.
    const read = await activations.get(7);
    expect(await failureOf(activations.results(read))).toMatchObject(expected);
  });

  it.each([[null], [undefined], [{}], [{ uri: null }], [{ uri: 7 }], [{ uri: '' }]])(
    'a stream whose results are %j has an empty URI, and does not hide the other results',
    async (results) => {
      const server = await startServer([
        { data: [{ ...wireActivation(''), datastreams: [{ ...stream, name: 'meta', results }, stream] }] },
      ]);
      const { activations } = clientOf(server);
      expect(await activations.results(7)).toEqual([
        { name: 'meta', uri: '' },
        { name: 'devices', uri: stream.results.uri },
      ]);
      const [meta] = await all(activations.download(7));
      expect(await failureOf(meta?.open() ?? Promise.resolve())).toMatchObject({
        message: expect.stringContaining('"meta" must be an http(s) link, but it is missing'),
      });
    },
  );

  it('a completed activation without data streams has no results', async () => {
    const server = await startServer([{ data: [{ ...wireActivation(''), datastreams: [] }] }]);
    expect(await clientOf(server).activations.results(7)).toEqual([]);
  });
});

describe('what is passed as an activation', () => {
  it.each([
    ['has no status', { id: 7, datastreams: [] }, 1],
    ['has an odd status', { id: 7, datastreams: [], status: null }, 1],
    ['is null', null, 0],
  ])('an activation that %s is read by its id', async (_, target, requests) => {
    const server = await startServer([{ data: [{ ...wireActivation(''), datastreams: [stream] }] }]);
    const { activations } = clientOf(server);
    const settled = await Reflect.apply(activations.results, activations, [target]).catch((error: unknown) => error);
    if (requests === 0) expect(settled).toMatchObject({ code: 'validation-failed', local: true });
    else expect(settled).toEqual([{ name: 'devices', uri: stream.results.uri }]);
    expect(await server.seen()).toHaveLength(requests);
  });
});

describe('explainActivation', () => {
  const { eligibility } = wireAudience();
  const odd: [string, Record<string, unknown>][] = [
    ['lists of null', { eligibility: { ...Object(eligibility), reasons: [null], notices: [null] }, dataset: [null] }],
    ['objects for lists', { eligibility: { ...Object(eligibility), reasons: {}, notices: {} }, dataset: {} }],
    ['strings for lists', { eligibility: { ...Object(eligibility), reasons: 'x', notices: 'x' }, dataset: 'x' }],
    ['numbers for lists', { eligibility: { ...Object(eligibility), reasons: 1, notices: 1 }, dataset: 1 }],
    ['null for objects', { eligibility: null }],
    ['a string for an object', { eligibility: 'x' }],
  ];
  it.each(odd)('reads past %s', async (_, more) => {
    const server = await startServer([{ data: [{ ...wireAudience(), ...more }] }]);
    const audience = await clientOf(server).audiences.get(42);
    expect(explainActivation(audience, { identifier: 'MAID' })).toEqual({ allowed: true, blockers: [], notices: [] });
  });

  it.each([['MAID'], [null], [7], [{}]])(
    'without a valid list, an expired audience blocks the identifiers of the rule: %j',
    (blocks) => {
      const notices = [{ code: 'audience_expired', blocks_identifiers: blocks }];
      const audience: Audience = Object({ ...wireAudience(), eligibility: { ...Object(eligibility), notices } });
      const { blockers } = explainActivation(audience, { identifier: 'IP' });
      expect(blockers).toEqual([{ code: 'audience_expired', message: expect.stringContaining('MAID and IP') }]);
    },
  );
});

describe('the build budget', () => {
  it.each([[{}], [{ build_budget: null }], [{ build_budget: 'x' }]])(
    'a usage report without a build budget rejects with a ResponseError: %j',
    async (data) => {
      const server = await startServer([{ data }]);
      const error = await failureOf(clientOf(server).usage.buildBudget());
      expect(error).toMatchObject({ code: 'response-invalid', message: expect.stringContaining('`build_budget` is') });
    },
  );
});

describe('the error of a job', () => {
  it('leaves out the name of a status that has none', async () => {
    const server = await startServer([{ data: [{ ...wireAudience(), status: { id: 107 } }] }]);
    const { audiences } = clientOf(server);
    const error = await failureOf(audiences.wait(42));
    expect(error).toMatchObject({ code: 'job-needs-info', message: expect.stringContaining('(status 107)') });
    expect(String(error)).not.toContain('undefined');
  });
});

describe('every field of a resource, whatever stands in its place', () => {
  const odd: readonly unknown[] = [undefined, null, true, 0, -1.5, '', 'x', [], [null], [[]], {}, { id: 'x' }];

  /** Copies of a value, each with one field or element replaced. */
  function* variants(value: unknown): Generator<unknown> {
    yield* odd;
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      for (const variant of variants(inner)) {
        yield Array.isArray(value) ? value.with(Number(key), variant) : { ...value, [key]: variant };
      }
    }
  }

  /** A client whose service answers everything with `data`. */
  function answering(data: unknown): AudienceClient {
    const text = JSON.stringify({ status: 'success', code: 200, message: '', data });
    return clientOf({ url: 'http://localhost' }, { fetch: async () => new Response(text) });
  }

  it.each<[string, unknown, (client: AudienceClient) => PromiseLike<unknown>]>([
    [
      'audience',
      wireAudience(),
      async ({ audiences }) => explainActivation(await audiences.get(42), { identifier: 'IP' }),
    ],
    ['audience', wireAudience(42, { id: 107, name: 'x' }), ({ audiences }) => audiences.wait(42, { timeout: 500 })],
    ['activation', wireActivation('https://storage.example/a'), ({ activations }) => activations.results(7)],
    ['activation', wireActivation('https://storage.example/a'), ({ activations }) => all(activations.download(7))],
    ['webhook endpoint', [{ id: 1, events: ['audience.completed'] }], ({ webhooks }) => webhooks.list()],
    ['usage report', { build_budget: { hour: {}, day: {} } }, ({ usage }) => usage.buildBudget()],
  ])('leads to a result or to an error of this package: %s', async (_, wire, use) => {
    const outcomes = someOf([...variants(wire)]).map(async (data) => {
      const client = answering(data);
      const failure = await Promise.resolve(use(client)).then(
        () => undefined,
        (error: unknown) => error,
      );
      await client.close();
      return failure === undefined || AudienceError.isInstance(failure) ? undefined : { data, failure };
    });
    expect(outcomes.length).toBeGreaterThan(8);
    expect((await Promise.all(outcomes)).filter(Boolean)).toEqual([]);
  });
});
