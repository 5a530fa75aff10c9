import { html } from 'hono/html';
import type { JobKind } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Company } from '../state.ts';
import type { DeliveryAttempt } from '../webhook-deliveries.ts';
import type { Html } from './html.ts';

/** Owner of data on a page: an account, or the organization of a webhook endpoint. */
export type Owner = AccountRecord | Company;

/** Namespaces of resources, with their singular and plural names. */
export const NAMESPACES = [
  ['audiences', 'audience', 'Audiences'],
  ['activations', 'activation', 'Activations'],
  ['cohorts', 'cohort', 'Cohorts'],
  ['estimates', 'estimate', 'Estimates'],
  ['projects', 'project', 'Projects'],
  ['schedules', 'schedule', 'Schedules'],
  ['poiSubmissions', 'POI submission', 'Points of interest'],
] as const;

type Namespace = (typeof NAMESPACES)[number][0];

/** A resource of any kind, with its owner and the fields that pages show. */
export interface ShownResource {
  readonly id: number;
  /** Kind of the resource, such as `audience` or `lookalike`. */
  readonly kind: string;
  readonly namespace: Namespace;
  readonly account: AccountRecord;
  /** Name or description; an empty string if the resource has neither. */
  readonly name: string;
  readonly status: { readonly id: number; readonly name: string } | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

const isStatus = (value: unknown): value is { id: number; name: string } =>
  typeof value === 'object' && value !== null && 'id' in value;

function show(
  account: AccountRecord,
  [namespace, kind]: (typeof NAMESPACES)[number],
  one: { id: number },
): ShownResource {
  const fields: Readonly<Record<string, unknown>> = { ...one };
  const { name, description, status, is_lookalike } = fields;
  return {
    id: one.id,
    kind: is_lookalike ? 'lookalike' : kind,
    namespace,
    account,
    name: String(name ?? description ?? ''),
    status: isStatus(status) ? status : undefined,
    fields,
  };
}

export const resourceCount = (account: AccountRecord): number =>
  NAMESPACES.reduce((sum, [namespace]) => sum + account[namespace].size, 0);

export const resourcesOf = (account: AccountRecord, namespace: (typeof NAMESPACES)[number]): ShownResource[] =>
  [...account[namespace[0]].values()].map((one) => show(account, namespace, one));

/** Returns the resource with an id; ids are unique across all kinds and accounts. */
export function findResource({ state }: Service, id: number): ShownResource | undefined {
  for (const account of state.accounts.values()) {
    for (const namespace of NAMESPACES) {
      const one = account[namespace[0]].get(id);
      if (one) return show(account, namespace, one);
    }
  }
  return undefined;
}

export function subjectIdOf({ body }: { readonly body: string }): number | undefined {
  const { data }: { readonly data?: { readonly id?: unknown } } = Object(JSON.parse(body));
  return typeof data?.id === 'number' ? data.id : undefined;
}

/** Returns the account of the resource of an event. If the event has no resource, returns the organization of the endpoint. */
export const ownerOf = (service: Service, event: DeliveryAttempt['event']): Owner =>
  findResource(service, subjectIdOf(event) ?? 0)?.account ?? event.endpoint.creator.company;

export const nameText = ({ kind, id, name }: Pick<ShownResource, 'kind' | 'id' | 'name'>): string =>
  `${kind} ${id}${name && ` “${name}”`}`;

/** Returns the kind, the id and the name of a resource as text; an empty string if it does not exist. */
export function resourceText(service: Service, id = 0): string {
  const resource = findResource(service, id);
  return resource ? nameText(resource) : '';
}

const JOB_KINDS: readonly string[] = ['audience', 'lookalike', 'estimate', 'activation', 'cohort'] satisfies JobKind[];

export const isJobKind = (kind: string): kind is JobKind => JOB_KINDS.includes(kind);

/** Returns the reason for the status of a job, which the API does not show; an empty string if there is no reason. */
export const reasonText = ({ jobs }: Service, { kind, id }: Pick<ShownResource, 'kind' | 'id'>): string =>
  (isJobKind(kind) && jobs.reason(kind, id)) || '';

export function resourceLink({ id, kind, name }: Pick<ShownResource, 'id' | 'kind' | 'name'>): Html {
  const text = name === '' ? `${kind} ${id}` : name;
  return html`<a class="name" href="/resources/${id}" title="${text}"><bdi>${text}</bdi></a>`;
}

/** Fields that refer to another resource: its id, or an object with its id. */
const NAMES = /^(?:source_)?(?:audience|cohort|project|activation|estimate|schedule)(?:_id)?$/;

/**
 * Returns the resources to which a resource refers, directly or not, oldest first, and the resources that refer to one.
 */
export function relationsOf({ id, account }: ShownResource) {
  const all = NAMESPACES.flatMap((namespace) => resourcesOf(account, namespace));
  const byId = new Map(all.map((one) => [one.id, one]));
  const relations = all.flatMap((child) => [...parentsOf(child)].map((parent) => ({ parent, child })));
  const children = Map.groupBy(relations, ({ parent }) => parent);
  const ancestors = new Set<number>();
  const add = (child: number): void => {
    const one = byId.get(child);
    for (const parent of one ? parentsOf(one) : []) {
      if (parent === id || ancestors.has(parent) || !byId.has(parent)) continue;
      ancestors.add(parent);
      add(parent);
    }
  };
  add(id);
  const sorted = [...ancestors].sort((a, b) => a - b).flatMap((one) => byId.get(one) ?? []);
  return { ancestors: sorted, childrenOf: (one: number) => (children.get(one) ?? []).map(({ child }) => child) };
}

/** Returns the ids of the resources to which a resource or its create request refers. */
function parentsOf({ id, account, fields }: ShownResource): ReadonlySet<number> {
  const body = account.definitions.get(id)?.body ?? {};
  const named = Object.entries({ ...body, ...fields }).flatMap(([name, value]) => {
    if (!NAMES.test(name)) return [];
    const { id: own = value }: { readonly id?: unknown } = Object(value);
    return typeof own === 'number' && own !== id ? [own] : [];
  });
  return new Set(named);
}
