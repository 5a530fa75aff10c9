import type { Hono } from 'hono';
import type { Audience, AudienceDataset } from '../../schemas/audience.ts';
import { operations } from '../../spec/operations.ts';
import { wireTime } from '../clock.ts';
import type { Env } from '../http/access.ts';
import { invalid, refusal, success } from '../http/responses.ts';
import { COMPLETED, type FoundDevices, QUEUED, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import { SEED_MINIMUM, TARGET_SIZE } from '../service-limits.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import {
  type Body,
  checkFilters,
  creatorOf,
  type Errors,
  findById,
  isBody,
  readDataset,
  readName,
  readProject,
} from './body-fields.ts';
import { eligibilityOf } from './eligibility.ts';
import { type Collection, createRoute, honoPath, type Reading, readRoutes, writeGates } from './resource-routes.ts';

interface Definition {
  readonly id: number;
  readonly name: string;
  readonly dataset: readonly AudienceDataset[];
  readonly project: Body | null;
  readonly seed?: Audience;
}

/** An audience before it is built: nothing is known of its devices. */
function make({ clock }: Service, account: AccountRecord, definition: Definition): Mutable<Audience> {
  const { id, name, dataset, project, seed } = definition;
  const is_affinity = dataset.some(({ analysis_type }) => analysis_type === 'AffinityTransactions');
  const metrics = { unique_eids: 0, unique_scids: null, eid_scid_ratio: null, is_affinity };
  const now = wireTime(clock.now());
  return {
    id,
    name,
    status: statusOf(QUEUED),
    is_cohort: false,
    is_lookalike: seed !== undefined,
    results_count: 0,
    is_activation_allowed: false,
    eligibility: { allowed: false, reasons: [], notices: [], metrics },
    source_audience: seed ? { id: seed.id, name: seed.name } : null,
    created_by: creatorOf(account),
    project,
    operator: null,
    dataset,
    created_at: now,
    updated_at: now,
  };
}

/** What a build has found. */
function complete(audience: Mutable<Audience>, { eids, scids }: FoundDevices): void {
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

/** What an audience is built from, by an account. */
export function readAudience(service: Service, body: Body, account: AccountRecord): Reading<Audience> {
  const errors: Errors = {};
  const name = readName(body, 'name', 'Untitled audience', errors);
  const dataset = readDataset(body, service.clock.now(), errors);
  const project = readProject(body, account, errors);
  checkFilters(body, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const id = service.state.nextId++;
  const devices = service.jobs.devices({ kind: 'audience', id, name }, service.random.next());
  const resource = make(service, account, { id, name, dataset, project });
  return { name, resource, completed: () => complete(resource, devices) };
}

/** A lookalike: a completed seed of 1,000 devices, and a target size ("Rules known for creates", rule 5). */
function readLookalike(service: Service, body: Body, account: AccountRecord): Reading<Audience> {
  const errors: Errors = {};
  const name = readName(body, 'name', 'Untitled lookalike', errors);
  const project = readProject(body, account, errors);
  const seed = findById(account.audiences, body.source_audience_id);
  if (seed?.status.id !== COMPLETED) errors.source_audience_id = ['The seed must be a completed audience.'];
  else if (seed.results_count < SEED_MINIMUM)
    errors.source_audience_id = [`The seed must hold at least ${SEED_MINIMUM} devices.`];
  const size = isBody(body.config) ? body.config.target_size : undefined;
  const { min, max } = TARGET_SIZE;
  if (typeof size !== 'number' || !Number.isInteger(size) || size < min || size > max) {
    errors['config.target_size'] = [`The target size must be an integer from ${min} to ${max}.`];
  }
  if (!seed || typeof size !== 'number' || Object.keys(errors).length > 0) return { errors };
  const id = service.state.nextId++;
  const resource = make(service, account, { id, name, dataset: seed.dataset, project, seed });
  return { name, resource, completed: () => complete(resource, { eids: size, scids: 0 }) };
}

/** An audience as its GET returns it. */
export function showAudience({ clock }: Service, audience: Audience): unknown {
  const eligibility = eligibilityOf(audience, clock.now());
  return { ...audience, eligibility, is_activation_allowed: eligibility.allowed ? 1 : false };
}

/** Audiences and the lookalikes grown from them, which are audiences, too. */
export function audienceRoutes(app: Hono<Env>, service: Service): void {
  const wire = (audience: Audience): unknown => showAudience(service, audience);
  const common = { label: 'Audience', of: (account: AccountRecord) => account.audiences, wire };
  const audiences: Collection<Audience> & { readonly name: 'audiences' } = {
    ...common,
    name: 'audiences',
    kind: 'audience',
    read: (body, account) => readAudience(service, body, account),
  };
  readRoutes(app, service, audiences);
  createRoute(app, service, audiences);
  createRoute(app, service, {
    ...common,
    name: 'lookalikes',
    kind: 'lookalike',
    label: 'Lookalike',
    read: (body, account) => readLookalike(service, body, account),
  });

  app.post(honoPath(operations['lookalikes.cancel'].path), ...writeGates(service), (context) => {
    const audience = findById(context.get('account').audiences, context.req.param('id'));
    if (!audience?.is_lookalike) return refusal(404, 'Lookalike not found.');
    if (!service.jobs.cancel(audience.id))
      return invalid({
        status: [`The lookalike has ended at ${audience.status.id}: only a running one can be cancelled.`],
      });
    return success([], 'Cancel requested.');
  });
}
