import type { BuildBudget } from '../../spec/usage-report.ts';
import type { Company } from '../state.ts';

/** Returns the milliseconds until an organization may start another build. */
export const buildWait = ({ hourlyBuilds, dailyBuilds }: Company, now: number): number =>
  Math.max(hourlyBuilds.retryAfter(now), dailyBuilds.retryAfter(now));

/** Returns the build budget of an organization, with the current numbers of builds. */
export function currentBudget(company: Company, now: number): BuildBudget {
  const { hourlyBuilds, dailyBuilds } = company;
  const wait = buildWait(company, now);
  return {
    hour: { limit: hourlyBuilds.limit, used: hourlyBuilds.count(now) },
    day: { limit: dailyBuilds.limit, used: dailyBuilds.count(now) },
    retry_after_seconds: wait > 0 ? Math.ceil(wait / 1000) : null,
  };
}
