import { describe, expect, onTestFinished, test } from 'vitest';
import { operations } from '../../../src/spec/operations.ts';
import { isObject } from '../../../src/util/json.ts';
import { someOf } from '../../support/volume.ts';
import { blindVariants } from './blind-variants.ts';
import { LISTED } from './support/emulation.ts';
import { EXPECTED, type Expectation, truthOf, type Variant } from './support/expectations.ts';
import { AUDIENCES } from './support/filled-account.ts';
import { judgeReport } from './support/judge.ts';
import { startVariant } from './support/variant-service.ts';
import { unseenVariants } from './unseen-variants.ts';
import { variants } from './variants.ts';

const all = [...variants, ...blindVariants, ...unseenVariants];

const allows = (expectation: Expectation | undefined, state: string): boolean =>
  typeof expectation === 'string' ? expectation === state : (expectation?.some((one) => one === state) ?? false);

describe('the table of variants', () => {
  test('has each name once, at one of the levels', () => {
    const names = all.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    expect(new Set(variants.map(({ level }) => level))).toEqual(new Set(['read', 'write', 'build']));
  });

  test('names only what differs from a service that is as assumed', () => {
    const idle = all.flatMap(({ name, level, expected = {} }) =>
      Object.entries(expected)
        .filter(([id, expectation]) => JSON.stringify(EXPECTED[level][id]) === JSON.stringify(expectation))
        .map(([id]) => `${name}: ${id}`),
    );
    expect(idle).toEqual([]);
  });

  test('refutes every assumption that a check can confirm', () => {
    const confirmed = Object.keys(EXPECTED.build).filter((id) => allows(EXPECTED.build[id], 'confirmed'));
    const refuted = all.flatMap(({ expected = {} }) =>
      Object.entries(expected).flatMap(([id, expectation]) => (allows(expectation, 'confirmed') ? [] : [id])),
    );
    expect(confirmed.filter((id) => !refuted.includes(id) && id !== 'path:reference.list')).toEqual([]);
  });
});

/** Returns the report that a variant expects, with the values that the service has. */
function idealReport({ level, service, expected, stopped }: Variant) {
  const contract = service?.contract ?? {};
  const findings = Object.entries({ ...EXPECTED[level], ...expected }).map(([id, expectation]) => {
    const [state = 'not-checked'] = expectation === 'unfound' ? ['not-checked' as const] : [expectation].flat();
    const truth = truthOf(id, contract);
    return { id, state, evidence: 'as it is', ...(truth && state !== 'not-checked' && { setting: truth }) };
  });
  return { findings, contract, ...(stopped !== undefined && { stopped: { exitCode: stopped } }) };
}

const STATES = ['confirmed', 'differs', 'likely', 'not-checked'] as const;

test.each(all)('what is expected of $name can be reported, and no finding may say just anything', (variant) => {
  const report = idealReport(variant);
  expect(judgeReport(variant, report)).toEqual([]);
  for (const finding of report.findings) {
    const accepted = STATES.filter((state) => {
      const findings = report.findings.map((one) => (one === finding ? { ...one, state } : one));
      return judgeReport(variant, { ...report, findings }).length === 0;
    });
    expect(accepted.length, finding.id).toBeLessThan(STATES.length);
  }
});

test.each(someOf(variants.filter(({ stopped }) => stopped === undefined)))(
  'a service for $name answers at the paths of its contract',
  async ({ service = {} }) => {
    const running = await startVariant(service);
    onTestFinished(() => running.close());
    expect((await running.resources()).filter(({ kind }) => kind === 'audiences')).toHaveLength(
      service.isFilled === false ? 0 : AUDIENCES,
    );
    for (const kind of LISTED) {
      const { path } = { ...operations[`${kind}.list`], ...service.contract?.operations?.[`${kind}.list`] };
      const response = await running.fetch(`${running.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${running.token}`, accept: 'application/json' },
      });
      const body: unknown = await response.json();
      expect([response.status, isObject(body) && body.status]).toEqual([200, 'success']);
    }
  },
);
