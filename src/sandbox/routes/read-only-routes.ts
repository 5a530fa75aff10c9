import type { Hono } from 'hono';
import type { WebhookEndpoint } from '../../spec/webhook-endpoint.ts';
import { type Env, requireToken } from '../http/access.ts';
import { addRoute, pageIn, paramOf } from '../http/contract-adapter.ts';
import { failure, invalid, success } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { APPS_PAGE, FIRST_USAGE_MONTH, REFERENCE_PAGE } from '../service-limits.ts';
import type { Endpoint } from '../state.ts';
import { currentBudget } from './budget-use.ts';
import { REFERENCE } from './reference-data.ts';

/** Adds the routes for usage reports, reference data and the list of webhook endpoints. */
export function readOnlyRoutes(app: Hono<Env>, service: Service): void {
  const access = requireToken(service, 'read');

  addRoute(app, service, 'usage.get', access, (context) => {
    const now = service.clock.now();
    const current = new Date(now).toISOString().slice(0, 7);
    const yearmonth = context.req.query('yearmonth') ?? current;
    if (!/^\d{4}-(?:0[1-9]|1[0-2])$/.test(yearmonth) || yearmonth < FIRST_USAGE_MONTH || yearmonth > current) {
      return invalid({ yearmonth: [`The yearmonth must be from ${FIRST_USAGE_MONTH} to ${current}.`] });
    }
    const { company } = context.get('account');
    return success({ yearmonth, build_budget: currentBudget(company, now) }, 'Usage retrieved successfully.');
  });

  addRoute(app, service, 'reference.list', access, (context) => {
    const dataset = paramOf(context, 'dataset') ?? '';
    const name = paramOf(context, 'name') ?? '';
    const tables = Object.hasOwn(REFERENCE, dataset) ? REFERENCE[dataset] : undefined;
    const rows = tables && Object.hasOwn(tables, name) ? tables[name] : undefined;
    if (!rows) return failure(404, 'Reference table not found.');
    const [size, cap] = dataset === 'apps' ? [APPS_PAGE, Number.POSITIVE_INFINITY] : [REFERENCE_PAGE, REFERENCE_PAGE];
    return success(pageIn(rows, context, { size, cap }), 'Reference data retrieved successfully.');
  });

  addRoute(app, service, 'webhooks.list', access, (context) => {
    const endpoints = context.get('account').company.endpoints.map(showEndpoint).reverse();
    return success(endpoints, 'Webhook endpoints retrieved successfully.');
  });
}

/** Returns the documented fields of an endpoint, without its signing secret (specification, "Webhook endpoint"). */
function showEndpoint({ creator, secret, previous, consecutiveFailures, ...endpoint }: Endpoint): WebhookEndpoint {
  return endpoint;
}
