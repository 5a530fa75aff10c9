import { expect, test } from 'vitest';
import { checkService } from '../../../src/cli/check/check.ts';
import { compare } from '../../../src/cli/check/settings.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { someOf } from '../../support/volume.ts';
import { problemsOf, type Variant } from './support/judge.ts';
import { Service } from './support/service.ts';
import { variants } from './variants.ts';

const time = inVirtualTime();

async function check(variant: Variant, expected?: ServiceContract) {
  const service = new Service(variant);
  const before = { ...service.lists };
  const { baseUrl, token, fetch } = service;
  const level = variant.writes ? 'write' : 'read';
  const checking = checkService({ baseUrl, token, level, fetch, expected });
  return { service, before, report: await time.until(checking) };
}

test.each(Object.entries(variants))('the check reports what is true of %s, and harms nothing', async (_, variant) => {
  const { service, before, report } = await check(variant);
  expect(problemsOf(variant, report, service, before)).toEqual([]);
});

const complete = Object.entries(variants).filter(([, { stopped, mayStop }]) => !stopped && !mayStop);

test.each(someOf(complete))(
  'a second check with the settings of the first one finds no change of %s',
  async (_, variant) => {
    const { report: first } = await check(variant);
    const settings: ServiceContract = JSON.parse(JSON.stringify(first.contract));
    const { report: second } = await check(variant, settings);
    expect(compare(second.findings, second.contract, settings)).toEqual({ changes: [], unchecked: [] });
    expect({ ...second.contract, checked: undefined }).toEqual({ ...settings, checked: undefined });
    expect(second.requests.read).toBeLessThanOrEqual(first.requests.read);
  },
);
