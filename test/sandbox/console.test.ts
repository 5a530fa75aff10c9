import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/index.ts';
import { startBench } from '../support/sandbox.ts';
import { DAY, HOUR, startSandbox } from '../support/sandbox-calls.ts';

const ping = async (one: ReturnType<typeof startSandbox>, token: string): Promise<number> =>
  (await one.call('GET', '/api/v2/webhooks/index', { token })).status;

describe('a company in the console', () => {
  it('has a build budget that can be raised, for all its accounts at once', async () => {
    const one = startSandbox();
    const acme = one.sandbox.companies.create({ name: 'Acme', buildsPerHour: 1 });
    const [ada, bob] = ['ada', 'bob'].map((name) =>
      one.sandbox.accounts.create({ email: `${name}@acme.example`, password: 'x', company: 'Acme' }),
    );
    if (!ada || !bob) throw new Error('Two accounts were opened.');
    expect(ada.company).toMatchObject({ id: acme.id, name: 'Acme' });
    expect((await one.create(ada.token('api'))).status).toBe(200);
    const token = bob.token('api');
    expect((await one.create(token)).status).toBe(429);
    acme.setBuildBudget({ buildsPerHour: 2, buildsPerDay: 2 });
    expect((await one.create(token)).status).toBe(200);
    expect((await one.create(token)).headers.get('retry-after')).toBe(String(24 * 3_600));
    bob.company.setBuildBudget({ buildsPerDay: 3, buildsPerHour: 3 });
    expect((await one.create(token)).status).toBe(200);
    expect(() => one.sandbox.companies.create({ name: 'Acme' })).toThrow(/already/);
  });
});

describe('tokens in the console', () => {
  it('are listed without their values, and revoked one by one', async () => {
    const one = startSandbox();
    const other = one.account.token('api');
    one.account.token('login');
    const [first, second, login] = one.account.tokens();
    expect([first?.kind, second?.kind, login?.kind]).toEqual(['api', 'api', 'login']);
    expect(first?.expiresAt?.getTime()).toBe((first?.createdAt.getTime() ?? 0) + 365 * DAY);
    expect(login?.expiresAt).toBeUndefined();
    expect(JSON.stringify(one.account.tokens())).not.toContain(other);
    one.account.revokeToken(first?.id ?? 0);
    expect([await ping(one, one.token), await ping(one, other)]).toEqual([401, 200]);
    expect(() => one.account.revokeToken(first?.id ?? 0)).toThrow(/no live token/);
    expect(one.account.tokens()).toHaveLength(2);
  });
});

describe('jobs in the console', () => {
  it('end as told for the next of their kind, in line, before any rule', async () => {
    const one = startSandbox({ jobs: { outcome: 400 } });
    one.sandbox.jobs.next('audience', { status: 107, reason: 'The domain list is empty.', duration: HOUR });
    one.sandbox.jobs.next('audience', 104);
    const ids: number[] = [];
    for (let at = 0; at < 3; at++) ids.push((await one.create(one.token)).body.data[0].id);
    const statusOf = async (id: number) =>
      (await one.call('GET', `/api/v2/audiences/${id}`, { token: one.token })).body.data[0].status.id;
    expect(one.sandbox.jobs.running.map(({ id }) => id)).toEqual(ids);
    await one.sandbox.advance(HOUR / 2);
    expect(one.sandbox.jobs.running).toMatchObject([{ kind: 'audience', id: ids[0], name: 'x' }]);
    await one.sandbox.advance(HOUR / 2);
    expect(await Promise.all(ids.map(statusOf))).toEqual([107, 104, 400]);
  });

  it('tell the reason of a 107, which no answer of the API holds', async () => {
    const one = startSandbox();
    const create = async (): Promise<number> => (await one.create(one.token)).body.data[0].id;
    const [told, silent, well] = [await create(), await create(), await create()];
    one.sandbox.jobs.finish('audience', told, 107, 'The domain list is empty.');
    one.sandbox.jobs.finish('audience', silent, 107);
    one.sandbox.jobs.finish('audience', well, 104);
    const reasons = [told, silent, well].map((id) => one.sandbox.jobs.reason('audience', id));
    expect(reasons).toEqual(['The domain list is empty.', 'The job cannot be done as requested.', undefined]);
    expect(one.sandbox.jobs.reason('cohort', told)).toBeUndefined();
    const { body } = await one.call('GET', `/api/v2/audiences/${told}`, { token: one.token });
    expect(JSON.stringify(body)).not.toContain('domain list');
  });

  it('run to an end of theirs only', () => {
    expect(() => createSandbox({ jobs: { outcome: 103 } })).toThrow(/ends at 104, 107 or a 4xx/);
    expect(() => createSandbox().jobs.next('audience', 200)).toThrow(/not at 200/);
  });

  it('of a real clock are up to date at every look', async () => {
    const { client, sandbox } = await startBench({ clock: 'real', jobs: { duration: 1 } });
    await client.audiences.create({ name: 'x' });
    await expect.poll(() => sandbox.jobs.running).toEqual([]);
  });
});

describe('options of a sandbox', () => {
  it.each([
    [{ seed: 0.5 }, '`seed`'],
    [{ clock: { speed: 0 } }, '`clock.speed`'],
    [{ start: new Date('never') }, '`start`'],
    [{ origin: 'https://api.example.com/' }, '`origin`'],
  ])('of %j are refused', (options, message) => {
    expect(() => createSandbox(options)).toThrow(message);
  });

  it('start the clock when told', async () => {
    const sandbox = createSandbox({ clock: 'manual', start: new Date('2027-03-01T12:00:00Z') });
    await sandbox.advance(HOUR);
    expect(new Date(sandbox.now()).toISOString()).toBe('2027-03-01T13:00:00.000Z');
    await expect(sandbox.advance(-1)).rejects.toThrow(/from 0/);
  });
});
