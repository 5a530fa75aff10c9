import type { Context, Hono } from 'hono';
import { operations } from '../../operations.ts';
import type { Audience, AudienceDataset } from '../../schemas/audience.ts';
import { invalid, refusal, success } from '../answers.ts';
import { wireTime } from '../clock.ts';
import { accept, bearer, type Env, idempotent, metered, spendBuild } from '../gates.ts';
import { statusOf } from '../jobs.ts';
import { DAY, LOOKBACK_DAYS, PAGE_CAP, PAGE_DEFAULT } from '../limits.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { honoPath } from './paths.ts';

const QUEUED = 100;

interface Definition {
  readonly name: string;
  readonly dataset: readonly AudienceDataset[];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDataset(value: unknown): value is AudienceDataset {
  return (
    isRecord(value) &&
    typeof value.analysis_type === 'string' &&
    [value.start_date, value.end_date].every((date) => typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date))
  );
}

/** Reads a create body by the rules the specification knows; its fields are assumed. */
function readDefinition(body: unknown, now: number): { definition: Definition } | { errors: Record<string, string[]> } {
  if (!isRecord(body)) return { errors: { body: ['The body must be a JSON object.'] } };
  const { name = 'Untitled audience', dataset = [], project_id } = body;
  const errors: Record<string, string[]> = {};
  if (typeof name !== 'string') errors.name = ['The name must be a string.'];
  const datasets = Array.isArray(dataset) ? dataset : [];
  if (!Array.isArray(dataset) || !dataset.every(isDataset)) errors.dataset = ['The dataset is invalid.'];
  if (project_id !== undefined && project_id !== null) errors.project_id = ['The selected project id is invalid.'];
  const earliest = new Date(now - LOOKBACK_DAYS * DAY).toISOString().slice(0, 10);
  for (const [at, one] of datasets.entries()) {
    if (isDataset(one) && one.analysis_type === 'WebDomain' && one.start_date < earliest) {
      errors[`dataset.${at}.start_date`] = [`The start date must be within the last ${LOOKBACK_DAYS} days.`];
    }
  }
  if (Object.keys(errors).length > 0 || typeof name !== 'string') return { errors };
  return { definition: { name, dataset: datasets.filter(isDataset) } };
}

function build(service: Service, account: AccountRecord, { name, dataset }: Definition): Mutable<Audience> {
  const { state, clock, random } = service;
  const uniqueEids = 2_000 + Math.floor(random.next() * 100_000);
  const now = wireTime(clock.now());
  return {
    id: state.nextId++,
    name,
    status: statusOf(QUEUED),
    is_cohort: false,
    is_lookalike: false,
    results_count: uniqueEids,
    // On the wire the flag is the integer 1; the public type is what the client makes of it.
    is_activation_allowed: true,
    eligibility: {
      allowed: true,
      reasons: [],
      notices: [],
      metrics: { unique_eids: uniqueEids, unique_scids: null, eid_scid_ratio: null, is_affinity: false },
    },
    source_audience: null,
    created_by: { name: account.email.split('@')[0] ?? account.email, email: account.email },
    project: null,
    operator: null,
    dataset,
    created_at: now,
    updated_at: now,
  };
}

const onWire = (audience: Audience): Record<string, unknown> => ({
  ...audience,
  is_activation_allowed: audience.is_activation_allowed ? 1 : false,
});

function find(context: Context<Env>): Mutable<Audience> | undefined {
  return context.get('account').audiences.get(Number(context.req.param('id')));
}

/** A page of a list, newest first; `per_page` above the cap is cut to it. */
function pageOf<T>(rows: readonly T[], context: Context<Env>): T[] {
  const asked = Number(context.req.query('per_page') ?? PAGE_DEFAULT);
  const perPage = Number.isInteger(asked) && asked > 0 ? Math.min(asked, PAGE_CAP) : PAGE_DEFAULT;
  const page = Math.max(1, Math.trunc(Number(context.req.query('page') ?? 1)) || 1);
  return rows.slice((page - 1) * perPage, page * perPage);
}

/** Create, get, list and delete. */
export function audienceRoutes(app: Hono<Env>, service: Service): void {
  const reads = [accept, bearer(service), metered(service, 'read')] as const;
  const writes = [accept, bearer(service), metered(service, 'write')] as const;
  const missing = (): Response => refusal(404, 'Audience not found.');

  app.get(operations['audiences.list'].path, ...reads, (context) => {
    const newestFirst = [...context.get('account').audiences.values()].reverse();
    return success(pageOf(newestFirst, context).map(onWire), 'Audiences retrieved successfully.');
  });

  app.get(honoPath(operations['audiences.get'].path), ...reads, (context) => {
    const audience = find(context);
    return audience ? success([onWire(audience)], 'Audience retrieved successfully.') : missing();
  });

  app.post(operations['audiences.create'].path, ...writes, idempotent(service, 'audiences.create'), async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    const read = readDefinition(body, service.clock.now());
    if ('errors' in read) return invalid(read.errors);
    const account = context.get('account');
    const refused = spendBuild(service, account);
    if (refused) return refused;
    const audience = build(service, account, read.definition);
    account.audiences.set(audience.id, audience);
    service.jobs.start('audience', audience);
    return success([onWire(audience)], 'Audience created successfully.');
  });

  app.post(honoPath(operations['audiences.delete'].path), ...writes, (context) => {
    const audience = find(context);
    if (!audience) return missing();
    service.jobs.drop('audience', audience.id);
    context.get('account').audiences.delete(audience.id);
    return success([], 'Audience deleted successfully.');
  });
}
