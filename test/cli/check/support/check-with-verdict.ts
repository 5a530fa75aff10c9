import { type CheckOptions, checkService, verdictOf } from '../../../../src/cli/check/index.ts';

/** Checks a service. Returns the report with its verdict. */
export async function checkWithVerdict(options: CheckOptions) {
  const report = await checkService(options);
  return { ...report, verdict: verdictOf(report, 'service.json') };
}
