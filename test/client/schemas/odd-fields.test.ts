import { describe, expect, it } from 'vitest';
import type { LogFields } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { wireAudience } from '../../support/wire-audience.ts';

/** A client whose service answers everything with `data`, and what it warns of. */
async function warned(data: unknown) {
  const server = await startServer([{ data }]);
  const lines: [string, LogFields | undefined][] = [];
  const warn = (message: string, fields?: LogFields): void => void lines.push([message, fields]);
  const client = clientOf(server, { logger: { error() {}, info() {}, debug() {}, warn }, logLevel: 'warn' });
  return { client, lines };
}

describe('a field that differs from what is documented', () => {
  it.each([
    ['results_count', undefined, 'is missing, but must be a number'],
    ['results_count', 'many', 'is a string, but must be a number'],
    ['results_count', 1.5, 'is a number, but must be an integer'],
    ['name', null, 'is null, but must be a string'],
    ['name', ['canary'], 'is an array, but must be a string'],
    ['is_cohort', 1, 'is a number, but must be a boolean'],
    ['dataset', {}, 'is an object, but must be an array'],
    ['project', 7, 'is a number, but must be an object'],
    ['created_by', 'canary', 'is a string, but must be an object'],
  ])('is logged with what is wrong with it: %s %j', async (field, value, problem) => {
    const { client, lines } = await warned([{ ...wireAudience(), [field]: value }]);
    await client.audiences.get(42);
    expect(lines).toEqual([
      [expect.stringContaining(`\`${field}\` ${problem}`), { operation: 'audiences.get', field }],
    ]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });

  it.each([
    ['status', undefined, 'is missing, but must be an object'],
    ['status.id', { name: 'Completed' }, 'is missing, but must be a number'],
  ])('is the status of rows: `%s` is logged once, and the rows are returned', async (field, status, problem) => {
    const { client, lines } = await warned([1, 2].map((id) => ({ ...wireAudience(), id, status })));
    const { items } = await client.audiences.list();
    expect(items.map(({ id }) => id)).toEqual([1, 2]);
    expect(lines).toEqual([
      [expect.stringContaining(`\`${field}\` ${problem}`), { operation: 'audiences.list', field }],
    ]);
    const strict = client.withOptions({ validation: 'strict' });
    expect(await failureOf(Promise.resolve(strict.audiences.list()))).toMatchObject({ code: 'response-invalid' });
    expect(await failureOf(client.audiences.get(1))).toMatchObject({ code: 'response-invalid' });
  });

  it('is logged once, whichever operation and derived client meets it', async () => {
    const { client, lines } = await warned([{ ...wireAudience(), name: 7 }]);
    await client.audiences.get(42);
    await client.audiences.list();
    await client.withOptions({ timeout: 5_000 }).audiences.get(42);
    await client.lookalikes.get(42);
    expect(lines).toHaveLength(1);
  });

  it('is distinguished from one of the same name in another resource', async () => {
    const odd = { ...wireAudience(), ...wireActivation(''), created_at: 1, datastreams: [{}, {}] };
    const { client, lines } = await warned([odd]);
    await client.audiences.get(42);
    await client.activations.get(42);
    expect(lines.map(([, fields]) => `${fields?.operation} ${fields?.field}`)).toEqual([
      'audiences.get created_at',
      'activations.get datastreams.*.name',
      'activations.get datastreams.*.status',
      'activations.get datastreams.*.results',
      'activations.get created_at',
    ]);
  });

  it('is one of ten that are logged; the tenth line says so', async () => {
    const { client, lines } = await warned([{ id: 42, status: { id: 104 } }]);
    await client.audiences.get(42);
    await client.activations.get(42);
    expect(lines).toHaveLength(10);
    const last = lines.map(([message]) => message.includes('The client does not log further fields that differ.'));
    expect(last).toEqual([...Array.from({ length: 9 }, () => false), true]);
  });

  it('a resource without a field that it needs rejects with an error that says what is wrong with the field', async () => {
    const { client } = await warned([{ ...wireAudience(), status: { name: 'Completed' } }]);
    const error = await failureOf(client.audiences.get(42));
    expect(error).toMatchObject({ code: 'response-invalid' });
    expect(String(error)).toContain('`status.id` is missing, but must be a number');
  });
});
