import type { Hono } from 'hono';
import type { BuildBudget } from '../../schemas/usage-report.ts';
import type { WebhookEndpoint } from '../../schemas/webhook-endpoint.ts';
import { operations } from '../../spec/operations.ts';
import type { Env } from '../http/access.ts';
import { invalid, refusal, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { APPS_PAGE, FIRST_USAGE_MONTH, REFERENCE_PAGE } from '../service-limits.ts';
import type { Company, Endpoint } from '../state.ts';
import { REFERENCE } from './reference-data.ts';
import { honoPath, pageOf, readGates } from './resource-routes.ts';

/** Usage with the build budget, reference data, and the list of webhook endpoints. */
export function reportRoutes(app: Hono<Env>, service: Service): void {
  const reads = readGates(service);

  app.get(operations['usage.get'].path, ...reads, (context) => {
    const { clock } = service;
    const now = clock.now();
    const current = new Date(now).toISOString().slice(0, 7);
    const yearmonth = context.req.query('yearmonth') ?? current;
    if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(yearmonth) || yearmonth < FIRST_USAGE_MONTH || yearmonth > current) {
      return invalid({ yearmonth: [`The yearmonth must be from ${FIRST_USAGE_MONTH} to ${current}.`] });
    }
    const { company } = context.get('account');
    const build_budget = yearmonth === current ? liveBudget(company, now) : pastBudget(company);
    return success({ yearmonth, build_budget }, 'Usage retrieved successfully.');
  });

  app.get(honoPath(operations['reference.list'].path), ...reads, (context) => {
    const dataset = context.req.param('dataset') ?? '';
    const name = context.req.param('name') ?? '';
    const tables = Object.hasOwn(REFERENCE, dataset) ? REFERENCE[dataset] : undefined;
    const rows = tables && Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!rows) return refusal(404, 'Reference table not found.');
    const [size, cap] = dataset === 'apps' ? [APPS_PAGE, Number.POSITIVE_INFINITY] : [REFERENCE_PAGE, REFERENCE_PAGE];
    const page = pageOf(rows, context, size, cap);
    return success(page, 'Reference data retrieved successfully.');
  });

  app.get(operations['webhooks.list'].path, ...reads, (context) =>
    success(context.get('account').company.endpoints.map(shown).reverse(), 'Webhook endpoints retrieved successfully.'),
  );
}

/** Limits and live counts of the build budget. */
function liveBudget({ hour, day }: Company, now: number): BuildBudget {
  const wait = Math.max(hour.wait(now), day.wait(now));
  return {
    hour: { limit: hour.limit, used: hour.count(now) },
    day: { limit: day.limit, used: day.count(now) },
    retry_after_seconds: wait > 0 ? Math.ceil(wait / 1000) : null,
  };
}

/** The build budget in the report of a past month: no count of it is live. */
function pastBudget({ hour, day }: Company): BuildBudget {
  return { hour: { limit: hour.limit, used: 0 }, day: { limit: day.limit, used: 0 }, retry_after_seconds: null };
}

/** The signing secret appears in no answer ("Webhook endpoint"). */
function shown({ creator, secret, previous, exhausted, ...endpoint }: Endpoint): WebhookEndpoint {
  return endpoint;
}
