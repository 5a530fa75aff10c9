import { defineConfig } from 'vitest/config';

/** The tests that mutants of the modules named in `stryker.json` have to survive. */
export default defineConfig({
  test: {
    globalSetup: 'test/support/control-setup.ts',
    testTimeout: 10_000,
    include: [
      'test/transport/{budget,envelope,errors,limiter,retries,retry,sliding-log,timing,tokens}.test.ts',
      'test/auth/stored-token-source.test.ts',
      'test/client/token-sources.test.ts',
      'test/reliability/limits.test.ts',
    ],
  },
});
