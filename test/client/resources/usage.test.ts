import { describe, expect, it } from 'vitest';
import { startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';

describe('usage', () => {
  it('is read for a month, by default the current one', async () => {
    const { client } = await startBench();
    const month = new Date().toISOString().slice(0, 7);
    expect(await client.usage.get()).toMatchObject({ yearmonth: month });
    expect(await client.usage.get({ yearmonth: '2020-01' })).toMatchObject({ yearmonth: '2020-01' });
  });

  it.each(['2019-12', '1999-01', '2999-01'])('the client refuses the usage of %s before sending', async (yearmonth) => {
    const { client, sandbox } = await startBench();
    expect(await failureOf(client.usage.get({ yearmonth }))).toMatchObject({ local: true });
    expect(sandbox.log).toEqual([]);
  });

  it('the client leaves a usage month in another form than assumed to the service', async () => {
    const { client } = await startBench();
    expect(await failureOf(client.usage.get({ yearmonth: '201912' }))).toMatchObject({ status: 422, local: false });
  });

  it('returns the build budget', async () => {
    const { client } = await startBench();
    await client.audiences.create({ name: 'x' });
    const { data, requestId } = await client.usage.buildBudget().withResponse();
    expect(data).toEqual({ hour: { limit: 60, used: 1 }, day: { limit: 300, used: 1 }, retry_after_seconds: null });
    expect(requestId).toMatch(/^req_/);
  });
});
