import type { Project, Schedule } from '../../spec/open-resources.ts';
import { formatTimestamp } from '../clock.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import type { Service } from '../service.ts';
import { HOUR, MAX_DURATION_MS } from '../service-limits.ts';
import type { AccountRecord, BuildDefinition, Mutable } from '../state.ts';
import { findById, missingText, readName } from './body-fields.ts';
import type { Draft, ResourceType } from './resource-routes.ts';

const DEFAULT_INTERVAL_HOURS = 24;
const MIN_INTERVAL_HOURS = 0.1;
const MAX_INTERVAL_HOURS = MAX_DURATION_MS / HOUR;

function draftProject({ state, clock }: Service, body: JsonObject): Draft<Project> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled project', errors);
  if (Object.keys(errors).length > 0) return { errors };
  return { name, resource: { ...body, id: state.nextId++, name, created_at: formatTimestamp(clock.now()) } };
}

/**
 * Fields of a schedule that contain the id of the resource to build again (assumed). `audience_id` also accepts
 * lookalikes.
 */
const SOURCES = {
  audience_id: 'audiences',
  estimate_id: 'estimates',
  activation_id: 'activations',
  cohort_id: 'cohorts',
} as const;

/** Creates a schedule, which builds a resource again at a fixed interval. */
function draftSchedule(service: Service, body: JsonObject, account: AccountRecord): Draft<Schedule> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled schedule', errors);
  const hours = body.interval_hours ?? DEFAULT_INTERVAL_HOURS;
  if (typeof hours !== 'number' || hours < MIN_INTERVAL_HOURS || hours > MAX_INTERVAL_HOURS)
    errors.interval_hours = [
      `The interval must be a number of hours from ${MIN_INTERVAL_HOURS} to ${MAX_INTERVAL_HOURS}.`,
    ];
  const definition = readSource(body, account, errors);
  if (typeof hours !== 'number' || Object.keys(errors).length > 0) return { errors };
  const resource: Mutable<Schedule> = { ...body, id: service.state.nextId++, name, replays: 0 };
  if (definition) {
    const { clock } = service;
    const replay = { type: 'replay', account, schedule: resource, definition, interval: hours * HOUR } as const;
    clock.schedule(clock.now() + replay.interval, replay);
  }
  return { name, resource };
}

/** Reads the resource of a schedule. Returns how the resource was built. */
function readSource(body: JsonObject, account: AccountRecord, errors: FieldErrors): BuildDefinition | undefined {
  const named = Object.entries(SOURCES).filter(([field]) => body[field] !== undefined);
  if (named.length > 1) errors[named[1]?.[0] ?? ''] = ['A schedule builds only one resource.'];
  const [[field, kind] = []] = named;
  if (field === undefined || kind === undefined) return undefined;
  const source = findById<{ readonly id: number }>(account[kind], body[field]);
  const definition = source && account.definitions.get(source.id);
  if (!definition) errors[field] = [missingText(field.replace('_id', ''), body[field])];
  return definition;
}

export const PROJECTS: ResourceType<Project> = {
  name: 'projects',
  label: 'Project',
  resourcesOf: (account) => account.projects,
  draft: draftProject,
};

export const SCHEDULES: ResourceType<Schedule> = {
  name: 'schedules',
  label: 'Schedule',
  resourcesOf: (account) => account.schedules,
  draft: draftSchedule,
};
