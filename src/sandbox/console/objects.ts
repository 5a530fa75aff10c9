import type { JobKind } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, LogEntry } from '../state.ts';
import type { ConsoleContext } from './console-context.ts';
import { decode } from './snippet-values.ts';

/** Namespaces of resources, with the names of one and of several. */
export const NAMESPACES = [
  ['audiences', 'audience', 'Audiences'],
  ['activations', 'activation', 'Activations'],
  ['cohorts', 'cohort', 'Cohorts'],
  ['estimates', 'estimate', 'Estimates'],
  ['projects', 'project', 'Projects'],
  ['schedules', 'schedule', 'Schedules'],
  ['poiSubmissions', 'POI submission', 'Points of interest'],
] as const;

export type Namespace = (typeof NAMESPACES)[number][0];

/** A resource with the fields that pages show, whatever its kind, and its owner. */
export interface ShownResource {
  readonly id: number;
  /** Such as `audience` and `lookalike`. */
  readonly kind: string;
  readonly namespace: Namespace;
  readonly account: AccountRecord;
  /** Name or description; an empty string if it has none. */
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

/** Returns the number of resources of an account. */
export const resourceCount = (account: AccountRecord): number =>
  NAMESPACES.reduce((sum, [namespace]) => sum + account[namespace].size, 0);

/** Returns the resources of a namespace, oldest first; from an index on, which counts from the end if it is negative. */
export const resourcesOf = (
  account: AccountRecord,
  namespace: (typeof NAMESPACES)[number],
  start = 0,
): ShownResource[] => [...account[namespace[0]].values()].slice(start).map((one) => show(account, namespace, one));

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

/** Kinds of resources that are built by a job. */
const JOB_KINDS: readonly string[] = ['audience', 'lookalike', 'estimate', 'activation', 'cohort'] satisfies JobKind[];

/** Returns whether resources of a kind are built by a job. */
export const isJobKind = (kind: string): kind is JobKind => JOB_KINDS.includes(kind);

/** Returns why the job of a resource ended, which the API does not show; an empty string if nothing says so. */
export const reasonText = ({ jobs }: Service, { kind, id }: Pick<ShownResource, 'kind' | 'id'>): string =>
  (isJobKind(kind) && jobs.reason(kind, id)) || '';

const created = new WeakMap<LogEntry, number>();

/** Returns the id of the resource that a request has created; `undefined` if it has created none. */
export function createdBy({ service, recorder }: ConsoleContext, entry: LogEntry): number | undefined {
  const { method, path, status, served = status, replayed } = entry;
  if (method !== 'POST' || served < 200 || served >= 300 || replayed) return undefined;
  const kept = created.get(entry);
  if (kept !== undefined) return kept;
  const isCreate = Object.entries(service.operations).some(
    ([name, operation]) => name.endsWith('.create') && operation.path === path,
  );
  const id = isCreate ? idOf(recorder.find(entry)?.response) : undefined;
  if (id !== undefined) created.set(entry, id);
  return id;
}

/** Returns the id of the resource in an envelope. */
function idOf(response = ''): number | undefined {
  try {
    const { data }: { readonly data?: unknown } = Object(JSON.parse(response));
    const { id }: { readonly id?: unknown } = Object(Array.isArray(data) ? data[0] : data);
    return typeof id === 'number' ? id : undefined;
  } catch {
    return undefined;
  }
}

const mentions = new WeakMap<LogEntry, readonly number[]>();

/** Ids in a path, and in fields of a JSON body such as `audience_id`. */
const IN_PATH = /\/(\d+)(?=\/|$)/g;
const IN_BODY = /"(?:\w+_)?ids?"\s*:\s*\[?"?(\d+)/g;

const idsIn = (text: string, pattern: RegExp): number[] => [...text.matchAll(pattern)].map(([, id]) => Number(id));

/** Returns the ids of the resources that a request names, in its path or its body. */
export function namedBy({ recorder }: ConsoleContext, entry: LogEntry): readonly number[] {
  const kept = mentions.get(entry);
  if (kept) return kept;
  const recorded = recorder.find(entry);
  const body = recorded?.body ? (decode(recorded.body) ?? '') : '';
  const ids = [...idsIn(entry.path, IN_PATH), ...idsIn(body, IN_BODY)];
  if (recorded) mentions.set(entry, ids);
  return ids;
}

/** Returns the requests that have created a resource, or name it, oldest first. */
export const requestsAbout = (console: ConsoleContext, id: number): LogEntry[] =>
  console.service.state.log.filter((entry) => createdBy(console, entry) === id || namedBy(console, entry).includes(id));
