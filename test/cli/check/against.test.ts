import { describe, expect, onTestFinished, test } from 'vitest';
import { type CheckLevel, checkService, compare } from '../../../src/cli/check/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { following, REST, SINGULAR } from './support/contracts.ts';
import type { ServiceDefinition } from './support/emulation.ts';
import { answers, ignoresKeys, statusIds } from './support/traits.ts';
import { startVariant } from './support/variant-service.ts';

async function check(service: ServiceDefinition, level: CheckLevel, expected?: ServiceContract) {
  const running = await startVariant(service);
  onTestFinished(() => running.close());
  const { baseUrl, token, fetch, clock } = running;
  return checkService({ baseUrl, token, level, fetch, clock, expected });
}

/** Checks a service before and after a change, and compares. */
async function compared(
  before: ServiceDefinition,
  after: ServiceDefinition,
  level: CheckLevel = 'read',
  second = level,
) {
  const { contract } = await check(before, level);
  return compare(await check(after, second, contract), contract);
}

describe('compare', () => {
  test('has the old and the new request of a path that has moved', async () => {
    const { changes, unchecked } = await compared(
      { contract: REST },
      { contract: following({ list: '/?', create: '/*', delete: 'DELETE /*/{id}' }) },
    );
    expect(changes[0]).toEqual({
      id: 'path:audiences.list',
      was: 'GET /api/v2/audiences',
      is: 'GET /api/v2/audience',
    });
    expect(changes).toHaveLength(5);
    expect(unchecked).toEqual([]);
  });

  test('finds a path that was as assumed, and is not any longer', async () => {
    const { changes } = await compared({}, { contract: SINGULAR }, 'write');
    expect(changes).toContainEqual({
      id: 'path:projects.delete',
      was: 'POST /api/v2/projects/{id}/delete',
      is: 'DELETE /api/v2/project/{id}',
    });
  });

  test('finds a path that differed, and is as assumed now', async () => {
    const { changes } = await compared({ contract: following({ list: '/*' }, ['projects']) }, {});
    expect(changes).toEqual([
      { id: 'path:projects.list', was: 'GET /api/v2/projects', is: 'GET /api/v2/projects/index' },
    ]);
  });

  test('finds a path that is refused now, and other settings', async () => {
    const { changes } = await compared(
      {},
      {
        missing: ['schedules.list'],
        contract: {
          serverTimeZone: 'Etc/GMT-1',
          requestIdHeader: 'x-correlation-id',
          waits: { via: 'get' },
          paging: { style: 'page', param: 'page', size: 'per_page', maxSize: 50 },
        },
        traits: [ignoresKeys, statusIds('cohort', { 5: { id: 8, name: 'Failed' } })],
      },
      'write',
    );
    expect(changes).toEqual([
      { id: 'path:schedules.list', was: 'GET /api/v2/schedules/index', is: 'refused' },
      { id: 'page-size', was: 'as documented', is: '50' },
      { id: 'waits.via', was: 'list', is: 'get' },
      { id: 'request-id-header', was: 'x-request-id', is: 'x-correlation-id' },
      { id: 'idempotency:projects.create', was: 'retry: idempotency-key', is: 'retry: never' },
      { id: 'time-zone', was: 'UTC', is: 'Etc/GMT-1' },
    ]);
  });

  test('has what was confirmed and could not be checked, but not what only a higher level checks', async () => {
    const broken = answers(({ path }) =>
      path.includes('/cohorts/') ? { status: 500, headers: {}, body: '' } : undefined,
    );
    const { changes, unchecked } = await compared({}, { traits: [broken] }, 'write', 'read');
    expect(changes).toEqual([]);
    expect(unchecked).toEqual(['path:cohorts.get', 'path:cohorts.list', 'shape:cohort']);
  });
});
