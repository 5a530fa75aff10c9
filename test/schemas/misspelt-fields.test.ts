import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../src/index.ts';
import { similarField } from '../../src/util/spelling.ts';
import { clientOf, startServer } from '../support/server.ts';
import { wireActivation } from '../support/storage.ts';
import { wireAudience } from '../support/wire-audience.ts';

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
const untyped = (text: string): Readonly<Record<string, never>> => JSON.parse(text);

describe('a misspelt field', () => {
  it('is logged with the right name, and sent as it is', async () => {
    const { client, lines, bodies } = await warned([wireAudience()]);
    const body = { name: 'canary', projectId: 7, config: { targetSize: 7 } };
    await client.audiences.create(untyped(JSON.stringify(body)));
    expect(lines).toEqual([
      [
        'audiences.create: `projectId` is not a documented field. Did you mean `project_id`? It is sent as it is.',
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
    await client.uploads.reserve({ kind: 'cohort', size: 9, ...untyped('{"Size":9}') }).catch(() => {});
    expect(lines.map(([, fields]) => `${fields?.operation} ${fields?.field}`)).toEqual([
      'audiences.list perPage',
      'reference.list Page',
      'usage.get yearMonth',
      'uploads.reserve Size',
    ]);
  });
});

describe('a field that is not documented', () => {
  it('is not logged if no documented field has a similar name, whatever the body is', async () => {
    const { client, lines } = await warned([wireAudience()]);
    const filters = { project_ids: 1, Name: 'a key that is data' };
    await client.audiences.create({ ...untyped('{"operator":"AND","cohort_id":1,"title":"x","toString":1}'), filters });
    await client.audiences.create(untyped('{"dataset":{"startDate":1}}'));
    await client.audiences.create(untyped('[{"projectId":1}]'));
    await client.audiences.create(untyped('null'));
    expect(lines).toEqual([]);
  });
});

describe('a name is similar to that of a documented field', () => {
  const documented = ['name', 'project_id', 'dataset', 'start_date'];
  it.each([
    ['projectId', 'project_id'],
    ['PROJECT-ID', 'project_id'],
    ['projectid', 'project_id'],
    ['prject_id', 'project_id'],
    ['projject_id', 'project_id'],
    ['projekt_id', 'project_id'],
    ['porject_id', 'project_id'],
    ['roject_id', 'project_id'],
    ['project_i', 'project_id'],
    ['project_idx', 'project_id'],
    ['datasets', 'dataset'],
    ['nmae', 'name'],
    ['nam', 'name'],
  ])('with another case, other separators or one other letter: %s', (name, field) => {
    expect(similarField(name, documented)).toBe(field);
  });

  it.each(['', 'id', 'prjct_id', 'project', 'maen', 'title', 'set', 'date', 'toString'])('but not %j', (name) => {
    expect(similarField(name, documented)).toBeUndefined();
  });
});
