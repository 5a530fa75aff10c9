import { existsSync } from 'node:fs';
import { playwright } from '@vitest/browser-playwright';
import { msw } from 'msw/vite';
import { defineConfig } from 'vitest/config';
import { CHROMIUM } from './scripts/chromium.ts';
import { REDIS_SERVER } from './scripts/redis-server.ts';

const inCi = process.env.CI === 'true';

/** Without CI, a machine may lack a browser; its suite is then named and not run. */
export const browserMissing = !existsSync(CHROMIUM.executablePath) && !inCi;

/** The same for Redis. */
export const redisMissing = !existsSync(REDIS_SERVER) && !inCi;

const shared = {
  globalSetup: 'test/support/control-setup.ts',
  testTimeout: 30_000,
  // Conditions are awaited for as long as a busy machine takes.
  expect: { poll: { timeout: 15_000 } },
  hookTimeout: 120_000,
};

/** What drives a browser from Node. */
const driving = browserMissing
  ? ['test/examples/browser{,-session,-layout}.test.ts', 'test/node/sign-in-chromium.test.ts']
  : [];

/** What starts a Redis. */
const onRedis = redisMissing ? ['test/redis/**', 'test/examples/fleet.test.ts'] : [];

const node = {
  test: {
    ...shared,
    name: 'node',
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.{timed,browser}.test.ts', ...driving, ...onRedis],
  },
};

/** What measures real time runs after all else, alone. */
const timed = {
  test: {
    ...shared,
    name: 'timed',
    include: ['test/**/*.timed.test.ts'],
    exclude: onRedis,
    maxWorkers: 1,
    sequence: { groupOrder: 1 },
  },
};

const browser = {
  // Serves the worker file of msw.
  plugins: [msw({ mode: 'worker-only' })],
  optimizeDeps: {
    include: ['ky', 'p-retry', 'p-throttle', 'uuid', 'zod/mini', 'hono', 'hono/cors', 'msw/browser', 'oauth4webapi'],
    exclude: ['@hono/node-server'],
  },
  test: {
    ...shared,
    name: 'chromium',
    include: ['test/transport/**/*.test.ts', 'test/**/*.browser.test.ts'],
    exclude: ['test/**/*.timed.test.ts'],
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: CHROMIUM }),
      instances: [{ browser: 'chromium' as const }],
    },
  },
};

export default defineConfig({
  test: {
    // Most of the time is waiting: for timers, and for processes.
    maxWorkers: 2,
    projects: browserMissing ? [node, timed] : [node, browser, timed],
    reporters: ['default', './test/support/summary-reporter.ts'],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      // A suite that did not run covers nothing: its absence is reported, and does not fail the run.
      ...(!browserMissing && !redisMissing && { thresholds: { lines: 90, branches: 90 } }),
    },
  },
});
