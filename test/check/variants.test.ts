import { describe, expect, onTestFinished, test } from 'vitest';
import { checkService, compare } from '../../src/check/index.ts';
import type { ServiceContract } from '../../src/spec/contract.ts';
import { blindVariants } from './blind-variants.ts';
import type { Variant } from './support/expectations.ts';
import { tryVariant } from './support/try-variant.ts';
import { startVariant } from './support/variant-service.ts';
import { variants } from './variants.ts';

test.each(variants)('$level: the check reports what is true of $name, and leaves no trace', async (variant) => {
  const { problems } = await tryVariant(variant, checkService);
  expect(problems).toEqual([]);
});

/** Checks a service, with the settings of an earlier check if there was one. */
async function check({ service, level, hasMcpToken, prepare }: Variant, expected?: ServiceContract) {
  const running = await startVariant(service);
  onTestFinished(() => running.close());
  prepare?.(running.sandbox);
  const { baseUrl, token, mcpToken, fetch, clock } = running;
  return checkService({ baseUrl, token, level, fetch, clock, expected, ...(hasMcpToken && { mcpToken }) });
}

const complete = [...variants, ...blindVariants].filter(({ stopped }) => stopped === undefined);

describe('a second check with the settings of the first one', () => {
  test.each(complete)('finds no change of $name, and needs no more requests', async (variant) => {
    const first = await check(variant);
    const settings: ServiceContract = JSON.parse(JSON.stringify(first.contract));
    const second = await check(variant, settings);
    expect(compare(second, settings)).toEqual({ changes: [], unchecked: [] });
    expect(second.contract.operations).toEqual(first.contract.operations);
    expect(second.requests.read).toBeLessThanOrEqual(first.requests.read);
    expect(second.requests.write).toBeLessThanOrEqual(first.requests.write);
  });
});
