import { describe, expect, onTestFinished, test } from 'vitest';
import { checkService, compare } from '../../../src/cli/check/index.ts';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { someOf } from '../../support/volume.ts';
import { blindVariants } from './blind-variants.ts';
import { checkWithVerdict } from './support/check-with-verdict.ts';
import type { Variant } from './support/expectations.ts';
import { AUDIENCES, accountState, NO_LIMITS, ORIGIN, OWNER } from './support/filled-account.ts';
import { tryVariant } from './support/try-variant.ts';
import { startVariant } from './support/variant-service.ts';
import { unseenVariants } from './unseen-variants.ts';
import { variants } from './variants.ts';

test.each(someOf(variants))('$level: the check reports what is true of $name, and leaves no trace', async (variant) => {
  const { problems } = await tryVariant(variant, checkWithVerdict);
  expect(problems).toEqual([]);
});

/** Checks a service, with the settings of an earlier check if there was one. */
async function check({ service, level, prepare }: Variant, expected?: ServiceContract) {
  const running = await startVariant(service);
  onTestFinished(() => running.close());
  prepare?.(running.sandbox);
  const { baseUrl, token, fetch, clock } = running;
  return checkService({ baseUrl, token, level, fetch, clock, expected });
}

/** Checks a sandbox that has the settings of another service. */
async function checkSandbox({ level }: Variant, settings: ServiceContract) {
  const contract = { ...settings, checked: undefined };
  const sandbox = createSandbox({
    clock: 'manual',
    origin: ORIGIN,
    state: await accountState(true),
    limits: NO_LIMITS,
    contract,
  });
  onTestFinished(() => sandbox.close());
  return checkService({
    baseUrl: ORIGIN,
    token: sandbox.accounts.get(OWNER.email).token('api'),
    level,
    fetch: sandbox.fetch,
    // On this clock, a timeout would end before its request does.
    requestTimeout: Number.POSITIVE_INFINITY,
    clock: { now: () => sandbox.now(), sleep: (ms) => sandbox.advance(ms) },
    expected: settings,
  });
}

const complete = [...variants, ...blindVariants, ...unseenVariants].filter(({ stopped }) => stopped === undefined);

describe('a second check with the settings of the first one', () => {
  test.each(someOf(complete))('finds no change of $name, and needs no more requests', async (variant) => {
    const first = await check(variant);
    const settings: ServiceContract = JSON.parse(JSON.stringify(first.contract));
    const second = await check(variant, settings);
    expect(compare(second, settings)).toEqual({ changes: [], unchecked: [] });
    expect(second.contract.operations).toEqual(first.contract.operations);
    expect(second.requests.read).toBeLessThanOrEqual(first.requests.read);
    expect(second.requests.write).toBeLessThanOrEqual(first.requests.write);
  });
});

describe('the settings that a check has found', () => {
  const filled = complete.filter(({ service }) => service?.isFilled !== false);

  test.each(someOf(filled))('are those of a sandbox and of a client for $name', async (variant) => {
    const { contract: settings, findings } = await check(variant);
    // The sandbox always knows keys.
    const repeats = Object.values(settings.operations ?? {}).every((operation) => operation?.retry !== 'never');
    if (repeats) expect(compare(await checkSandbox(variant, settings), settings).changes).toEqual([]);
    const isFound = ['path:audiences.list', 'paging'].every((id) =>
      findings.some((finding) => finding.id === id && (finding.state === 'confirmed' || finding.setting !== undefined)),
    );
    if (!isFound) return;
    const running = await startVariant(variant.service);
    onTestFinished(() => running.close());
    const { baseUrl, token, fetch } = running;
    const rateLimits = { read: { limit: 1_000, interval: 60_000 } };
    await using client = new AudienceClient({ baseUrl, token, fetch, contract: settings, rateLimits, logLevel: 'off' });
    const rows = variant.service?.traits ? undefined : await client.audiences.list().toArray();
    if (rows) expect(rows).toHaveLength(AUDIENCES);
  });
});
