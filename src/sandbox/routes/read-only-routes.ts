import type { Hono } from 'hono';
import type { BuildBudget } from '../../schemas/usage-report.ts';
import type { WebhookEndpoint } from '../../schemas/webhook-endpoint.ts';
import { operations } from '../../spec/operations.ts';
import { type Env, requireToken } from '../http/access.ts';
import { failure, invalid, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { APPS_PAGE, FIRST_USAGE_MONTH, REFERENCE_PAGE } from '../service-limits.ts';
import type { Company, Endpoint } from '../state.ts';
import { REFERENCE } from './reference-data.ts';
import { buildWait, pageOf, routePath } from './resource-routes.ts';

/** Adds the routes of usage with the build budget, reference data, and the list of webhook endpoints. */
export function readOnlyRoutes(app: Hono<Env>, service: Service): void {
  const access = requireToken(service, 'read');

  app.get(operations['usage.get'].path, access, (context) => {
    const now = service.clock.now();
    const current = new Date(now).toISOString().slice(0, 7);
    const yearmonth = context.req.query('yearmonth') ?? current;
    if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(yearmonth) || yearmonth < FIRST_USAGE_MONTH || yearmonth > current) {
      return invalid({ yearmonth: [`The yearmonth must be from ${FIRST_USAGE_MONTH} to ${current}.`] });
    }
    const { company } = context.get('account');
    const build_budget = yearmonth === current ? currentBudget(company, now) : pastBudget(company);
    return success({ yearmonth, build_budget }, 'Usage retrieved successfully.');
  });

  app.get(routePath(operations['reference.list'].path), access, (context) => {
    const dataset = context.req.param('dataset') ?? '';
    const name = context.req.param('name') ?? '';
    const tables = Object.hasOwn(REFERENCE, dataset) ? REFERENCE[dataset] : undefined;
    const rows = tables && Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!rows) return failure(404, 'Reference table not found.');
    const [size, cap] = dataset === 'apps' ? [APPS_PAGE, Number.POSITIVE_INFINITY] : [REFERENCE_PAGE, REFERENCE_PAGE];
    return success(pageOf(rows, context, size, cap), 'Reference data retrieved successfully.');
  });

  app.get(operations['webhooks.list'].path, access, (context) => {
    const endpoints = context.get('account').company.endpoints.map(showEndpoint).reverse();
    return success(endpoints, 'Webhook endpoints retrieved successfully.');
  });
}

function currentBudget(company: Company, now: number): BuildBudget {
  const { hourlyBuilds, dailyBuilds } = company;
  const wait = buildWait(company, now);
  return {
    hour: { limit: hourlyBuilds.limit, used: hourlyBuilds.count(now) },
    day: { limit: dailyBuilds.limit, used: dailyBuilds.count(now) },
    retry_after_seconds: wait > 0 ? Math.ceil(wait / 1000) : null,
  };
}

/** Returns the build budget of a past month, with counts of 0. */
function pastBudget({ hourlyBuilds, dailyBuilds }: Company): BuildBudget {
  return {
    hour: { limit: hourlyBuilds.limit, used: 0 },
    day: { limit: dailyBuilds.limit, used: 0 },
    retry_after_seconds: null,
  };
}

/** Returns the documented fields; the signing secret must never appear (specification, "Webhook endpoint"). */
function showEndpoint({ creator, secret, previous, consecutiveFailures, ...endpoint }: Endpoint): WebhookEndpoint {
  return endpoint;
}
