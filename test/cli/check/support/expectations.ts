import { isDeepStrictEqual } from 'node:util';
import type { Sandbox } from '../../../../src/sandbox/index.ts';
import type { ServiceContract } from '../../../../src/spec/contract.ts';
import { operations } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { LISTED, type ServiceDefinition } from './emulation.ts';

/** Levels of a check. */
export type Level = 'read' | 'write' | 'build';

/** States of a finding. */
export type FindingState = 'confirmed' | 'differs' | 'likely' | 'not-checked';

/**
 * Expected state of a finding. A list has the states that are right. Where a state implies a value, such as the path of an
 * operation, it must be that of the service; `unfound` differs without a value, or is not checked.
 */
export type Expectation = FindingState | 'unfound' | readonly FindingState[];

/** Expectations by id of the finding. */
export type Expectations = Readonly<Record<string, Expectation>>;

/** A service, and what a check of it must report. */
export interface Variant {
  readonly name: string;
  readonly level: Level;
  readonly service?: ServiceDefinition;
  /** Where findings differ from those of a service that is as assumed. */
  readonly expected?: Expectations;
  /** Ids that the service's data or publications could not show: they may be missing from the report. */
  readonly maySkip?: readonly string[];
  /** Exit code of a check that ends early. What it has not reached, it has not checked. */
  readonly stopped?: number;
  /** Exit code with which the check may also end early. */
  readonly mayStop?: number;
  /** `false` if data cannot adapt the client, so that the verdict must say what does not work. @default true */
  readonly works?: boolean;
  /** Resources that the check cannot remove, at most. @default 0 */
  readonly leaves?: number;
  /** Audiences that are built, at most. @default 1 at the level `build` */
  readonly builds?: number;
  /** Sets up the service before the check. */
  prepare?(sandbox: Sandbox): void;
}

/** Published by the service or by analogy, or not known at all. */
export const OPEN: readonly FindingState[] = ['likely', 'not-checked'];
/** Found, or known to be elsewhere. */
export const PUBLISHED: readonly FindingState[] = ['likely', 'differs'];

/** Returns the same expectation for several findings. */
export const expectAll = (expectation: Expectation, ...ids: readonly string[]): Expectations =>
  Object.fromEntries(ids.map((id) => [id, expectation]));

/** Ids of the findings about an operation of each kind that is listed: `path:audiences.list`, … */
export const ofEach = (what: 'path' | 'data', method: string): string[] =>
  LISTED.map((kind) => `${what}:${kind}.${method}`);

/** Creates that are tried with a body that the service must refuse. */
export const TRIED_CREATES = ['path:audiences.create', 'path:lookalikes.create', 'path:activations.create'] as const;
/** Creates that no level may send. */
const UNTRIED_CREATES = ['path:estimates.create', 'path:cohorts.create', 'path:schedules.create'] as const;
export const BODIES = [
  'body:projects.create',
  'body:audiences.create',
  'body:lookalikes.create',
  'body:activations.create',
] as const;

/** Paths of all writes except the exchange of credentials. */
export const WRITE_PATHS: readonly string[] = [
  ...TRIED_CREATES,
  ...UNTRIED_CREATES,
  'path:projects.create',
  ...ofEach('path', 'delete'),
  'path:lookalikes.cancel',
  'path:uploads.reserve',
];

/**
 * Findings that a report may leave out, because other findings contain them or no table of the service is known; an
 * operation that no step of the check tries is at most published.
 */
export const OPTIONAL: Expectations = {
  ...expectAll(['likely', 'differs', 'not-checked'], ...Object.keys(operations).map((name) => `path:${name}`)),
  ...expectAll(['confirmed', 'not-checked'], 'path:webhooks.list', 'path:usage.get'),
};

/** How the client reads resources of each kind. */
export const SHAPES = [
  'shape:audience',
  'shape:activation',
  'shape:cohort',
  'shape:project',
  'shape:schedule',
] as const;

const READ: Expectations = {
  ...expectAll(
    'confirmed',
    'service',
    ...ofEach('path', 'list'),
    ...ofEach('path', 'get'),
    'path:lookalikes.get',
    'paging',
    'page-size',
    'waits.via',
    'usage.yearmonth',
    'usage.build_budget',
    'errors.422',
    'request-id-header',
    ...SHAPES,
    'shape:webhook',
  ),
  // No id of an estimate is known, and no table of reference data is documented.
  'path:estimates.get': OPEN,
  'path:reference.list': ['confirmed', ...OPEN],
  // Final ids can be guessed at from old rows, and never be proven.
  statuses: OPEN,
  ...expectAll(
    'not-checked',
    ...WRITE_PATHS,
    ...BODIES,
    'time-zone',
    'idempotency:projects.create',
    'idempotency:audiences.create',
    'uploads.reservation',
    'uploads.put',
  ),
};

const WRITE: Expectations = {
  ...READ,
  ...expectAll(
    'confirmed',
    'path:projects.create',
    'path:projects.delete',
    'path:uploads.reserve',
    ...TRIED_CREATES,
    'body:projects.create',
    'time-zone',
    'idempotency:projects.create',
    'uploads.reservation',
    'uploads.put',
  ),
  // A 422 names some fields of a body, not all.
  ...expectAll('likely', ...BODIES.slice(1)),
  // By analogy with those that were sent.
  ...expectAll(
    OPEN,
    ...UNTRIED_CREATES,
    ...ofEach('path', 'delete').filter((id) => id !== 'path:projects.delete'),
    'path:lookalikes.cancel',
  ),
};

/** Expectations of a service that is as assumed, which does not publish anything. */
export const EXPECTED: Readonly<Record<Level, Expectations>> = {
  read: READ,
  write: WRITE,
  build: {
    ...WRITE,
    ...expectAll('confirmed', 'path:audiences.delete', 'idempotency:audiences.create', 'body:audiences.create'),
  },
};

/** The paging that is assumed. */
const STANDARD_PAGING = { style: 'page', param: 'page', size: 'per_page' };

/** Returns the part of a settings file that a finding about a difference has; `undefined` if there is no difference. */
export function truthOf(id: string, contract: ServiceContract): JsonObject | undefined {
  const { paging, statuses, serverTimeZone, requestIdHeader, waits } = contract;
  const [what = '', name = ''] = id.split(':');
  // The keys of the contract are names of operations.
  const operation = Object.entries(contract.operations ?? {}).find(([key]) => key === name)?.[1];
  if (operation && what === 'path') {
    const { method, path } = operation;
    const route = { ...(method !== undefined && { method }), ...(path !== undefined && { path }) };
    return Object.keys(route).length === 0 ? undefined : { operations: { [name]: route } };
  }
  if (operation?.data !== undefined && what === 'data') return { operations: { [name]: { data: operation.data } } };
  if (operation?.retry !== undefined && what === 'idempotency')
    return { operations: { [name]: { retry: operation.retry } } };
  if (id === 'paging' && paging) {
    const { maxSize, ...rest } = paging;
    return isDeepStrictEqual(rest, STANDARD_PAGING) ? undefined : { paging: rest };
  }
  if (id === 'page-size' && paging?.maxSize !== undefined) return { paging };
  if (id === 'statuses' && statuses) return { statuses };
  if (id === 'time-zone' && serverTimeZone !== undefined) return { serverTimeZone };
  if (id === 'request-id-header' && requestIdHeader !== undefined) return { requestIdHeader };
  if (id === 'waits.via' && waits?.via !== undefined) return { waits: { via: waits.via } };
  return undefined;
}
