import { existsSync } from 'node:fs';
import { playwright } from '@vitest/browser-playwright';
import { msw } from 'msw/vite';
import { defineConfig } from 'vitest/config';
import type { BrowserProviderOption } from 'vitest/node';
import { POSTGRES_BIN } from './examples/support/postgres.ts';
import { CHROMIUM } from './scripts/chromium.ts';
import { REDIS_SERVER } from './scripts/redis-server.ts';
import { engineProvider } from './test/support/engine-provider.ts';
import { ENGINES } from './test/support/engines.ts';
import { SlowestFirst } from './test/support/slowest-first.ts';

const inCi = process.env.CI === 'true';

/** Outside CI, a machine may lack Chromium; its suites are then named and not run. */
export const browserMissing = !existsSync(CHROMIUM.executablePath) && !inCi;

/** The same for Redis. */
export const redisMissing = !existsSync(REDIS_SERVER) && !inCi;

/** The same for PostgreSQL. */
export const postgresMissing = !existsSync(`${POSTGRES_BIN}/initdb`) && !inCi;

/** The same for `script` of util-linux, which runs commands in a pseudo-terminal. */
export const terminalMissing = !(process.platform === 'linux' && existsSync('/usr/bin/script')) && !inCi;

const shared = {
  globalSetup: 'test/support/control-setup.ts',
  // Tests and their conditions have as long as a busy machine takes.
  testTimeout: 600_000,
  expect: { poll: { timeout: 180_000, interval: 10 } },
  hookTimeout: 600_000,
};

/** `npm test`: everything that needs no second process, no browser and no built package. */
const node = {
  test: {
    ...shared,
    name: 'node',
    setupFiles: ['test/support/contract-setup.ts'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.{process,engines,browser}.test.ts'],
    // Tests share no state, and do not wait: more workers than cores would only load the modules more often.
    isolate: false,
    maxWorkers: 2,
    // Most objects of a test are short-lived.
    execArgv: ['--max-semi-space-size=64'],
  },
};

/** Processes, browsers driven from Node, Redis, the built package. */
const processes = {
  test: {
    ...shared,
    name: 'process',
    include: ['test/**/*.process.test.ts'],
    exclude: [
      ...(browserMissing
        ? [
            'test/examples/browser{,-session,-progress}.*',
            'test/node/sign-in-chromium.*',
            'test/sandbox/console/pages.*',
          ]
        : []),
      ...(redisMissing ? ['test/redis/**', 'test/examples/{fleet,queue-worker}.*'] : []),
      ...(postgresMissing ? ['test/examples/pg-boss-worker.*'] : []),
      ...(terminalMissing ? ['test/cli/terminal/terminal.*'] : []),
    ],
    // Processes are awaited more than they compute.
    maxWorkers: 3,
    sequence: { groupOrder: 1 },
  },
};

/** Real tabs, files and connections, in each browser engine. */
const engines = {
  test: {
    ...shared,
    name: 'engines',
    include: ['test/**/*.engines.test.ts'],
    maxWorkers: 2,
    sequence: { groupOrder: 5 },
  },
};

/** Code that differs by engine: `fetch`, transfers, and what is made for pages. */
const browser = (name: string, provider: BrowserProviderOption) => ({
  // Serves the worker file of msw.
  plugins: [msw({ mode: 'worker-only' })],
  optimizeDeps: {
    include: ['ky', 'p-retry', 'p-throttle', 'uuid', 'zod/mini', 'hono', 'hono/cors', 'msw/browser', 'oauth4webapi'],
    // Needs Node: the servers of the sandbox, and what bundles the script of its console.
    exclude: ['@hono/node-server', 'esbuild'],
  },
  test: {
    ...shared,
    name,
    setupFiles: ['test/support/minimum-browser.ts'],
    include: [
      'test/**/*.browser.test.ts',
      'test/client/http/{request,send,timing}.test.ts',
      'test/oauth/authorized-requests.test.ts',
      'test/client/storage/{download,upload,upload-streams}.test.ts',
    ],
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider,
      instances: [{ browser: name as 'chromium', name }],
    },
    sequence: { groupOrder: 2 },
  },
});

export default defineConfig({
  test: {
    projects: [
      node,
      processes,
      ...ENGINES.map(({ name }) =>
        browser(name, name === 'chromium' ? playwright({ launchOptions: CHROMIUM }) : engineProvider(name)),
      ),
      ...(ENGINES.length === 0 ? [] : [engines]),
    ],
    reporters: ['default', './test/support/summary-reporter.ts'],
    sequence: { sequencer: SlowestFirst },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 90 },
    },
  },
});
