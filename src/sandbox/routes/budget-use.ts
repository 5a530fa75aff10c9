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

/** Returns the build budget for a past month, with 0 as the numbers of builds. */
export function pastBudget({ hourlyBuilds, dailyBuilds }: Company): BuildBudget {
  return {
    hour: { limit: hourlyBuilds.limit, used: 0 },
    day: { limit: dailyBuilds.limit, used: 0 },
    retry_after_seconds: null,
  };
}
