import { defineConfig } from 'vitest/config';

/** Runs the tests that must detect mutants of the modules in `stryker.json`. */
export default defineConfig({
  test: {
    globalSetup: 'test/support/control-setup.ts',
    testTimeout: 10_000,
    include: [
      'test/client/http/{envelope,response-errors,retries,retry-policy,timing}.test.ts',
      'test/client/rate-limit/{build-budget,rate-limiter,sliding-window-log}.test.ts',
      'test/client/auth/*.test.ts',
      'test/client/token-sources.test.ts',
      'test/reliability/limits.test.ts',
    ],
  },
});
