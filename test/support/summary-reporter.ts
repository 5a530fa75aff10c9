import type { Reporter, TestModule } from 'vitest/node';
import { POSTGRES_BIN } from '../../examples/support/postgres.ts';
import { REDIS_SERVER } from '../../scripts/redis-server.ts';
import { postgresMissing, redisMissing, terminalMissing } from '../../vitest.config.ts';
import { MISSING_ENGINES } from './engines.ts';

/** Ends the run with `N passed, N failed`, and names the suites that were not run. */
export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed++;
      for (const test of module.children.allTests()) count[test.result().state]++;
    }
    // Print after the coverage report, which is printed later than this.
    process.once('exit', () => {
      for (const { name, programs } of MISSING_ENGINES)
        console.log(`Not run: the suites in ${name} (one of ${programs.join(', ')} is missing; see CONTRIBUTING.md).`);
      if (redisMissing) console.log(`Not run: the Redis suites (no server at ${REDIS_SERVER}; see REDIS_SERVER_PATH).`);
      if (postgresMissing)
        console.log(`Not run: the suite of pg-boss (no PostgreSQL in ${POSTGRES_BIN}; see POSTGRES_BIN_PATH).`);
      if (terminalMissing) console.log('Not run: the suite of the command in a terminal (no `script` of util-linux).');
      if (count.skipped + count.pending > 0) console.log(`Not run: ${count.skipped + count.pending} tests.`);
      console.log(`${count.passed} passed, ${count.failed} failed`);
    });
  }
}
