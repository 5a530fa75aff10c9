import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/cli/check/findings.ts';
import { mergeFindings } from '../../../src/cli/check/settings.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { type OperationName, operations } from '../../../src/spec/operations.ts';

/** A contract with each setting of the schema. */
const EVERYTHING: ServiceContract = {
  $schema: './contract.schema.json',
  operations: {
    'audiences.create': {
      method: 'PUT',
      path: '/v9/audience',
      bucket: 'mint',
      retry: 'never',
      data: 'data.item',
    },
  },
  paging: { style: 'cursor', param: 'after', size: 'first', maxSize: 50, next: 'meta.next' },
  statuses: { 'audience 106': 'failed', 'cohort 9': 'completed' },
  serverTimeZone: 'Europe/Berlin',
  requestIdHeader: 'x-trace',
  waits: { via: 'get' },
};

const merge = (base: ServiceContract, findings: readonly Finding[] = []) =>
  mergeFindings(base, findings, 'read', '2026-11-28');

describe('mergeFindings', () => {
  it('keeps each setting of a contract that the check says nothing about, byte for byte', () => {
    const { contract, notes } = merge(EVERYTHING);
    const { checked, ...settings } = contract;
    expect(JSON.stringify(settings)).toBe(JSON.stringify(EVERYTHING));
    expect(notes).toContain('`paging.maxSize` 50 is unchanged, because the check did not confirm it.');
    expect(notes).toHaveLength(15);
  });

  it('replaces only what the check has found to be otherwise, and says why', () => {
    const evidence = '`GET /api/v2/cohorts` works.';
    const setting = { operations: { 'cohorts.list': { path: '/api/v2/cohorts' } } } as const;
    const base = { operations: { 'cohorts.list': { path: '/old', data: 'data.rows' } } } as const;
    const { contract, notes } = merge(base, [{ id: 'path:cohorts.list', state: 'differs', evidence, setting }]);
    expect(contract.operations).toEqual({ 'cohorts.list': { path: '/api/v2/cohorts', data: 'data.rows' } });
    expect(notes).toEqual([
      `\`operations.cohorts.list.path\` "/old" is replaced with "/api/v2/cohorts": ${evidence}`,
      '`operations.cohorts.list.data` "data.rows" is unchanged, because the check did not confirm it.',
    ]);
  });

  it('keeps what an earlier check has confirmed, and this one could not check', () => {
    const checked = { at: '2026-01-01', level: 'write', confirmed: ['time-zone', 'paging'], likely: [] } as const;
    const findings = [
      { id: 'time-zone', state: 'not-checked', evidence: 'This assumption needs --write.' },
      { id: 'paging', state: 'differs', evidence: 'No parameter works.' },
    ] as const;
    expect(merge({ checked }, findings).contract.checked).toEqual({
      at: '2026-11-28',
      level: 'write',
      confirmed: ['time-zone'],
      likely: [],
    });
  });

  it('loses no setting of any contract, whatever the check finds', () => {
    const text = fc.string({ minLength: 1 });
    const operation = fc.record({ path: text, data: text, retry: fc.constant('never' as const) }, { requiredKeys: [] });
    const names = Object.keys(operations) as OperationName[];
    const contracts: fc.Arbitrary<ServiceContract> = fc.record(
      {
        operations: fc.dictionary(fc.constantFrom(...names), operation),
        paging: fc.record(
          { style: fc.constantFrom('page', 'offset'), param: text, size: text, maxSize: fc.nat() },
          { requiredKeys: ['style', 'param'] },
        ),
        statuses: fc.dictionary(
          fc.nat().map((id) => `audience ${id}`),
          fc.constantFrom('failed', 'completed'),
        ),
        serverTimeZone: text,
        requestIdHeader: text,
        waits: fc.record({ via: fc.constantFrom('list', 'get') }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(contracts, contracts, (base, setting) => {
        const before = JSON.stringify(base);
        const { contract } = merge(base, [{ id: 'service', state: 'differs', evidence: 'It is so.', setting }]);
        expect(shapeOf(contract)).toEqual(expect.arrayContaining(shapeOf(base)));
        expect(JSON.stringify(base)).toBe(before);
        const { checked, $schema, ...untouched } = merge(base).contract;
        expect(JSON.stringify(untouched)).toBe(before);
      }),
    );
  });
});

/** Returns the names of all settings in a contract. */
function shapeOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null ? shapeOf(inner, `${path}/${key}`) : [`${path}/${key}`],
  );
}
