import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { browserSteps } from './package/browsers.ts';
import { run } from './package/commands.ts';
import { openApiSteps } from './package/openapi.ts';
import { peerSteps } from './package/peers.ts';
import { placesWithoutStep, writePlaces } from './package/places.ts';
import { openProjects, ROOT, type Step } from './package/project.ts';
import { runtimeSteps } from './package/runtimes.ts';
import { typeSteps } from './package/types.ts';

/**
 * Packs the package, installs it as a user would, and runs the tasks of `programs/tasks.ts` in every supported place.
 *
 *   npm run test:package
 *   npm run test:package -- --built      uses `dist` as it is
 *   npm run test:package -- --only Deno  runs the steps whose names contain a text
 *   npm run test:package -- --write      writes the table of docs/support.md, which otherwise must show the same results
 */
const { built, only, write } = parseArgs({
  options: {
    built: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
}).values;

/** Steps that run at the same time. Most wait for one process. */
const CONCURRENCY = 3;

/** Runs the steps in order and prints each result, with its duration; returns the number of those that failed. */
async function runSteps(steps: readonly Step[]): Promise<number> {
  const waiting = steps.values();
  let failed = 0;
  const work = async (): Promise<void> => {
    for (const { name, work } of waiting) {
      const began = performance.now();
      const failure = await failureOf(work);
      const duration = `(${((performance.now() - began) / 1_000).toFixed(1)} s)`;
      if (failure !== undefined) failed += 1;
      console.log(failure === undefined ? `✓ ${name} ${duration}` : `✗ ${name} ${duration}\n${failure}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return failed;
}

async function failureOf(work: Step['work']): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const folder = await mkdtemp(join(tmpdir(), 'audience-activation-'));
const clean = (): Promise<void> => rm(folder, { recursive: true, force: true });
for (const [signal, code] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => clean().finally(() => process.exit(code)));
}
try {
  if (!built) await run(ROOT, 'npm', ['run', '-s', 'build']);
  const projects = await openProjects(folder, write);
  const kinds = [runtimeSteps, browserSteps, typeSteps, peerSteps, openApiSteps];
  const steps = kinds.flatMap((stepsOf) => stepsOf(projects)).filter(({ name }) => name.includes(only));
  const failed = await runSteps(steps);
  const stale = only === '' && !write ? placesWithoutStep() : [];
  for (const place of stale)
    console.log(`✗ docs/support.md has the place "${place}", in which no step has run the tasks`);
  if (write) writePlaces(only === '');
  console.log(`${steps.length - failed} passed, ${failed + stale.length} failed`);
  process.exitCode = failed + stale.length > 0 ? 1 : 0;
} finally {
  await clean();
}
// The service of the steps still listens.
process.exit();
