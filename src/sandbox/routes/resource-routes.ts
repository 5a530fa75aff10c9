import type { Context, Hono } from 'hono';
import { isOperationName, type NamespaceWith } from '../../spec/operations.ts';
import { type Env, refuse, requireToken, storageUrlOf } from '../http/access.ts';
import { ConnectionCut } from '../http/connection-cut.ts';
import { addRoute, pageIn, paramOf } from '../http/contract-adapter.ts';
import { idempotent } from '../http/idempotency.ts';
import { isObject, type JsonObject, readBody } from '../http/request-body.ts';
import { type FieldErrors, failure, invalid, success, tooManyRequests } from '../http/responses.ts';
import type { JobKind, JobResult } from '../jobs.ts';
import { deleteRow, newestFirst } from '../newest-first.ts';
import type { Service } from '../service.ts';
import { PAGE_CAP, PAGE_DEFAULT } from '../service-limits.ts';
import type { AccountRecord, BuildName, Mutable } from '../state.ts';
import { findById } from './body-fields.ts';
import { buildWait, currentBudget } from './budget-use.ts';

/** A new resource, or the errors of the body it would be created from. */
export type Draft<T> =
  | { readonly errors: FieldErrors }
  | {
      readonly resource: Mutable<T>;
      readonly name: string;
      /** Called when the create request is accepted. */
      readonly onAccept?: () => void;
      /** The findings of its job if it succeeds. */
      readonly result?: JobResult;
    };

/** Namespaces whose resources are listed and deleted. */
type ListedName = NamespaceWith<'list'> & NamespaceWith<'delete'>;

const isListed = (name: string): name is ListedName =>
  isOperationName(`${name}.list`) && isOperationName(`${name}.delete`);

const BUILDS: readonly string[] = ['audiences', 'lookalikes', 'estimates', 'activations', 'cohorts'];

const isBuild = (name: string): name is BuildName => BUILDS.includes(name);

type WithId = { readonly id: number };

/** A kind of resource, as its routes need it. */
export interface ResourceType<T extends WithId> {
  /** Namespace in the operation table. */
  readonly name: NamespaceWith<'create'> & NamespaceWith<'get'>;
  /** Singular, for messages. */
  readonly label: string;
  /** The job that a create request starts; none for projects and schedules. */
  readonly kind?: JobKind;
  resourcesOf(account: AccountRecord): Map<number, Mutable<T>>;
  /** Creates a resource from a body, by the rules of the specification. */
  draft(body: JsonObject, account: AccountRecord): Draft<T>;
  /** Returns the resource as the API shows it. @default the resource as it is */
  show?(resource: T, storageUrl: string): unknown;
}

function hasStatus(
  value: unknown,
): value is { id: number; status: { id: number; name: string }; [field: string]: unknown } {
  return isObject(value) && isObject(value.status);
}

/** Adds the create route of a resource type. */
export function createRoute<T extends WithId>(app: Hono<Env>, service: Service, type: ResourceType<T>): void {
  const { name, label, kind, show = (resource) => resource } = type;
  const { clock, jobs } = service;
  const operation = `${name}.create` as const;
  addRoute(app, service, operation, requireToken(service, 'write'), idempotent(service, operation), async (context) => {
    const body = await readBody(context);
    if (!body) return invalid({ body: ['The body must be a JSON object, or multipart/form-data.'] });
    const account = context.get('account');
    // A restored state has replaced the state that the request belongs to.
    if (service.state.accounts.get(account.email) !== account) throw new ConnectionCut();
    const { company } = account;
    const draft = type.draft(body, account);
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
    const { resource } = draft;
    if (kind && hasStatus(resource)) {
      jobs.start({ kind, name: draft.name, resource, account, result: draft.result ?? {} });
      company.hourlyBuilds.consume(clock.now());
      company.dailyBuilds.consume(clock.now());
      context.set('budget', currentBudget(company, clock.now()));
    }
    if (isBuild(name)) {
      const { upload_reference, file, credentials, ...rest } = body;
      // A scheduled build needs credentials. It uses placeholders, because saved states must not contain a partner's
      // credentials.
      const kept = credentials === undefined ? rest : { ...rest, credentials: 'stored' };
      account.definitions.set(resource.id, { name, body: kept, rows: draft.result?.rows });
    }
    draft.onAccept?.();
    type.resourcesOf(account).set(resource.id, resource);
    context.set('createdId', resource.id);
    return success([show(resource, storageUrlOf(service, context))], `${label} created successfully.`);
  });
}

/** Adds the create and get routes of a resource type and, if the operation table has them, its list and delete routes. */
export function resourceRoutes<T extends WithId>(
  app: Hono<Env>,
  service: Service,
  type: ResourceType<T> & { readonly name: Exclude<ResourceType<T>['name'], 'lookalikes'> },
): void {
  createRoute(app, service, type);
  const { name, label, show = (resource) => resource } = type;
  const resourcesOf = (context: Context<Env>) => type.resourcesOf(context.get('account'));
  const notFound = (): Response => failure(404, `${label} not found.`);
  if (isListed(name)) {
    addRoute(app, service, `${name}.list`, requireToken(service, 'read'), (context) => {
      const storageUrl = storageUrlOf(service, context);
      const rows = pageIn(newestFirst(resourcesOf(context)), context, { size: PAGE_DEFAULT, cap: PAGE_CAP });
      const shown = rows.map((row) => show(row, storageUrl));
      return success(shown, `${label} list retrieved successfully.`);
    });
    addRoute(app, service, `${name}.delete`, requireToken(service, 'write'), (context) => {
      const resource = findById(resourcesOf(context), paramOf(context, 'id'));
      if (!resource) return notFound();
      service.jobs.drop(resource.id);
      service.state.results.delete(resource.id);
      context.get('account').definitions.delete(resource.id);
      deleteRow(resourcesOf(context), resource.id);
      return success([], `${label} deleted successfully.`);
    });
  }
  for (const operation of name === 'audiences'
    ? (['audiences.get', 'lookalikes.get'] as const)
    : ([`${name}.get`] as const)) {
    addRoute(app, service, operation, requireToken(service, 'read'), (context) => {
      const resource = findById(resourcesOf(context), paramOf(context, 'id'));
      if (!resource) return notFound();
      return success([show(resource, storageUrlOf(service, context))], `${label} retrieved successfully.`);
    });
  }
}
