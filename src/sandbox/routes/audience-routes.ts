import type { Hono } from 'hono';
import type { Audience, AudienceDataset } from '../../spec/audience.ts';
import type { Cohort } from '../../spec/cohort.ts';
import type { Estimate } from '../../spec/open-resources.ts';
import { formatTimestamp } from '../clock.ts';
import { type Env, requireToken } from '../http/access.ts';
import { addRoute, paramOf } from '../http/contract-adapter.ts';
import { isObject, type JsonObject } from '../http/request-body.ts';
import { type FieldErrors, failure, invalid, success } from '../http/responses.ts';
import { type JobResult, QUEUED, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import { MIN_SEED_DEVICES, TARGET_SIZE } from '../service-limits.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import {
  checkFilters,
  creatorOf,
  findById,
  incompleteText,
  missingText,
  readDatasets,
  readName,
  readProject,
} from './body-fields.ts';
import { eligibilityOf } from './eligibility.ts';
import type { Draft, ResourceType } from './resource-routes.ts';

interface Definition {
  readonly name: string;
  readonly dataset: readonly AudienceDataset[];
  readonly project: JsonObject | null;
  /** How the filters are combined. */
  readonly operator?: JsonObject | null;
  /** The seed of a lookalike. */
  readonly seed?: Audience;
  /** `true` if the audience is created from a cohort. */
  readonly isCohort?: boolean;
}

/** Creates an audience that is not built yet, so without devices. */
function createAudience({ state, clock }: Service, account: AccountRecord, definition: Definition): Mutable<Audience> {
  const { name, dataset, project, operator = null, seed, isCohort = false } = definition;
  const is_affinity = dataset.some(({ analysis_type }) => analysis_type === 'AffinityTransactions');
  const metrics = { unique_eids: 0, unique_scids: null, eid_scid_ratio: null, is_affinity };
  const now = formatTimestamp(clock.now());
  return {
    id: state.nextId++,
    name,
    status: statusOf(QUEUED),
    is_cohort: isCohort,
    is_lookalike: seed !== undefined,
    results_count: 0,
    is_activation_allowed: false,
    eligibility: { allowed: false, reasons: [], notices: [], metrics },
    source_audience: seed ? { id: seed.id, name: seed.name } : null,
    created_by: creatorOf(account),
    project,
    operator,
    dataset,
    created_at: now,
    updated_at: now,
  };
}

/** Adds the results of a build to an audience. */
function completeAudience(_: Service, audience: Mutable<Audience>, { eids = 0, scids = 0 }: JobResult): void {
  const { is_affinity } = audience.eligibility.metrics;
  const metrics = {
    unique_eids: eids,
    unique_scids: is_affinity ? scids : null,
    eid_scid_ratio: is_affinity && scids > 0 ? eids / scids : null,
    is_affinity,
  };
  audience.results_count = eids;
  audience.eligibility = { ...audience.eligibility, metrics };
}

function draftAudience(service: Service, body: JsonObject, account: AccountRecord): Draft<Audience> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled audience', errors);
  const dataset = readDatasets(body, service.clock.now(), errors);
  const project = readProject(body, account, errors);
  const operator = readOperator(body, errors);
  const cohort = readCohort(service, body, account, errors);
  checkFilters(body, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const isCohort = cohort !== undefined;
  const resource = createAudience(service, account, { name, dataset, project, operator, isCohort });
  if (cohort) return { name, resource, result: { eids: cohort.total_eids } };
  const info = { kind: 'audience', id: resource.id, name } as const;
  const { eids, scids } = service.jobs.countDevices(info, service.random.next());
  return { name, resource, result: { eids, scids } };
}

/** Reads how the filters of an audience are combined: a name such as `AND`, or an object (assumed). */
function readOperator({ operator }: JsonObject, errors: FieldErrors): JsonObject | null {
  if (operator === undefined || operator === null) return null;
  if (typeof operator === 'string') return { name: operator };
  if (isObject(operator)) return operator;
  errors.operator = ['The operator must be a string or an object.'];
  return null;
}

/** Reads the cohort to create an audience from. The cohort must be completed (assumed). */
function readCohort(
  { jobs }: Service,
  { cohort_id }: JsonObject,
  account: AccountRecord,
  errors: FieldErrors,
): Cohort | undefined {
  if (cohort_id === undefined || cohort_id === null) return undefined;
  const cohort = findById(account.cohorts, cohort_id);
  if (!cohort) errors.cohort_id = [missingText('cohort', cohort_id)];
  else if (!jobs.isCompleted('cohort', cohort.status.id)) errors.cohort_id = [incompleteText('cohort', cohort)];
  return cohort;
}

/**
 * Creates a lookalike from a body, which must contain a completed seed and a target size (specification, "Rules known
 * for creates", rule 5).
 */
function draftLookalike(service: Service, body: JsonObject, account: AccountRecord): Draft<Audience> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled lookalike', errors);
  const project = readProject(body, account, errors);
  const seed = findById(account.audiences, body.source_audience_id);
  if (!seed) errors.source_audience_id = [missingText('audience', body.source_audience_id)];
  else if (!service.jobs.isCompleted('audience', seed.status.id))
    errors.source_audience_id = [incompleteText('seed', seed)];
  else if (seed.results_count < MIN_SEED_DEVICES)
    errors.source_audience_id = [`The seed must have at least ${MIN_SEED_DEVICES} devices, not ${seed.results_count}.`];
  const size = isObject(body.config) ? body.config.target_size : undefined;
  const { min, max } = TARGET_SIZE;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < min || size > max) {
    errors['config.target_size'] = [`The target size must be an integer from ${min} to ${max}.`];
  }
  if (!seed || typeof size !== 'number' || Object.keys(errors).length > 0) return { errors };
  const resource = createAudience(service, account, { name, dataset: seed.dataset, project, seed });
  return { name, resource, result: { eids: size } };
}

function draftEstimate(service: Service, body: JsonObject, account: AccountRecord): Draft<Estimate> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled estimate', errors);
  readDatasets(body, service.clock.now(), errors);
  readProject(body, account, errors);
  checkFilters(body, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const id = service.state.nextId++;
  const { eids } = service.jobs.countDevices({ kind: 'estimate', id, name }, service.random.next());
  const resource: Mutable<Estimate> = { id, name, status: statusOf(QUEUED), unique_eids: null };
  return { name, resource, result: { eids } };
}

export function showAudience({ clock }: Service, audience: Audience): unknown {
  const eligibility = eligibilityOf(audience, clock.now());
  return { ...audience, eligibility, is_activation_allowed: eligibility.allowed ? 1 : false };
}

export const AUDIENCES: ResourceType<Audience> = {
  name: 'audiences',
  label: 'Audience',
  kind: 'audience',
  resourcesOf: (account) => account.audiences,
  draft: draftAudience,
  complete: completeAudience,
  show: showAudience,
};

/** Lookalikes, which the service stores as audiences. */
export const LOOKALIKES: ResourceType<Audience> = {
  ...AUDIENCES,
  name: 'lookalikes',
  label: 'Lookalike',
  kind: 'lookalike',
  draft: draftLookalike,
};

export const ESTIMATES: ResourceType<Estimate> = {
  name: 'estimates',
  label: 'Estimate',
  kind: 'estimate',
  resourcesOf: (account) => account.estimates,
  draft: draftEstimate,
  complete(_, estimate, { eids = 0 }) {
    estimate.unique_eids = eids;
  },
};

export function cancelRoute(app: Hono<Env>, service: Service): void {
  addRoute(app, service, 'lookalikes.cancel', requireToken(service, 'write'), (context) => {
    const audience = findById(context.get('account').audiences, paramOf(context, 'id'));
    if (!audience?.is_lookalike) return failure(404, 'Lookalike not found.');
    if (service.jobs.cancel(audience.id)) return success([], 'Cancel requested.');
    const { id } = audience.status;
    return invalid({
      status: [`The lookalike has already ended with status ${id}. Only a running lookalike can be cancelled.`],
    });
  });
}
