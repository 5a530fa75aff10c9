import type { Context, Hono } from 'hono';
import { isOperationName, type NamespaceWith } from '../../spec/operations.ts';
import { type Env, refuse, requireToken, storageUrlOf } from '../http/access.ts';
import { ConnectionCut } from '../http/connection-cut.ts';
import { addRoute, pageIn, paramOf } from '../http/contract-adapter.ts';
import { idempotent } from '../http/idempotency.ts';
import { isObject, type JsonObject, readBody } from '../http/request-body.ts';
import { type FieldErrors, failure, invalid, success, tooManyRequests } from '../http/responses.ts';
import type { JobKind, JobResult } from '../jobs.ts';
import type { Service } from '../service.ts';
import { PAGE_CAP, PAGE_DEFAULT } from '../service-limits.ts';
import type { AccountRecord, BuildDefinition, Mutable } from '../state.ts';
import { findById } from './body-fields.ts';
import { buildWait, currentBudget } from './budget-use.ts';

/** A new resource, or the errors of the body. */
export type Draft<T> = { readonly errors: FieldErrors } | NewResource<T>;

/** A resource to add to an account. */
interface NewResource<T> {
  readonly resource: Mutable<T>;
  readonly name: string;
  /** Called when the create request is accepted. */
  readonly onAccept?: () => void;
  /** Results of the resource's job, if the job succeeds. */
  readonly result?: JobResult;
}

/** Namespaces with a list and a delete operation. */
type ListedName = NamespaceWith<'list'> & NamespaceWith<'delete'>;

const isListed = (name: string): name is ListedName =>
  isOperationName(`${name}.list`) && isOperationName(`${name}.delete`);

type WithId = { readonly id: number };

/** A kind of resource, for its routes, jobs and schedules. */
export interface ResourceType<T extends WithId = WithId> {
  /** Namespace in the operation table. */
  readonly name: NamespaceWith<'create'> & NamespaceWith<'get'>;
  /** Singular noun for messages. */
  readonly label: string;
  /** Kind of the job that a create request starts. Not set for projects and schedules. */
  readonly kind?: JobKind;
  resourcesOf(account: AccountRecord): Map<number, Mutable<T>>;
  /** Creates a resource from a body according to the rules of the specification. */
  draft(service: Service, body: JsonObject, account: AccountRecord): Draft<T>;
  /** Adds the results of its job to the resource. */
  complete?(service: Service, resource: Mutable<T>, result: JobResult): void;
  /** Returns the resource in the form of the API. @default the resource unchanged */
  show?(service: Service, resource: T, storageUrl: string): unknown;
}

/** Returns whether a resource has a status. Every resource with a job has one. */
function hasStatus(
  value: unknown,
): value is { id: number; status: { id: number; name: string }; [field: string]: unknown } {
  return isObject(value) && isObject(value.status);
}

/**
 * Adds a resource to an account, and starts its job, if there is one. Keeps the definition, so that a schedule can
 * repeat the build.
 */
export function addResource(
  { jobs }: Service,
  { kind, resourcesOf }: ResourceType,
  { name, resource, result = {} }: NewResource<WithId>,
  account: AccountRecord,
  definition: BuildDefinition,
): void {
  if (kind && hasStatus(resource)) {
    jobs.start({ kind, name, resource, account, result });
    account.definitions.set(resource.id, definition);
  }
  resourcesOf(account).set(resource.id, resource);
}

function createRoute(app: Hono<Env>, service: Service, type: ResourceType): void {
  const { name, label, kind } = type;
  const { clock } = service;
  const operation = `${name}.create` as const;
  addRoute(app, service, operation, requireToken(service, 'write'), idempotent(service, operation), async (context) => {
    const body = await readBody(context);
    if (!body) return invalid({ body: ['The body must be a JSON object, or multipart/form-data.'] });
    const account = context.get('account');
    // Another state was loaded while the request was in progress.
    if (service.state.accounts.get(account.email) !== account) throw new ConnectionCut();
    const { company } = account;
    const draft = type.draft(service, body, account);
    if ('errors' in draft) return invalid(draft.errors);
    const wait = kind ? buildWait(company, clock.now()) : 0;
    if (wait > 0) {
      const budget = currentBudget(company, clock.now());
      const { hour, day } = budget;
      context.set('budget', budget);
      context.set('freeAt', clock.now() + wait);
      return refuse(
        context,
        `${company.name} has started ${hour.used} of ${hour.limit} builds an hour, ${day.used} of ${day.limit} a day`,
        tooManyRequests('Build budget exceeded.', wait),
      );
    }
    const { resource, result } = draft;
    const { upload_reference, file, credentials, ...rest } = body;
    // A scheduled build needs credentials. Keep a placeholder, because saved states must not contain a partner's
    // credentials.
    const kept = credentials === undefined ? rest : { ...rest, credentials: 'stored' };
    addResource(service, type, draft, account, { name, body: kept, rows: result?.rows });
    if (kind) {
      company.hourlyBuilds.consume(clock.now());
      company.dailyBuilds.consume(clock.now());
      context.set('budget', currentBudget(company, clock.now()));
    }
    draft.onAccept?.();
    context.set('createdId', resource.id);
    return success([shown(service, context, type, resource)], `${label} created successfully.`);
  });
}

/** Adds the create and get routes of a resource type and, if the operation table has them, its list and delete routes. */
export function resourceRoutes(app: Hono<Env>, service: Service, type: ResourceType): void {
  createRoute(app, service, type);
  const { name, label } = type;
  const resourcesOf = (context: Context<Env>) => type.resourcesOf(context.get('account'));
  const notFound = (): Response => failure(404, `${label} not found.`);
  if (isListed(name)) {
    addRoute(app, service, `${name}.list`, requireToken(service, 'read'), (context) => {
      const newestFirst = [...resourcesOf(context).values()].reverse();
      const page = pageIn(newestFirst, context, { size: PAGE_DEFAULT, cap: PAGE_CAP });
      const data = page.map((resource) => shown(service, context, type, resource));
      return success(data, `${label} list retrieved successfully.`);
    });
    addRoute(app, service, `${name}.delete`, requireToken(service, 'write'), (context) => {
      const resource = findById(resourcesOf(context), paramOf(context, 'id'));
      if (!resource) return notFound();
      service.jobs.drop(resource.id);
      service.state.results.delete(resource.id);
      context.get('account').definitions.delete(resource.id);
      resourcesOf(context).delete(resource.id);
      return success([], `${label} deleted successfully.`);
    });
  }
  addRoute(app, service, `${name}.get`, requireToken(service, 'read'), (context) => {
    const resource = findById(resourcesOf(context), paramOf(context, 'id'));
    if (!resource) return notFound();
    return success([shown(service, context, type, resource)], `${label} retrieved successfully.`);
  });
}

const shown = (service: Service, context: Context<Env>, { show }: ResourceType, resource: WithId): unknown =>
  show ? show(service, resource, storageUrlOf(service, context)) : resource;
