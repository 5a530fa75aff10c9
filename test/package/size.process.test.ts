import { describe, expect, it } from 'vitest';
import { sizeOfBundle, sizeOfChunks, sizeOfOwnCode } from '../../bench/support/bundle-size.ts';

/** The most that the built package may take in a browser, minified and compressed. KiB. */
const LIMITS = {
  client: { oneFile: 70, firstLoad: 70, everything: 70, ownCode: 55.5 },
  webhooks: { oneFile: 3.2, firstLoad: 3.2, everything: 3.2, ownCode: 3.2 },
} as const;

const IMPORTS = {
  client: "import { AudienceClient } from 'audience-activation'; globalThis.kept = AudienceClient;",
  webhooks: "import { verifyWebhook } from 'audience-activation/webhooks'; globalThis.kept = verifyWebhook;",
} as const;

describe.each(['client', 'webhooks'] as const)('the size of the %s', (part) => {
  const code = IMPORTS[part];
  const limits = LIMITS[part];
  const most = (kibibytes: number): number => kibibytes * 1_024;

  it(`is at most ${limits.oneFile} KiB as one file`, async () => {
    const { gzip } = await sizeOfBundle(code);
    expect(gzip).toBeGreaterThan(1_000);
    expect(gzip).toBeLessThanOrEqual(most(limits.oneFile));
  });

  it(`is at most ${limits.firstLoad} KiB at first and ${limits.everything} KiB in all, split into chunks`, async () => {
    const { first, everything } = await sizeOfChunks(code);
    expect(first.gzip).toBeGreaterThan(1_000);
    expect(first.gzip).toBeLessThanOrEqual(most(limits.firstLoad));
    expect(everything.gzip).toBeGreaterThanOrEqual(first.gzip);
    expect(everything.gzip).toBeLessThanOrEqual(most(limits.everything));
  });

  it(`is at most ${limits.ownCode} KiB without other packages`, async () => {
    const own = await sizeOfOwnCode(code);
    expect(own.gzip).toBeGreaterThan(1_000);
    expect(own.gzip).toBeLessThanOrEqual(most(limits.ownCode));
    expect(own.raw).toBeLessThanOrEqual((await sizeOfBundle(code)).raw);
  });
});

describe('the size of all that webhooks export', () => {
  it('is at most 5.9 KiB', async () => {
    const { gzip } = await sizeOfBundle("export * from 'audience-activation/webhooks';");
    expect(gzip).toBeGreaterThan(1_000);
    expect(gzip).toBeLessThanOrEqual(5.9 * 1_024);
  });
});

describe('the size of openApiDocument', () => {
  it('is at most 30 KiB, because its import does not contain the client', async () => {
    const { gzip } = await sizeOfBundle("export { openApiDocument } from 'audience-activation';");
    expect(gzip).toBeGreaterThan(10_000);
    expect(gzip).toBeLessThanOrEqual(30 * 1_024);
  });
});

describe('the size of chunks', () => {
  it('counts what is imported later in all, and not at first', async () => {
    const later = "globalThis.kept = () => import('audience-activation');";
    const { first, everything } = await sizeOfChunks(later);
    expect(first.gzip).toBeLessThan(1_000);
    expect(everything.gzip - first.gzip).toBeGreaterThan((await sizeOfBundle(IMPORTS.client)).gzip / 2);
  });
});
