import type { Hono } from 'hono';
import { operations } from '../../operations.ts';
import { invalid, success } from '../answers.ts';
import { accept, bearer, type Env, metered } from '../gates.ts';
import { FIRST_USAGE_MONTH } from '../limits.ts';
import type { Service } from '../service.ts';

/** Usage with the build budget, and the list of webhook endpoints. */
export function reportRoutes(app: Hono<Env>, service: Service): void {
  const reads = [accept, bearer(service), metered(service, 'read')] as const;

  app.get(operations['usage.get'].path, ...reads, (context) => {
    const { clock, limits } = service;
    const yearmonth = context.req.query('yearmonth') ?? '';
    const now = clock.now();
    const current = new Date(now).toISOString().slice(0, 7);
    if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(yearmonth) || yearmonth < FIRST_USAGE_MONTH || yearmonth > current) {
      return invalid({ yearmonth: [`The yearmonth must be from ${FIRST_USAGE_MONTH} to ${current}.`] });
    }
    const { hour, day } = context.get('account').company;
    const wait = Math.max(hour.wait(now), day.wait(now));
    const build_budget = {
      hour: { limit: limits.buildsPerHour, used: hour.count(now) },
      day: { limit: limits.buildsPerDay, used: day.count(now) },
      retry_after_seconds: wait > 0 ? Math.ceil(wait / 1000) : null,
    };
    return success({ yearmonth, build_budget }, 'Usage retrieved successfully.');
  });

  app.get(operations['webhooks.list'].path, ...reads, (context) =>
    success([...context.get('account').company.endpoints].reverse(), 'Webhook endpoints retrieved successfully.'),
  );
}
