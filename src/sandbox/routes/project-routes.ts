import type { Hono } from 'hono';
import type { Project, Schedule } from '../../schemas/open-resources.ts';
import { formatTimestamp } from '../clock.ts';
import type { Env } from '../http/access.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import { HOUR } from '../service-limits.ts';
import type { AccountRecord, Mutable, ReplayTask } from '../state.ts';
import { draftAudience } from './audience-routes.ts';
import { type FieldErrors, findById, readName } from './body-fields.ts';
import { type Draft, resourceRoutes } from './resource-routes.ts';

const DEFAULT_INTERVAL_HOURS = 24;
const MIN_INTERVAL_HOURS = 0.1;

function draftProject({ state, clock }: Service, body: JsonObject): Draft<Project> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled project', errors);
  if (Object.keys(errors).length > 0) return { errors };
  return { name, resource: { ...body, id: state.nextId++, name, created_at: formatTimestamp(clock.now()) } };
}

/** Creates a schedule, which rebuilds an audience at an interval. */
function draftSchedule(service: Service, body: JsonObject, account: AccountRecord): Draft<Schedule> {
  const errors: FieldErrors = {};
  const name = readName(body, 'name', 'Untitled schedule', errors);
  const hours = body.interval_hours ?? DEFAULT_INTERVAL_HOURS;
  if (typeof hours !== 'number' || hours < MIN_INTERVAL_HOURS)
    errors.interval_hours = [`The interval must be a number of hours from ${MIN_INTERVAL_HOURS}.`];
  const source = findById(account.audiences, body.audience_id);
  if (body.audience_id !== undefined && !source) errors.audience_id = ['The selected audience id is invalid.'];
  if (typeof hours !== 'number' || Object.keys(errors).length > 0) return { errors };
  const resource: Mutable<Schedule> = { ...body, id: service.state.nextId++, name, replays: 0 };
  if (source) {
    const definition = { name: source.name, dataset: source.dataset, project_id: source.project?.id };
    const { clock } = service;
    const replay = { type: 'replay', account, schedule: resource, definition, interval: hours * HOUR } as const;
    clock.schedule(clock.now() + replay.interval, replay);
  }
  return { name, resource };
}

/**
 * Starts a build of a schedule, and schedules the next one. These builds do not count in the build budget
 * (specification, "Build budget").
 */
export function replay(service: Service, task: ReplayTask): void {
  const { clock, jobs } = service;
  const { account, schedule, definition, interval } = task;
  if (!account.schedules.has(schedule.id)) return;
  clock.schedule(clock.now() + interval, task);
  const draft = draftAudience(service, definition, account);
  // The datasets may have become too old to be built.
  if ('errors' in draft) return;
  const { resource, name, result = {} } = draft;
  jobs.start({ kind: 'audience', name, resource, account, result });
  account.audiences.set(resource.id, resource);
  schedule.replays = Number(schedule.replays) + 1;
}

/** Adds the routes of projects and schedules. */
export function projectRoutes(app: Hono<Env>, service: Service): void {
  resourceRoutes<Project>(app, service, {
    name: 'projects',
    label: 'Project',
    resourcesOf: (account) => account.projects,
    draft: (body) => draftProject(service, body),
  });
  resourceRoutes<Schedule>(app, service, {
    name: 'schedules',
    label: 'Schedule',
    resourcesOf: (account) => account.schedules,
    draft: (body, account) => draftSchedule(service, body, account),
  });
}
