import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Short files that take long. Where vitest has no durations of an earlier run, such as in a fresh clone, it starts the
 * largest files first: the last of these would then run alone at the end. To renew the list, run a project with
 * `--reporter=json --outputFile=<file>`, and name what takes longer than most of the larger files.
 */
const SHORT_AND_SLOW: readonly string[] = [
  'cli/batch/run-killed.process',
  'cli/batch/run.process',
  'cli/guide.process',
  'examples/fleet.process',
  'examples/nightly-activation.process',
  'examples/pg-boss-worker.process',
  'examples/queue-worker.process',
  'oauth/conformance.process',
  'redis/token-processes.process',
];

const isShortAndSlow = ({ moduleId }: TestSpecification): boolean =>
  SHORT_AND_SLOW.some((name) => moduleId.endsWith(`/test/${name}.test.ts`));

/** Starts the slowest files first. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isShortAndSlow), ...sorted.filter((file) => !isShortAndSlow(file))];
  }
}
