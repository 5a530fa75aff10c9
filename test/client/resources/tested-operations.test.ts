import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { operations } from '../../../src/spec/operations.ts';
import { startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

const tests = globSync('test/client/**/*.test.ts').map((path) => readFileSync(path, 'utf8'));

describe('the operation table', () => {
  it('has no operation that no test of the client calls', () => {
    const untested = Object.keys(operations).filter((name) => !tests.some((text) => text.includes(`${name}(`)));
    expect(untested, 'Add a test to test/client/resources that calls them').toEqual([]);
  });
});

describe('operations whose rules are those of their neighbours', () => {
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
