import type { Level, Variant } from './expectations.ts';
import { countRequests, findCanaries, type JudgedReport, judgeReport, judgeRequests, mostPerMinute } from './judge.ts';
import { type RunningVariant, startVariant } from './variant-service.ts';

/** The check that is tried. */
type CheckService<Report extends JudgedReport> = (options: {
  readonly baseUrl: string;
  readonly token: string;
  readonly level: Level;
  readonly fetch: typeof fetch;
  readonly clock: RunningVariant['clock'];
}) => Promise<Report>;

/** Outcome of a check of a variant. */
export interface Trial {
  /** Everything that is wrong; empty if nothing is. */
  readonly problems: readonly string[];
  /** Requests by bucket. */
  readonly requests: ReturnType<typeof countRequests>;
  /** Most reads and writes in any minute. */
  readonly perMinute: { readonly read: number; readonly write: number };
  /** Findings that were judged. */
  readonly findings: number;
}

/** Checks a variant service, and judges the report, the requests, and the resources that are left. */
export async function tryVariant<Report extends JudgedReport>(
  variant: Variant,
  checkService: CheckService<Report>,
): Promise<Trial> {
  const { level, service, leaves = 0, prepare } = variant;
  const running = await startVariant(service);
  try {
    prepare?.(running.sandbox);
    const before = await running.resources();
    const { baseUrl, token, fetch, clock, requests } = running;
    const options = { baseUrl, token, level, fetch, clock };
    const report = await checkService(options);
    const after = await running.resources();
    const isSame = (a: object) => (b: object) => JSON.stringify(a) === JSON.stringify(b);
    const gone = before.filter((resource) => !after.some(isSame(resource)));
    const left = after.filter((resource) => !before.some(isSame(resource)));
    return {
      problems: [
        ...judgeReport(variant, report),
        ...judgeRequests(variant, running, new Set(before.map(({ id }) => id))),
        ...gone.map(({ kind, id }) => `${kind} ${id} was changed or is gone.`),
        ...(left.length > leaves ? left.map(({ kind, name }) => `${kind} "${name}" is left.`) : []),
        ...findCanaries(report, running).map((secret) => `The report contains "${secret}".`),
      ],
      requests: countRequests(requests),
      perMinute: { read: mostPerMinute(requests, 'read'), write: mostPerMinute(requests, 'write') },
      findings: report.findings.length,
    };
  } finally {
    await running.close();
  }
}
