import type { Cohort } from '../../spec/cohort.ts';
import { formatTimestamp } from '../clock.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import { statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { readFile } from '../storage/upload-slots.ts';
import { findById, incompleteText, missingText, readName, readProject } from './body-fields.ts';
import type { Draft, ResourceType } from './resource-routes.ts';

function draftCohort(service: Service, body: JsonObject, account: AccountRecord): Draft<Cohort> {
  const { state, clock } = service;
  const errors: FieldErrors = {};
  const hasFile = body.upload_reference !== undefined || body.file !== undefined;
  const file = hasFile ? readFile(service, account, body, 'cohort', errors) : undefined;
  const name = readName(body, 'name', 'Untitled cohort', errors);
  const project = readProject(body, account, errors);
  const audience = readSource(service, body, account, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const now = formatTimestamp(clock.now());
  const resource: Mutable<Cohort> = {
    id: state.nextId++,
    name,
    status: statusOf(1),
    total_eids: 0,
    project,
    source: audience ? 'audience' : 'upload',
    source_audience: audience ? { id: audience.id, name: audience.name } : null,
    created_at: now,
    updated_at: now,
  };
  if (audience) return { name, resource, result: { rows: audience.results_count } };
  // The first line of a file is a header.
  return { name, resource, ...(file && { onAccept: file.claim, result: { rows: Math.max(0, file.lines - 1) } }) };
}

/** Reads the audience to create a cohort from. The audience must be completed (assumed). */
function readSource(
  { jobs }: Service,
  { source_audience_id: id }: JsonObject,
  account: AccountRecord,
  errors: FieldErrors,
) {
  if (id === undefined || id === null) return undefined;
  const audience = findById(account.audiences, id);
  if (!audience) errors.source_audience_id = [missingText('audience', id)];
  else if (!jobs.isCompleted('audience', audience.status.id))
    errors.source_audience_id = [incompleteText('source audience', audience)];
  return audience;
}

export const COHORTS: ResourceType<Cohort> = {
  name: 'cohorts',
  label: 'Cohort',
  kind: 'cohort',
  resourcesOf: (account) => account.cohorts,
  draft: draftCohort,
  complete({ random }, cohort, { rows }) {
    // Without a file and a source audience, the number is random.
    cohort.total_eids = rows ?? 1_000 + Math.floor(random.next() * 50_000);
  },
};
