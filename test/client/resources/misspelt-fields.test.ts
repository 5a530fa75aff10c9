import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../../src/index.ts';
import { clientOf, startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { wireAudience } from '../../support/wire-audience.ts';

/** A client whose service answers everything with `data`, what it warns of, and the bodies that were sent. */
async function warned(data: unknown) {
  const server = await startServer([{ data }]);
  const lines: [string, LogFields | undefined][] = [];
  const warn = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  const client = clientOf(server, { logger: { error() {}, info() {}, debug() {}, warn }, logLevel: 'warn' });
  const bodies = async (): Promise<unknown[]> => (await server.seen()).map(({ body }) => JSON.parse(body));
  return { client, lines, bodies, server };
}

/** A value whose fields the compiler does not know. */
const untyped = (text: string): never => JSON.parse(text) as never;

/** The same, to add to an object. */
const odd = (text: string): Readonly<Record<string, never>> => JSON.parse(text);

describe('a misspelt field', () => {
  it('is logged with the right name, and sent as it is', async () => {
    const { client, lines, bodies } = await warned([wireAudience()]);
    const body = { name: 'canary', projectId: 7 };
    await client.audiences.create(untyped(JSON.stringify(body)));
    expect(lines).toEqual([
      [
        'audiences.create: `projectId` is not a documented field. Did you mean `project_id`? The client sends it unchanged.',
        { operation: 'audiences.create', field: 'projectId' },
      ],
    ]);
    expect(await bodies()).toEqual([body]);
  });

  it('is logged once for each operation, also by clients made from the first', async () => {
    const { client, lines } = await warned([wireAudience()]);
    const body = untyped('{"projectId":7}');
    await client.audiences.create(body);
    await client.audiences.create(body);
    await client.withOptions({ timeout: 9_000 }).audiences.create(body);
    await client.estimates.create(body);
    expect(lines.map(([, fields]) => fields?.operation)).toEqual(['audiences.create', 'estimates.create']);
  });

  it('is found in the elements of an array and in nested objects', async () => {
    const { client, lines } = await warned([{ ...wireAudience(), ...wireActivation('') }]);
    await client.audiences.create(
      untyped('{"dataset":[{"start_date":"2999-01-01"},{"startDate":"x"},{"startDate":1}]}'),
    );
    await client.lookalikes.create(untyped('{"config":{"targetSize":7}}'));
    await client.activations.create(untyped('{"filters":{"freqMin":7}}'));
    expect(lines.map(([message]) => /`[^`]+`.*`[^`]+`/.exec(message)?.[0])).toEqual([
      '`dataset.*.startDate` is not a documented field. Did you mean `dataset.*.start_date`',
      '`config.targetSize` is not a documented field. Did you mean `config.target_size`',
      '`filters.freqMin` is not a documented field. Did you mean `filters.freq_min`',
    ]);
  });

  it('is found in the queries of lists and usage reports, and in the body of a reservation', async () => {
    const { client, lines } = await warned([]);
    await client.audiences.list(untyped('{"perPage":7}'));
    await client.reference.list('web', 'domains', untyped('{"Page":7}'));
    await client.usage.get(untyped('{"yearMonth":"2026-01"}')).catch(() => {});
    await client.uploads.reserve({ kind: 'cohort', size: 9, ...odd('{"Size":9}') }).catch(() => {});
    expect(lines.map(([, fields]) => `${fields?.operation} ${fields?.field}`)).toEqual([
      'audiences.list perPage',
      'reference.list Page',
      'usage.get yearMonth',
      'uploads.reserve Size',
    ]);
  });
});

describe('a field that is not documented', () => {
  it('is logged once, also if no documented field has a similar name, and sent as it is', async () => {
    const { client, lines, bodies } = await warned([wireAudience()]);
    const body = { name: 'A', operator: 'AND', dataset: [{ toString: 1 }, { toString: 2 }] };
    for (let calls = 0; calls < 2; calls++) await client.audiences.create(untyped(JSON.stringify(body)));
    expect(lines.map(([message]) => message)).toEqual([
      'audiences.create: `operator` is not a documented field. The client sends it unchanged.',
      'audiences.create: `dataset.*.toString` is not a documented field. The client sends it unchanged.',
    ]);
    expect(await bodies()).toEqual([body, body]);
  });

  it('is not logged in `extraBody`, in a query, below a field of any form, or where the specification lists no fields', async () => {
    const { client, lines } = await warned([{ ...wireAudience(), ...wireActivation('') }]);
    const filters = { project_ids: 1, Name: 'a key that is data', timeout: 1 };
    await client.audiences.create({ name: 'A', filters }, { extraBody: { operator: 'AND' } });
    await client.audiences.list(odd('{"operator":"AND"}'));
    await client.projects.create({ name: 'A', color: 'red' });
    await client.schedules.create({ every: 'day' });
    await client.audiences.create(untyped('{"dataset":{"startDate":1}}'));
    await client.audiences.create(untyped('[{"projectId":1}]'));
    expect(lines).toEqual([]);
  });
});

describe('a name that is a documented one in the plural, or a short one with another letter', () => {
  it('is not taken for a misspelling', async () => {
    const { client, lines } = await warned([{ ...wireAudience(), ...wireActivation('') }]);
    await client.audiences.create(untyped('{"datasets":[],"project_ids":[1],"projects_id":1,"names":1,"nam":1}'));
    await client.activations.create(untyped('{"audience_ids":[1],"filter":{}}'));
    await client.uploads.reserve({ kind: 'cohort', size: 9, ...odd('{"sizes":9,"kinds":9}') }).catch(() => {});
    expect(lines.filter(([message]) => message.includes('Did you mean'))).toEqual([]);
    expect(lines).toHaveLength(9);
  });
});

describe('an option of the call in a body', () => {
  it.each(['idempotencyKey', 'Idempotency-Key', 'max_retries'])(
    'is logged, once for each operation: %s',
    async (name) => {
      const { client, lines, bodies } = await warned([wireAudience()]);
      const body = untyped(JSON.stringify({ name: 'x', [name]: 1 }));
      await client.audiences.create(body);
      await client.audiences.create(body);
      await client.projects.create(body);
      const problem = `\`${name}\` is an option of the call, not a field of the body: pass it in the second argument.`;
      expect(lines).toEqual([
        [`audiences.create: ${problem}`, { operation: 'audiences.create', field: name }],
        [`projects.create: ${problem}`, { operation: 'projects.create', field: name }],
      ]);
      expect((await bodies())[0]).toEqual(body);
    },
  );

  it('is not taken for one below the top level, or in a query', async () => {
    const { client, lines } = await warned([wireAudience()]);
    await client.audiences.create(untyped('{"dataset":[{"timeout":1}]}'));
    await client.lookalikes.create(untyped('{"config":{"deadline":1}}'));
    await client.audiences.list(untyped('{"token":1}'));
    expect(lines.filter(([message]) => message.includes('option of the call'))).toEqual([]);
  });
});

describe('a value close to a known one', () => {
  it.each([
    ['Webdomain', 'WebDomain'],
    ['web_domain', 'WebDomain'],
    ['AffinityTransctions', 'AffinityTransactions'],
  ])('is logged with the known one, once for each operation, and sent as it is: %s', async (value, meant) => {
    const { client, lines, bodies } = await warned([wireAudience()]);
    const dates = { start_date: '2026-05-01', end_date: '2026-05-31' };
    const body = {
      name: 'A',
      dataset: [
        { analysis_type: value, ...dates },
        { analysis_type: value, ...dates },
      ],
    };
    await client.audiences.create(body);
    await client.audiences.create(body);
    await client.estimates.create(body);
    const problem = `\`dataset.*.analysis_type\` is "${value}". Did you mean "${meant}"? The client sends it unchanged.`;
    const field = 'dataset.*.analysis_type';
    expect(lines).toEqual([
      [`audiences.create: ${problem}`, { operation: 'audiences.create', field }],
      [`estimates.create: ${problem}`, { operation: 'estimates.create', field }],
    ]);
    expect((await bodies())[0]).toEqual(body);
  });

  it('is not logged if it is known, or like none', async () => {
    const { client, lines } = await warned([wireAudience()]);
    const values = ['WebDomain', 'AffinityTransactions', 'Web', 'Transactions', 'MobileApps', ''];
    await client.audiences.create({
      name: 'A',
      dataset: values.map((analysis_type) => ({ analysis_type, start_date: '', end_date: '' })),
    });
    await client.audiences.create(untyped('{"dataset":[{"analysis_type":7},{"analysis_type":null}]}'));
    expect(lines).toEqual([]);
  });
});

it('dates in the wrong order are logged, and sent as they are', async () => {
  const { client, lines, bodies } = await warned([wireAudience()]);
  const [first, last] = ['2026-05-01', '2026-05-31'];
  const entry = { analysis_type: 'AffinityTransactions' };
  const dataset = [
    { ...entry, start_date: first, end_date: last },
    { ...entry, start_date: first, end_date: first },
    { ...entry, start_date: last, end_date: first },
  ];
  await client.audiences.create({ name: 'A', dataset });
  expect(lines.map(([line]) => line)).toEqual([
    'audiences.create: `dataset.*.start_date` is after `dataset.*.end_date`. The client sends it unchanged.',
  ]);
  expect(await bodies()).toEqual([{ name: 'A', dataset }]);
});
