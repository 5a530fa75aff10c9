import type { JobKind, JobResult, JobStart } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, BuildDefinition } from '../state.ts';
import { draftActivation } from './activation-routes.ts';
import { draftAudience, draftEstimate, draftLookalike } from './audience-routes.ts';
import { draftCohort } from './cohort-routes.ts';
import type { Draft } from './resource-routes.ts';

/** A build that is ready to start. */
interface Build extends Pick<JobStart, 'kind' | 'name' | 'resource' | 'result'> {
  /** Adds its resource to the account. */
  add(): void;
}

/** Builds a resource again from its definition. Returns `undefined` if a create request would be refused now. */
export function draftBuild(
  service: Service,
  { name, body, rows }: BuildDefinition,
  account: AccountRecord,
): Build | undefined {
  switch (name) {
    case 'audiences':
      return buildOf('audience', draftAudience(service, body, account), account.audiences);
    case 'lookalikes':
      return buildOf('lookalike', draftLookalike(service, body, account), account.audiences);
    case 'estimates':
      return buildOf('estimate', draftEstimate(service, body, account), account.estimates);
    case 'activations':
      return buildOf('activation', draftActivation(service, body, account), account.activations);
    case 'cohorts':
      return buildOf('cohort', draftCohort(service, body, account), account.cohorts, { rows });
  }
}

function buildOf<T extends Build['resource']>(
  kind: JobKind,
  draft: Draft<T>,
  resources: Map<number, T>,
  { rows }: { readonly rows?: number | undefined } = {},
): Build | undefined {
  if ('errors' in draft) return undefined;
  const { name, resource, result = {} } = draft;
  const findings: JobResult = rows === undefined ? result : { ...result, rows };
  return { kind, name, resource, result: findings, add: () => void resources.set(resource.id, resource) };
}
