import type { Hono } from 'hono';
import type { Audience } from '../../schemas/audience.ts';
import type { Cohort } from '../../schemas/cohort.ts';
import type { Estimate, Project, Schedule } from '../../schemas/open-resources.ts';
import { wireTime } from '../clock.ts';
import type { Env } from '../http/access.ts';
import { QUEUED, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import { HOUR } from '../service-limits.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { readFile } from '../storage/upload-slots.ts';
import { readAudience, showAudience } from './audience-routes.ts';
import { type Body, checkFilters, type Errors, findById, readDataset, readName, readProject } from './body-fields.ts';
import { type Collection, createRoute, type Reading, readRoutes } from './resource-routes.ts';

function readCohort(service: Service, body: Body, account: AccountRecord): Reading<Cohort> {
  const { state, clock, random } = service;
  const errors: Errors = {};
  const brings = body.upload_reference !== undefined || body.file !== undefined;
  const file = brings ? readFile(service, account, body, 'cohort', errors) : undefined;
  const name = readName(body, 'name', 'Untitled cohort', errors);
  const project = readProject(body, account, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const now = wireTime(clock.now());
  const resource: Mutable<Cohort> = {
    id: state.nextId++,
    name,
    status: statusOf(1),
    total_eids: 0,
    project,
    source: 'upload',
    source_audience: null,
    created_at: now,
    updated_at: now,
  };
  const completed = (): void => {
    // The first line of a file names its columns.
    resource.total_eids = file ? Math.max(0, file.lines - 1) : 1_000 + Math.floor(random.next() * 50_000);
  };
  return { name, resource, ...(file && { accepted: file.claim }), completed };
}

function readEstimate(service: Service, body: Body, account: AccountRecord): Reading<Estimate> {
  const errors: Errors = {};
  const name = readName(body, 'name', 'Untitled estimate', errors);
  readDataset(body, service.clock.now(), errors);
  readProject(body, account, errors);
  checkFilters(body, errors);
  if (Object.keys(errors).length > 0) return { errors };
  const id = service.state.nextId++;
  const { eids } = service.jobs.devices({ kind: 'estimate', id, name }, service.random.next());
  const resource: Mutable<Estimate> = { id, name, status: statusOf(QUEUED), unique_eids: null };
  return { name, resource, completed: () => void Object.assign(resource, { unique_eids: eids }) };
}

function readProjectBody({ state, clock }: Service, body: Body): Reading<Project> {
  const errors: Errors = {};
  const name = readName(body, 'name', 'Untitled project', errors);
  if (Object.keys(errors).length > 0) return { errors };
  return { name, resource: { ...body, id: state.nextId++, name, created_at: wireTime(clock.now()) } };
}

/** The shortest interval of a schedule, in hours. */
const SHORTEST_INTERVAL = 0.1;

/** The body that builds an audience once more. */
const definitionOf = ({ name, dataset, project }: Audience): Body => ({ name, dataset, project_id: project?.id });

/** A schedule rebuilds an audience every so often; its replays spend no build budget ("Build budget"). */
function readSchedule(service: Service, body: Body, account: AccountRecord): Reading<Schedule> {
  const errors: Errors = {};
  const name = readName(body, 'name', 'Untitled schedule', errors);
  const hours = body.interval_hours ?? 24;
  if (typeof hours !== 'number' || hours < SHORTEST_INTERVAL)
    errors.interval_hours = [`The interval must be a number of hours from ${SHORTEST_INTERVAL}.`];
  const source = findById(account.audiences, body.audience_id);
  if (body.audience_id !== undefined && !source) errors.audience_id = ['The selected audience id is invalid.'];
  if (typeof hours !== 'number' || Object.keys(errors).length > 0) return { errors };
  const resource: Mutable<Schedule> = { ...body, id: service.state.nextId++, name, replays: 0 };
  if (source) replay(service, account, resource, definitionOf(source), hours * HOUR);
  return { name, resource };
}

function replay(
  service: Service,
  account: AccountRecord,
  schedule: Mutable<Schedule>,
  body: Body,
  every: number,
): void {
  service.clock.at(service.clock.now() + every, () => {
    if (!account.schedules.has(schedule.id)) return;
    replay(service, account, schedule, body, every);
    const read = readAudience(service, body, account);
    // What may not be built any more, as data have grown too old, is no replay.
    if ('errors' in read) return;
    const ended = (succeeded: boolean): void =>
      service.webhooks.tell(account.company, 'audience', succeeded, showAudience(service, read.resource));
    service.jobs.start({ ...read, kind: 'audience', ended });
    account.audiences.set(read.resource.id, read.resource);
    schedule.replays = Number(schedule.replays) + 1;
  });
}

/** Cohorts, estimates, projects and schedules. */
export function resourceRoutes(app: Hono<Env>, service: Service): void {
  const add = <T extends { readonly id: number }>(
    collection: Collection<T> & { readonly name: 'cohorts' | 'estimates' | 'projects' | 'schedules' },
  ): void => {
    readRoutes(app, service, collection);
    createRoute(app, service, collection);
  };
  add<Cohort>({
    name: 'cohorts',
    label: 'Cohort',
    kind: 'cohort',
    of: (account) => account.cohorts,
    read: (body, account) => readCohort(service, body, account),
  });
  add<Estimate>({
    name: 'estimates',
    label: 'Estimate',
    kind: 'estimate',
    of: (account) => account.estimates,
    read: (body, account) => readEstimate(service, body, account),
  });
  add<Project>({
    name: 'projects',
    label: 'Project',
    of: (account) => account.projects,
    read: (body) => readProjectBody(service, body),
  });
  add<Schedule>({
    name: 'schedules',
    label: 'Schedule',
    of: (account) => account.schedules,
    read: (body, account) => readSchedule(service, body, account),
  });
}
