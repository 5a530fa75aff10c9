import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { browserSteps } from './package/browsers.ts';
import { bundleSteps } from './package/bundles.ts';
import { run } from './package/commands.ts';
import { jestSteps } from './package/jest.ts';
import { errorStep, exampleStep, importSteps, licenceStep, nodeSteps } from './package/nodes.ts';
import { openApiSteps } from './package/openapi.ts';
import { peerSteps } from './package/peers.ts';
import { openFolder, openProjects, type Projects, ROOT } from './package/project.ts';
import { type Result, runSteps, type Step } from './package/report.ts';
import { runtimeSteps } from './package/runtimes.ts';
import { telemetrySteps } from './package/telemetry.ts';
import { typeSteps } from './package/types.ts';

/**
 * Packs the package, installs it as a user would, and uses it on every supported platform. `--built` uses `dist` as it is.
 */
const { values } = parseArgs({
  options: { built: { type: 'boolean', default: false } },
});

const stepsOf = (projects: Projects): Step[] => [
  licenceStep(projects),
  errorStep(projects),
  exampleStep(projects),
  ...importSteps(projects),
  ...bundleSteps(projects),
  ...nodeSteps(projects),
  ...runtimeSteps(projects),
  ...browserSteps(projects),
  ...typeSteps(projects),
  ...telemetrySteps(projects),
  ...peerSteps(projects),
  ...openApiSteps(projects),
  ...jestSteps(projects),
];

async function tryAll(folder: string): Promise<Result> {
  if (!values.built) await run('npm', ['run', '-s', 'build'], { cwd: ROOT, timeout: 120_000 });
  const projects = await openProjects(folder);
  return runSteps(stepsOf(projects), (line) => console.log(line));
}

const folder = await openFolder();
const clean = (): Promise<void> => rm(folder, { recursive: true, force: true });
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => clean().finally(() => process.exit(code)));
}
try {
  const { passed, failed } = await tryAll(folder);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await clean();
}
