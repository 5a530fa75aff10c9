import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { exchangeExamples } from '../../../scripts/openapi/examples.ts';
import { operationDetails } from '../../../scripts/openapi/operation-details.ts';
import { isOperationName, operations } from '../../../src/spec/operations.ts';
import { startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

const names = Object.keys(operations).filter(isOperationName);
const details = operationDetails();
const exchanges = await exchangeExamples(details);

describe('every operation of the table', () => {
  it('has a comment with an example that calls it', () => {
    expect(names.filter((name) => !details.has(name) || !exchanges.has(name))).toEqual([]);
  });

  it('every operation that polls is in the bucket that paces the polls', () => {
    const reads = names.filter((name) => /\.(?:get|list)$/.test(name));
    expect(reads.filter((name) => operations[name].bucket !== 'read')).toEqual([]);
  });

  it.each(names)('%s is sent as the table says', (name) => {
    const { method, path, retry, token } = operations[name];
    const { request } = exchanges.get(name) ?? {};
    expect(request?.method).toBe(method);
    const pattern = path.replace('{id}', String.raw`\d+`).replace('{dataset}', 'web').replace('{name}', 'domains');
    expect(new URL(String(request?.url)).pathname).toMatch(new RegExp(`^${pattern}$`));
    expect(request?.headers.has('idempotency-key')).toBe(retry === 'idempotency-key');
    // The sandbox refuses a token of the wrong scope.
    expect(request?.headers.has('authorization')).toBe(token !== 'none');
  });
});

const tests = globSync('test/client/**/*.test.ts').map((path) => readFileSync(path, 'utf8'));

describe('the operation table', () => {
  it('has no operation that no test of the client calls', () => {
    const untested = Object.keys(operations).filter((name) => !tests.some((text) => text.includes(`${name}(`)));
    expect(untested, 'Add a test to test/client/resources that calls them').toEqual([]);
  });
});

describe('operations with the rules of similar operations', () => {
  it('return what was created, and list it', async () => {
    const { client } = await startBench();
    const estimate = await client.estimates.create({ name: 'A' });
    expect(await client.estimates.get(estimate.id)).toMatchObject({ id: estimate.id });
    const schedule = await client.schedules.create({ name: 'Weekly' });
    expect((await client.schedules.list()).items).toEqual([expect.objectContaining({ id: schedule.id })]);
  });

  it('delete a cohort, which cannot be read afterwards', async () => {
    const { client } = await startBench();
    const { id } = await client.cohorts.create({ name: 'Customers', project_id: null });
    await client.cohorts.delete(id);
    expect(await failureOf(client.cohorts.get(id))).toMatchObject({ status: 404 });
  });
});
