import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { startBench } from '../../support/sandbox.ts';
import { DAY, HOUR, startSandbox } from '../../support/sandbox-calls.ts';

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
    expect(() => acme.setBuildBudget({ buildsPerHour: Number.NaN })).toThrow(/number from 0/);
    expect(() => one.sandbox.companies.create({ name: 'B', buildsPerDay: -1 })).toThrow(/number from 0/);
  });
});

describe('an account in the console', () => {
  it('belongs to a company by its name, or by what its creation returned', () => {
    const { sandbox } = startSandbox();
    const company = sandbox.companies.create({ name: 'Acme' });
    const ada = sandbox.accounts.create({ email: 'ada@acme.example', password: 'x', company });
    const bob = sandbox.accounts.create({ email: 'bob@acme.example', password: 'x', company: 'Acme' });
    expect([ada.company.id, bob.company.id]).toEqual([company.id, company.id]);
  });

  it('gets a password made up where none is given', async () => {
    const one = startSandbox();
    const password = one.account.changePassword();
    expect(one.account.password).toBe(password);
    expect(await ping(one, one.token)).toBe(401);
    const login = await one.call('POST', '/api/v2/auth/login', { body: { email: one.account.email, password } });
    expect(login.status).toBe(200);
    expect(() => one.account.changePassword('')).toThrow('needs a password');
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

  it('run to an end of theirs only, for a time that there is', async () => {
    for (const outcome of [103, 4, 5]) expect(() => createSandbox({ jobs: { outcome } })).toThrow(`not at ${outcome}.`);
    expect(() => createSandbox().jobs.next('audience', 4)).toThrow(/not at 4/);
    expect(() => createSandbox().jobs.next('audience', 404.5)).toThrow(/not at 404.5/);
    expect(() => createSandbox().jobs.next('cohort', 4)).not.toThrow();
    expect(() => createSandbox({ jobs: { duration: -1 } })).toThrow(/not -1/);
    const one = startSandbox();
    const { id } = (await one.create(one.token)).body.data[0];
    expect(() => one.sandbox.jobs.finish('audience', id, 5)).toThrow(/not at 5/);
  });

  it('of a rule that is wrong are not created, and the answer says why', async () => {
    for (const jobs of [{ outcome: () => 200 }, { duration: () => Number.NaN }, { devices: -5 }]) {
      const one = startSandbox({ jobs, limits: { buildsPerHour: 1 } });
      const { status, body } = await one.create(one.token);
      expect([status, body.message]).toEqual([
        500,
        expect.stringMatching(/^The sandbox failed: (?:A job (?:ends|takes)|An audience holds)/),
      ]);
      expect((await one.call('GET', '/api/v2/audiences/index', { token: one.token })).body.data).toEqual([]);
      expect((await one.call('GET', '/api/v2/usage?yearmonth=2020-01', { token: one.token })).body.data).toMatchObject({
        build_budget: { hour: { used: 0 } },
      });
    }
  });

  it('of a real clock are up to date at every look', async () => {
    const { client, sandbox } = await startBench({ clock: 'real', jobs: { duration: 1 } });
    await client.audiences.create({ name: 'x' });
    await expect.poll(() => sandbox.jobs.running).toEqual([]);
  });
});

describe('accounts', () => {
  it.each([
    [{ email: 'dev', password: 'x' }, 'no email address'],
    [{ email: 'dev@example.com', password: '' }, 'needs a password'],
  ])('that could not log in are not opened: %j', (input, message) => {
    expect(() => createSandbox().accounts.create(input)).toThrow(message);
  });
});

describe('options of a sandbox', () => {
  it.each([
    [{ seed: 0.5 }, '`seed`'],
    [{ clock: { speed: 0 } }, '`clock.speed`'],
    [{ clock: { speed: 1e7 } }, '`clock.speed`'],
    [{ limits: { buildsPerHour: -1 } }, 'The limit `buildsPerHour` must be a number from 0.'],
    [{ start: new Date('never') }, '`start`'],
    [{ origin: 'https://api.example.com/' }, '`origin`'],
  ])('of %j are refused', (options, message) => {
    expect(() => createSandbox(options)).toThrow(message);
  });

  it('that plain JavaScript gets wrong are refused, too', () => {
    const wrong: [object, string][] = [
      [{ speed: 3 }, 'There is no option `speed`'],
      [{ clock: 'fast' }, "`clock` must be 'real'"],
      [{ limits: { reads: 3 } }, 'There is no limit `reads`'],
      [{ limits: { read: 5 } }, 'must be { limit, interval }'],
    ];
    for (const [options, message] of wrong) expect(() => createSandbox(options)).toThrow(message);
    const { account, sandbox } = startSandbox();
    const [oauth, audiences]: string[] = ['oauth', 'audiences'];
    // @ts-expect-error -- a kind that is none
    expect(() => account.token(oauth)).toThrow('"oauth" is no kind of token: login, api, mcp.');
    // @ts-expect-error -- a kind that is none
    expect(() => sandbox.jobs.next(audiences, 104)).toThrow('"audiences" is no kind of job');
  });

  it('that are called and throw do so apart from the request', async () => {
    const thrown: unknown[] = [];
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => thrown.push(error));
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException');
      for (const listener of listeners) process.on('uncaughtException', listener);
    });
    const failing = new Error('mine');
    const fail = (): never => {
      throw failing;
    };
    const one = startSandbox({
      onRequest: fail,
      onDelivery: fail,
      deliver: async () => new Response(null, { status: 500 }),
    });
    const { account, sandbox } = one;
    const { id } = sandbox.webhooks.create({ account, name: 'x', url: 'https://receiver.example/', events: [] });
    expect(await ping(one, one.token)).toBe(200);
    sandbox.webhooks.test(id);
    await sandbox.advance(60_000);
    expect(sandbox.webhooks.deliveries).toHaveLength(2);
    await expect.poll(() => thrown).toEqual([failing, failing, failing]);
  });

  it('start the clock when told', async () => {
    const sandbox = createSandbox({ clock: 'manual', start: new Date('2027-03-01T12:00:00Z') });
    await sandbox.advance(HOUR);
    expect(new Date(sandbox.now()).toISOString()).toBe('2027-03-01T13:00:00.000Z');
    await expect(sandbox.advance(-1)).rejects.toThrow(/from 0/);
  });
});
