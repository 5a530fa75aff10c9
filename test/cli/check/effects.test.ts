import { describe, expect, it, vi } from 'vitest';
import { type CheckOptions, checkService } from '../../../src/cli/check/check.ts';
import { compare } from '../../../src/cli/check/settings.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { following } from './support/contracts.ts';
import { type Answer, failure, Service, type ServiceDefinition } from './support/service.ts';
import { answers } from './support/traits.ts';

const time = inVirtualTime();

const optionsFor = ({ baseUrl, token, fetch }: Service) => ({ baseUrl, token, fetch });

async function check(definition: ServiceDefinition, options: Partial<CheckOptions> = {}) {
  const service = new Service(definition);
  const report = await time.until(checkService({ ...optionsFor(service), level: 'read', ...options }));
  const findings = Object.fromEntries(report.findings.map((finding) => [finding.id, finding]));
  return { service, report, findings };
}

const writesOf = ({ requests }: Service): string[] =>
  requests.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);

describe('a check with a contract', () => {
  it('tries its paths first, and keeps those that work', async () => {
    const contract = following({ list: '/segments/*', get: '/segments/*/{id}' });
    const { report, findings } = await check({ contract }, { expected: contract });
    expect(report.contract.operations).toEqual(contract.operations);
    expect(findings['path:audiences.list']?.setting).toEqual({
      operations: { 'audiences.list': { path: '/api/v2/segments/audiences' } },
    });
  });

  it('replaces a path that the service refuses by the assumed one that works, and says so', async () => {
    const operations = { 'cohorts.list': { path: '/api/v2/gone', retry: 'never' } } as const;
    const { report, findings } = await check({}, { expected: { operations } });
    expect(report.contract.operations).toEqual({ 'cohorts.list': { path: '/api/v2/cohorts/index', retry: 'never' } });
    expect(findings['path:cohorts.list']).toMatchObject({
      state: 'differs',
      evidence: expect.stringContaining('`GET /api/v2/gone` returns 404. `GET /api/v2/cohorts/index` works'),
    });
  });

  it('tries the parameter and the place of the cursor that the contract names', async () => {
    const paging = { style: 'cursor', param: 'resume_at', size: 'rows', next: 'meta.resume' } as const;
    const { report, findings } = await check({ contract: { paging } }, { expected: { paging } });
    expect(report.contract.paging).toEqual(paging);
    expect(findings.paging).toMatchObject({
      state: 'differs',
      evidence: '`resume_at` returns the next page.',
    });
  });

  it('finds the path of a list even if nobody can guess the path of an earlier list', async () => {
    const contract: ServiceContract = {
      operations: {
        ...following({ list: '/mine/*' }, ['audiences', 'activations']).operations,
        ...following({ list: '/*/all' }, ['cohorts']).operations,
      },
    };
    const { findings } = await check({ contract });
    expect(findings['path:audiences.list']).toMatchObject({ state: 'differs', breaks: true });
    expect(findings['path:cohorts.list']?.setting).toEqual({
      operations: { 'cohorts.list': { path: '/api/v2/cohorts/all' } },
    });
  });

  it('keeps the name of a header as it is written, also if a cached response lacks the header', async () => {
    const requestIdHeader = 'X-Trace-Id';
    let count = 0;
    const traced = (isCached: boolean) => () => ({
      write: (answer: Answer): Answer => {
        const own = isCached && ++count === 3 ? {} : { 'x-trace-id': `t${Math.random()}` };
        return { ...answer, headers: { ...answer.headers, ...own } };
      },
    });
    for (const isCached of [false, true]) {
      const { report } = await check({ traits: [traced(isCached)] }, { expected: { requestIdHeader } });
      expect(report.contract.requestIdHeader).toBe(requestIdHeader);
    }
  });

  it('reads what is documented at its paths, too', async () => {
    const operations = { 'usage.get': { path: '/api/v2/usages' } } as const;
    const { report, findings } = await check({ contract: { operations } }, { expected: { operations } });
    expect(report.contract.operations).toEqual(operations);
    expect(findings['path:usage.get']?.breaks).toBeUndefined();
  });

  it('keeps a path that no response shows, whatever the paths of other resources are', async () => {
    const operations = { 'estimates.get': { path: '/api/v2/estimate-results/{id}' } } as const;
    const { report, findings } = await check({}, { expected: { operations } });
    expect(report.contract.operations).toEqual(operations);
    expect(findings['path:estimates.get']?.state).toBe('not-checked');
  });

  it.each([403, 500, 503])('keeps a path that responds with %i, although the assumed one works', async (status) => {
    const path = '/api/v2/cohorts-of-mine';
    const operations = { 'cohorts.list': { path } } as const;
    const unavailable = answers((call) => (call.path === path ? failure(status, 'Not now.') : undefined));
    const { report, findings } = await check({ traits: [unavailable] }, { expected: { operations } });
    expect(report.contract.operations).toEqual(operations);
    expect(findings['path:cohorts.list']).toMatchObject({
      state: 'not-checked',
      evidence: expect.stringMatching(`${status}`),
    });
  });

  it.each<[string, ServiceContract, ServiceContract]>([
    [
      'replaces a style that does not work',
      { paging: { style: 'offset', param: 'offset', size: 'limit' } },
      { paging: { style: 'page', param: 'page', size: 'per_page' } },
    ],
    [
      'keeps that no size is sent',
      { paging: { style: 'page', param: 'page' } },
      { paging: { style: 'page', param: 'page' } },
    ],
  ])('%s, if the service pages as assumed', async (_, expected, merged) => {
    const { report } = await check({}, { expected });
    expect(report.contract.paging).toEqual(merged.paging);
  });

  it('keeps a smaller page, a preferred kind of polling, and a zone that has the same offset', async () => {
    const expected: ServiceContract = {
      paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 20 },
      waits: { via: 'get' },
      serverTimeZone: 'Africa/Abidjan',
    };
    const { report } = await check({}, { expected, level: 'write' });
    expect(report.contract).toMatchObject(expected);
  });

  it.each([
    ['projects.delete', 'POST', '/api/v2/projects/70/delete'],
    ['projects.delete', 'POST', '/api/v2/audiences/{id}/delete'],
    ['projects.create', 'POST', '/api/v2/audiences/create'],
    ['projects.create', 'POST', '/api/v2/projects/delete'],
    ['uploads.reserve', 'POST', '/api/v2/audiences/create'],
  ] as const)('never sends %s as %s %s', async (name, method, path) => {
    const { service, findings } = await check(
      {},
      { level: 'write', expected: { operations: { [name]: { method, path } } } },
    );
    expect(findings[`path:${name}`]).toMatchObject({
      state: 'not-checked',
      evidence: expect.stringMatching(/does not send/),
    });
    expect(writesOf(service).filter((line) => line.includes(name === 'uploads.reserve' ? path : 'projects'))).toEqual(
      [],
    );
  });

  it('never reads the path of a write', async () => {
    const { service } = await check(
      {},
      { expected: { operations: { 'audiences.list': { path: '/api/v2/audiences/70/delete' } } } },
    );
    expect(service.requests.filter(({ path }) => path.endsWith('/delete'))).toEqual([]);
  });
});

describe('a check that writes', () => {
  it('sends one project, its key twice more, one delete and one reservation', async () => {
    const { service } = await check({}, { level: 'write' });
    expect(writesOf(service)).toEqual([
      'POST /api/v2/uploads/create',
      ...Array.from({ length: 3 }, () => 'POST /api/v2/projects/create'),
      'POST /api/v2/projects/1001/delete',
    ]);
  });

  const left = (name: string): ServiceDefinition => ({
    traits: [() => ({ resource: (row) => (row.id === 60 ? { ...row, name } : row) })],
  });
  const OLD = `audience-check 2026-11-01T10:00:00Z ${'0f'.repeat(16)}`;

  it.each([true, false])('deletes what an earlier check has left only if you agree: %s', async (isConfirmed) => {
    const names: string[][] = [];
    const confirmDelete = async (some: readonly string[]): Promise<boolean> => {
      names.push([...some]);
      return isConfirmed;
    };
    const { service } = await check(left(OLD), { level: 'write', confirmDelete });
    expect(names).toEqual([[OLD]]);
    expect(service.lists.projects?.some(({ id }) => id === 60)).toBe(!isConfirmed);
  });

  it('does not offer to delete the project of a check that may still run', async () => {
    const young = OLD.replace('2026-11-01T10:00:00Z', '2026-11-09T12:00:00Z');
    const { service } = await check(left(young), {
      level: 'write',
      confirmDelete: () => Promise.reject(new Error('asked')),
    });
    expect(service.lists.projects).toHaveLength(4);
  });

  it('reports no leftover project if the service refuses to create one', async () => {
    const readOnly = answers(({ method }) => (method === 'GET' ? undefined : failure(403, 'Read only.')));
    const onProgress = vi.fn();
    await check({ traits: [readOnly] }, { level: 'write', onProgress });
    expect(onProgress).not.toHaveBeenCalledWith('left', expect.anything());
  });

  it('says what is left if the delete and the read after it fail', async () => {
    const onProgress = vi.fn();
    let isDown = false;
    const failing = answers(({ operation }) => {
      isDown ||= operation === 'projects.delete';
      return isDown ? failure(503, 'Not now.') : undefined;
    });
    const { findings } = await check({ traits: [failing] }, { level: 'write', onProgress });
    expect(findings['path:projects.delete']?.state).toBe('not-checked');
    const name = expect.stringMatching(/^audience-check 2026-11-09T12:12:\d\dZ [0-9a-f]{32}$/);
    expect(onProgress).toHaveBeenCalledWith('left', name);
  });

  it('confirms no idempotency key if it has not seen a replay', async () => {
    const keys = new Set<string | null>();
    const failing = answers(({ operation, headers }) => {
      const key = headers.get('idempotency-key');
      if (operation !== 'projects.create' || !keys.has(key)) return void keys.add(key);
      return failure(500, 'A used key.');
    });
    const { findings } = await check({ traits: [failing] }, { level: 'write' });
    expect(findings['idempotency:projects.create']?.state).toBe('not-checked');
  });

  it('confirms no key if the request with another body fails', async () => {
    const failing = answers(({ operation, body }) =>
      operation === 'projects.create' && / again$/.test(Object(body).name) ? failure(500, 'Not now.') : undefined,
    );
    const { findings } = await check({ traits: [failing] }, { level: 'write' });
    expect(findings['idempotency:projects.create']?.state).toBe('not-checked');
  });

  it('finds no time zone if the `Date` of the service is faster than the clock of the machine', async () => {
    const headers = (count: number) => ({ date: new Date(1_794_000_000_000 + count * 60_000).toUTCString() });
    let count = 0;
    const { findings, report } = await check(
      { traits: [() => ({ write: (answer) => ({ ...answer, headers: { ...answer.headers, ...headers(++count) } }) })] },
      { level: 'write' },
    );
    expect(findings['time-zone']?.state).toBe('not-checked');
    expect(report.contract.serverTimeZone).toBeUndefined();
  });
});

describe('compare', () => {
  const compared = async (before: ServiceDefinition, after: ServiceDefinition, level: 'read' | 'write' = 'read') => {
    const { contract: earlier } = (await check(before, { level: 'write' })).report;
    const { findings, contract } = (await check(after, { level, expected: earlier })).report;
    return compare(findings, contract, earlier);
  };

  it('has the old and the new path of an operation that has moved, and of one that is as assumed now', async () => {
    const { changes } = await compared(
      { contract: following({ list: '/*' }, ['projects']) },
      { contract: following({ list: '/?' }, ['cohorts']) },
    );
    expect(changes).toEqual([
      { id: 'operations.projects.list.path', was: '/api/v2/projects', is: '/api/v2/projects/index' },
      { id: 'operations.cohorts.list.path', was: '/api/v2/cohorts/index', is: '/api/v2/cohort' },
    ]);
  });

  it('reports a setting as unchecked if it was confirmed and now is only likely', async () => {
    const unreadable = answers(({ operation }) => (operation === 'cohorts.get' ? failure(500, 'Not now.') : undefined));
    const { unchecked } = await compared({}, { traits: [unreadable] });
    expect(unchecked).toEqual(['path:cohorts.get', 'shape:cohort']);
  });

  it('reports changed settings, and a path that the service refuses now', async () => {
    const contract: ServiceContract = {
      serverTimeZone: 'Etc/GMT-1',
      requestIdHeader: 'x-correlation-id',
      waits: { via: 'get' },
      paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 },
    };
    expect((await compared({}, { contract, missing: ['schedules.list'] }, 'write')).changes).toEqual([
      { id: 'paging.maxSize', was: 'as documented', is: 50 },
      { id: 'waits.via', was: 'list', is: 'get' },
      { id: 'requestIdHeader', was: 'x-request-id', is: 'x-correlation-id' },
      { id: 'serverTimeZone', was: 'UTC', is: 'Etc/GMT-1' },
      {
        id: 'path:schedules.list',
        was: 'confirmed',
        is: expect.stringContaining('None of the other paths that the check tried works.'),
      },
    ]);
  });
});
