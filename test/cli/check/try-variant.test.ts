import { describe, expect, test } from 'vitest';
import { EXPECTED, type FindingState, type Level, type Variant } from './support/expectations.ts';
import { OWNER } from './support/filled-account.ts';
import type { JudgedReport } from './support/judge.ts';
import { tryVariant } from './support/try-variant.ts';

type Send = (method: string, path: string, body?: object) => Promise<{ data?: unknown }>;

/** Tries a check that reports what is right, and sends requests that it should not. */
async function problemsOf(
  level: Level,
  send: (send: Send, sleep: (ms: number) => Promise<void>) => Promise<void>,
  report: Partial<JudgedReport> = {},
) {
  const variant: Variant = { name: 'a service that is as assumed', level };
  const { problems } = await tryVariant(variant, async ({ baseUrl, token, fetch, clock }) => {
    const request: Send = async (method, path, body) => {
      const response = await fetch(path.startsWith('https:') ? path : `${baseUrl}/api/v2/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    await send(request, (ms) => clock.sleep(ms));
    return { findings: findings(level), contract: {}, ...report };
  });
  return problems;
}

const findings = (level: Level) =>
  Object.entries(EXPECTED[level]).map(([id, expectation]) => {
    const [state = 'not-checked'] = [expectation].flat();
    return { id, state: state as FindingState, evidence: 'as it is' }; // none of them is "unfound"
  });

const nothing = async (): Promise<void> => {};

const firstId = async (send: Send, resource: string): Promise<number> => {
  const { data } = await send('GET', `${resource}/index?per_page=1`);
  return Array.isArray(data) ? data[0].id : 0;
};

describe('a trial of a check', () => {
  test('has no problem if the report is right', async () => {
    expect(await problemsOf('read', nothing)).toEqual([]);
  });

  test('finds a state that is wrong, a finding that is missing, and one that nobody expects', async () => {
    const [first, ...others] = findings('read');
    const wrong = others.map((one) => (one.id === 'time-zone' ? { ...one, state: 'confirmed' as const } : one));
    const extra = { id: 'weather', state: 'likely' as const, evidence: 'clouds' };
    expect(await problemsOf('read', nothing, { findings: [...wrong, extra] })).toEqual([
      `${first?.id} is missing, expected "confirmed".`,
      expect.stringMatching(/^time-zone is confirmed/),
      'weather is likely, and nobody expects it.',
    ]);
  });

  test('finds settings that are not true', async () => {
    const contract = {
      operations: { 'audiences.get': { path: '/api/v2/audience/{id}' } },
      serverTimeZone: 'Etc/GMT+1',
    };
    expect(await problemsOf('read', nothing, { contract })).toEqual([
      'settings.operations.audiences.get.path "/api/v2/audience/{id}" is not what the service does.',
      'settings.serverTimeZone "Etc/GMT+1" is not what the service does.',
    ]);
  });

  test('finds more requests than half of the limit in a minute, across any minute', async () => {
    const problems = await problemsOf('read', async (send, sleep) => {
      await sleep(30_000);
      for (let count = 0; count < 61; count++) {
        await send('GET', 'usage');
        await sleep(900);
      }
    });
    expect(problems).toEqual(['The check sent 61 requests of read in a minute, at most 60 are allowed.']);
  });

  test('finds writes of the level "read", and resources that are left', async () => {
    const problems = await problemsOf('read', async (send) => {
      await send('POST', 'projects/create', { name: 'left' });
    });
    expect(problems).toEqual(['The check sent 1 writes, at most 0 are allowed.', 'projects "left" is left.']);
  });

  test('finds ids of the account in writes and in OPTIONS', async () => {
    const problems = await problemsOf('write', async (send) => {
      const project = await firstId(send, 'projects');
      await send('POST', `projects/${project}/delete`);
      await send('POST', 'audiences/create', { project_id: await firstId(send, 'projects'), dataset: 'invalid' });
    });
    expect(problems).toEqual([
      expect.stringMatching(/^POST \/api\/v2\/projects\/\d+\/delete names a resource/),
      expect.stringMatching(/^POST \/api\/v2\/audiences\/create names a resource/),
      expect.stringMatching(/^projects \d+ was changed or is gone/),
    ]);
  });

  test('finds reads of the paths of writes, operations that are forbidden, and tokens sent elsewhere', async () => {
    const problems = await problemsOf('write', async (send) => {
      await send('GET', 'projects/0/delete');
      await send('POST', 'auth/login', {});
      await send('GET', 'https://elsewhere.example/').catch(nothing);
    });
    expect(problems).toEqual([
      'GET /api/v2/projects/0/delete is the path of a write.',
      'POST /api/v2/auth/login must not be done: auth.login.',
      'GET / was sent to another host.',
      'GET / had the token, which is for the API only.',
    ]);
  });

  test('finds what belongs to the account in the report', async () => {
    const [first, ...others] = findings('read');
    const leaking = [{ id: 'service', state: 'confirmed' as const, evidence: `of ${OWNER.email}` }, ...others];
    expect(first?.id).toBe('service');
    expect(await problemsOf('read', nothing, { findings: leaking })).toEqual(['The report contains "canary".']);
  });
});
