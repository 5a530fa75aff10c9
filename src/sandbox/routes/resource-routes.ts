import type { Context, Hono } from 'hono';
import { operations } from '../../spec/operations.ts';
import { accept, bearer, countBuild, type Env, idempotent, metered, refuseBuild } from '../http/access.ts';
import { readBody } from '../http/request-body.ts';
import { invalid, refusal, success } from '../http/responses.ts';
import type { JobKind } from '../jobs.ts';
import type { Service } from '../service.ts';
import { PAGE_CAP, PAGE_DEFAULT } from '../service-limits.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { storageOf } from '../storage/presigned-storage.ts';
import { type Body, type Errors, findById, isBody, readCount } from './body-fields.ts';

/** What a resource is made of, or what is wrong with the body. */
export type Reading<T> =
  | { readonly errors: Errors }
  | {
      readonly resource: Mutable<T>;
      readonly name: string;
      /** Runs when the create is accepted. */
      readonly accepted?: () => void;
      /** Runs when its job has ended well. */
      readonly completed?: () => void;
    };

type Named = { readonly id: number };

/** One namespace of resources, as its routes need it. */
export interface Collection<T extends Named> {
  readonly name: 'audiences' | 'lookalikes' | 'estimates' | 'activations' | 'cohorts' | 'projects' | 'schedules';
  /** Singular, for messages. */
  readonly label: string;
  /** The job that a create starts; none for projects and schedules. */
  readonly kind?: JobKind;
  of(account: AccountRecord): Map<number, Mutable<T>>;
  /** Reads a create's body by the rules the specification knows. */
  read(body: Body, account: AccountRecord): Reading<T>;
  /** The resource as it goes over the wire, its files in a storage. */
  wire?(resource: T, storage: string): unknown;
}

/** A path of the operation table in the router's spelling: `{id}` becomes `:id`. */
export const honoPath = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

/** A page of a list; `per_page` above the cap is cut to it. */
export function pageOf<T>(rows: readonly T[], context: Context<Env>, size = PAGE_DEFAULT, cap = PAGE_CAP): T[] {
  const perPage = Math.min(readCount(context.req.query('per_page')) ?? size, cap);
  const page = readCount(context.req.query('page')) ?? 1;
  return rows.slice((page - 1) * perPage, page * perPage);
}

/** Gates in front of reads and writes. */
export const readGates = (service: Service) => [accept, bearer(service), metered(service, 'read')] as const;
export const writeGates = (service: Service) => [accept, bearer(service), metered(service, 'write')] as const;

function isJobResource(
  value: unknown,
): value is { id: number; status: { id: number; name: string }; [more: string]: unknown } {
  return isBody(value) && isBody(value.status);
}

/** The create of a namespace. */
export function createRoute<T extends Named>(app: Hono<Env>, service: Service, collection: Collection<T>): void {
  const { name, label, kind, wire = (resource) => resource } = collection;
  const operation = `${name}.create` as const;
  app.post(operations[operation].path, ...writeGates(service), idempotent(service, operation), async (context) => {
    const body = await readBody(context);
    if (!body) return invalid({ body: ['The body must be a JSON object, or multipart/form-data.'] });
    const account = context.get('account');
    const read = collection.read(body, account);
    if ('errors' in read) return invalid(read.errors);
    const refused = kind && refuseBuild(service, account);
    if (refused) return refused;
    const { resource } = read;
    if (kind && isJobResource(resource)) {
      const ended = (succeeded: boolean): void =>
        service.webhooks.tell(account.company, kind, succeeded, wire(resource, service.state.storageUrl));
      service.jobs.start({ ...read, kind, resource, ended });
      countBuild(service, account);
    }
    read.accepted?.();
    collection.of(account).set(resource.id, resource);
    return success([wire(resource, storageOf(service, context))], `${label} created successfully.`);
  });
}

/** Get, and for listed namespaces list and delete. */
export function readRoutes<T extends Named>(
  app: Hono<Env>,
  service: Service,
  collection: Collection<T> & { readonly name: Exclude<Collection<T>['name'], 'lookalikes'> },
): void {
  const { name, label, wire = (resource) => resource } = collection;
  const find = (context: Context<Env>) => findById(collection.of(context.get('account')), context.req.param('id'));
  const missing = (): Response => refusal(404, `${label} not found.`);
  if (name !== 'estimates') {
    app.get(operations[`${name}.list`].path, ...readGates(service), (context) => {
      const newestFirst = [...collection.of(context.get('account')).values()].reverse();
      const storage = storageOf(service, context);
      const rows = pageOf(newestFirst, context).map((row) => wire(row, storage));
      return success(rows, `${label} list retrieved successfully.`);
    });
    app.post(honoPath(operations[`${name}.delete`].path), ...writeGates(service), (context) => {
      const resource = find(context);
      if (!resource) return missing();
      service.jobs.drop(resource.id);
      service.state.results.delete(resource.id);
      collection.of(context.get('account')).delete(resource.id);
      return success([], `${label} deleted successfully.`);
    });
  }
  app.get(honoPath(operations[`${name}.get`].path), ...readGates(service), (context) => {
    const resource = find(context);
    if (!resource) return missing();
    return success([wire(resource, storageOf(service, context))], `${label} retrieved successfully.`);
  });
}
