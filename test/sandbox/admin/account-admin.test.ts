import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { DAY, startSandbox } from '../support/sandbox-calls.ts';

const ping = async (api: ReturnType<typeof startSandbox>, token: string): Promise<number> =>
  (await api.call('GET', '/api/v2/webhooks/index', { token })).status;

describe('an organization in the console', () => {
  it('the build budget can be raised for all accounts of an organization', async () => {
    const api = startSandbox();
    const acme = api.sandbox.companies.create({ name: 'Acme', buildsPerHour: 1 });
    const [ada, bob] = ['ada', 'bob'].map((name) =>
      api.sandbox.accounts.create({ email: `${name}@acme.example`, password: 'x', company: 'Acme' }),
    );
    if (!ada || !bob) throw new Error('Expected two accounts.');
    expect(ada.company).toMatchObject({ id: acme.id, name: 'Acme' });
    expect((await api.create(ada.token('api'))).status).toBe(200);
    const token = bob.token('api');
    expect((await api.create(token)).status).toBe(429);
    acme.setBuildBudget({ buildsPerHour: 2, buildsPerDay: 2 });
    expect((await api.create(token)).status).toBe(200);
    expect((await api.create(token)).headers.get('retry-after')).toBe(String(24 * 3_600));
    bob.company.setBuildBudget({ buildsPerDay: 3, buildsPerHour: 3 });
    expect((await api.create(token)).status).toBe(200);
    expect(() => api.sandbox.companies.create({ name: 'Acme' })).toThrow(/already/);
    expect(() => acme.setBuildBudget({ buildsPerHour: Number.NaN })).toThrow(/number of 0 or more/);
    expect(() => api.sandbox.companies.create({ name: 'B', buildsPerDay: -1 })).toThrow(/number of 0 or more/);
  });
});

describe('an account in the console', () => {
  it('an account belongs to an organization by its name or object', () => {
    const { sandbox } = startSandbox();
    const company = sandbox.companies.create({ name: 'Acme' });
    const ada = sandbox.accounts.create({ email: 'ada@acme.example', password: 'x', company });
    const bob = sandbox.accounts.create({ email: 'bob@acme.example', password: 'x', company: 'Acme' });
    expect([ada.company.id, bob.company.id]).toEqual([company.id, company.id]);
  });

  it('`changePassword` without a password sets a random one', async () => {
    const api = startSandbox();
    const password = api.account.changePassword();
    expect(api.account.password).toBe(password);
    expect(await ping(api, api.token)).toBe(401);
    const login = await api.call('POST', '/api/v2/auth/login', { body: { email: api.account.email, password } });
    expect(login.status).toBe(200);
    expect(() => api.account.changePassword('')).toThrow('`password` must not be empty');
  });
});

describe('tokens in the console', () => {
  it('the console lists tokens without their values, and revokes them one by one', async () => {
    const api = startSandbox();
    const other = api.account.token('api');
    api.account.token('login');
    const [first, second, login] = api.account.tokens();
    expect([first?.kind, second?.kind, login?.kind]).toEqual(['api', 'api', 'login']);
    expect(first?.expiresAt?.getTime()).toBe((first?.createdAt.getTime() ?? 0) + 365 * DAY);
    expect(login?.expiresAt).toBeUndefined();
    expect(JSON.stringify(api.account.tokens())).not.toContain(other);
    api.account.revokeToken(first?.id ?? 0);
    expect([await ping(api, api.token), await ping(api, other)]).toEqual([401, 200]);
    expect(() => api.account.revokeToken(first?.id ?? 0)).toThrow(/no valid token/);
    expect(api.account.tokens()).toHaveLength(2);
  });
});

describe('accounts', () => {
  it.each([
    [{ email: 'dev', password: 'x' }, '`email` must be an email address'],
    [{ email: 'dev@example.com', password: '' }, '`password` must not be empty'],
  ])('an account that could not log in is refused: %j', (input, message) => {
    expect(() => createSandbox().accounts.create(input)).toThrow(message);
  });
});
