import { isDeepStrictEqual } from 'node:util';
import type { CheckReport } from '../../../../src/cli/check/check.ts';
import type { Finding } from '../../../../src/cli/check/findings.ts';
import { verdictOf } from '../../../../src/cli/check/report.ts';
import type { ServiceContract } from '../../../../src/spec/contract.ts';
import { operations } from '../../../../src/spec/operations.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject } from '../../../../src/util/json.ts';
import { CANARY, LISTED, ORIGIN, type Service, type ServiceDefinition } from './service.ts';

/**
 * Expected state of a finding. A list has the states that are right. Where a state implies a value, such as the path of an
 * operation, it must be the request of the service; `unfound` differs without a value, or is not checked.
 */
export type Expectation = Finding['state'] | 'unfound' | readonly Finding['state'][];
type Expectations = Readonly<Record<string, Expectation>>;

/** A service, and what a check of it must report, where it differs from the report about a service that is as assumed. */
export interface Variant extends ServiceDefinition {
  /** True if the check may write. @default false */
  readonly writes?: boolean;
  /** Ids of findings that differ although the contract does not say so. */
  readonly differs?: readonly string[];
  /** Ids of findings that differ without a setting, or are not checked. */
  readonly unfound?: readonly string[];
  readonly unchecked?: readonly string[];
  /** Ids of findings that are not checked, or likely. */
  readonly open?: readonly string[];
  readonly expected?: Expectations;
  /** Exit code of a check that ends early. What it has not reached, it has not checked. */
  readonly stopped?: number;
  /** Exit code with which the check may also end early. */
  readonly mayStop?: number;
  /** `false` if data cannot adapt the client, so that the verdict must say what does not work. @default true */
  readonly works?: boolean;
  /** Resources that the check cannot remove, at most. @default 0 */
  readonly leaves?: number;
}

/** Published by the service or by analogy, or not known at all. */
export const OPEN: readonly Finding['state'][] = ['likely', 'not-checked'];

/** Returns the same expectation for several findings. */
export const expectAll = (expectation: Expectation, ...ids: readonly string[]): Expectations =>
  Object.fromEntries(ids.map((id) => [id, expectation]));

const ofEach = (what: string, verb: string): string[] => LISTED.map((kind) => `${what}:${kind}.${verb}`);
export const LISTS = ofEach('path', 'list');
export const GETS = [...ofEach('path', 'get'), 'path:lookalikes.get'];
export const SHAPES = LISTED.map((kind) => `shape:${kind.replace(/s$/, '')}`);
export const OF_PROJECT = ['path:projects.create', 'path:projects.delete', 'time-zone', 'idempotency:projects.create'];

const READ: Expectations = {
  ...expectAll(
    'not-checked',
    ...Object.keys(operations).map((name) => `path:${name}`),
    ...OF_PROJECT,
    'path:uploads.reserve',
  ),
  ...expectAll('confirmed', 'service', ...LISTS, ...GETS, 'path:webhooks.list', 'path:usage.get', ...SHAPES),
  ...expectAll('confirmed', 'shape:webhook', 'paging', 'page-size', 'waits.via', 'usage.yearmonth'),
  ...expectAll('confirmed', 'usage.build_budget', 'request-id-header'),
  'path:estimates.get': OPEN,
  statuses: OPEN,
};
const WRITE: Expectations = { ...READ, ...expectAll('confirmed', ...OF_PROJECT, 'path:uploads.reserve') };

/** Returns everything that is wrong with a check: its report, its requests, and what it has left. */
export function problemsOf(
  variant: Variant,
  report: CheckReport,
  service: Service,
  before: Service['lists'],
): string[] {
  const { contract: truth = {}, stopped, mayStop, works = true, leaves = 0 } = variant;
  const assumed = variant.writes ? WRITE : READ;
  const expected: Expectations = {
    ...expectAll('differs', ...(variant.differs ?? [])),
    ...expectAll('unfound', ...(variant.unfound ?? [])),
    ...expectAll('not-checked', ...(variant.unchecked ?? [])),
    ...expectAll(OPEN, ...(variant.open ?? [])),
    ...variant.expected,
  };
  // What the contract of the service says differs, where a check can find it.
  const expectationOf = (id: string): Expectation | undefined =>
    expected[id] ??
    (truthOf(id, truth) && (assumed[id] ?? 'confirmed') === 'confirmed' ? ('differs' as const) : assumed[id]);
  const exitCode = report.stopped?.exitCode;
  const { contract } = report;
  const verdict = verdictOf(report, 'service.json');
  const { checked, $schema, ...settings } = contract;
  const isStopped = exitCode !== undefined;
  const gone = LISTED.flatMap((kind) => before[kind]?.filter((row) => !service.lists[kind]?.includes(row)) ?? []);
  const left = LISTED.flatMap((kind) => service.lists[kind]?.filter((row) => !before[kind]?.includes(row)) ?? []);
  const differing = report.findings.filter(({ state }) => state === 'differs');
  return [
    ...(exitCode === stopped || (isStopped && exitCode === mayStop)
      ? []
      : [`It ended with ${exitCode}, not ${stopped}.`]),
    ...report.findings.flatMap((finding) => {
      const expectation = expectationOf(finding.id);
      if (expectation === undefined) return [`${finding.id} is ${finding.state}, and nobody expects it.`];
      return judge(finding, isStopped ? orOpen(expectation) : expectation, truthOf(finding.id, truth));
    }),
    ...missing(settings, truth, 'settings').map((path) => `${path} is not what the service does.`),
    ...differing.flatMap(({ id, setting }) =>
      setting
        ? missing(truthOf(id, truth) ?? {}, settings, id).map((path) => `${path} was found, and is no setting.`)
        : [],
    ),
    ...(isStopped || / not work here: /.test(verdict) !== works ? [] : [`The verdict is wrong: ${verdict}`]),
    ...(works || differing.length > 0 || isStopped
      ? []
      : ['No checked assumption differs, although the client does not work.']),
    ...judgeRequests(variant, service, before),
    ...gone.map((row) => `${JSON.stringify(row)} is gone.`),
    ...(left.length > leaves ? left.map((row) => `${JSON.stringify(row)} is left.`) : []),
    ...(CANARY.test(JSON.stringify(report)) || JSON.stringify(report).includes(ORIGIN)
      ? ['It shows the account.']
      : []),
  ];
}

/** A check that has ended early may not have reached the assumption. */
const orOpen = (expectation: Expectation): Expectation =>
  expectation === 'unfound' ? expectation : ([...[expectation].flat(), 'not-checked'] as readonly Finding['state'][]); // of one or several

function judge(
  { id, state, evidence, setting }: Finding,
  expectation: Expectation,
  truth: object | undefined,
): string[] {
  const states = expectation === 'unfound' ? ['differs', 'not-checked'] : [expectation].flat();
  // Ids are found, and names guessed: the settings are judged.
  const isRight = truth === undefined || id === 'statuses' || isDeepStrictEqual(truth, setting);
  const said = `${id} is ${state} (${evidence} ${JSON.stringify(setting)})`;
  return [
    ...(states.includes(state) ? [] : [`${said}, expected ${JSON.stringify(expectation)}.`]),
    ...(state === 'confirmed' && truth ? [`${said}, but is ${JSON.stringify(truth)}.`] : []),
    ...(!isRight && state !== 'not-checked' && (expectation !== 'unfound' || setting) && !id.match(WRITE_PATH)
      ? [`${said}, but is ${JSON.stringify(truth)}.`]
      : []),
  ];
}

/** Paths that a check never searches. */
const WRITE_PATH = /^path:.*\.(?:create|delete|reserve)$/;

/** Returns the paths of values in one object that another one does not have. */
function missing(part: JsonObject, all: unknown, path: string): string[] {
  return Object.entries(part).flatMap(([key, value]) => {
    const other = isObject(all) ? all[key] : undefined;
    if (isObject(value)) return missing(value, other, `${path}.${key}`);
    return value === undefined || isDeepStrictEqual(value, other) ? [] : [`${path}.${key} ${JSON.stringify(value)}`];
  });
}

/** Returns the part of a contract that a finding about a difference has. */
function truthOf(id: string, contract: ServiceContract): JsonObject | undefined {
  const { paging, statuses, serverTimeZone, requestIdHeader, waits } = contract;
  const [what = '', name = ''] = id.split(':');
  const operation = Object.entries(contract.operations ?? {}).find(([key]) => key === name)?.[1];
  const { path, data, retry } = operation ?? {};
  if (what === 'path' && path !== undefined) return { operations: { [name]: { path } } };
  if (what === 'data' && data !== undefined) return { operations: { [name]: { data } } };
  if (what === 'idempotency' && retry !== undefined) return { operations: { [name]: { retry } } };
  const { maxSize, ...ways } = paging ?? {};
  const isAssumed = isDeepStrictEqual(ways, { style: 'page', param: 'page', size: 'per_page' });
  if (id === 'paging' && paging && !isAssumed) return { paging: ways };
  if (id === 'page-size' && maxSize !== undefined) return { paging };
  const others = { statuses: { statuses }, 'waits.via': { waits }, 'time-zone': { serverTimeZone } }[id];
  const more = others ?? { 'request-id-header': { requestIdHeader } }[id];
  return more && Object.values(more).some((value) => value !== undefined) ? more : undefined;
}

const WRITE_WORDS = /\/(?:create|store|add|new|delete|destroy|remove|cancel|reserve)(?:\/|$)/;
/** Half of the service's limits, in any minute. */
const PER_MINUTE = { read: 60, write: 15 } as const;
const MAX_REQUESTS = { read: 110, write: 20 } as const;

function judgeRequests({ writes = false }: Variant, { requests }: Service, before: Service['lists']): string[] {
  const times = Map.groupBy(requests, ({ method }) => (method === 'GET' ? 'read' : 'write'));
  const foreign = new Set(LISTED.flatMap((kind) => before[kind]?.map(({ id }) => String(id)) ?? []));
  return [
    ...(['read', 'write'] as const).flatMap((bucket) => {
      const at = (times.get(bucket) ?? []).map(({ time }) => time);
      const most = Math.max(
        0,
        ...at.map((start) => at.filter((time) => time >= start && time < start + 60_000).length),
      );
      const isTooMany = at.length > (bucket === 'write' && !writes ? 0 : MAX_REQUESTS[bucket]);
      return most > PER_MINUTE[bucket] || isTooMany ? [`It sent ${at.length} of ${bucket}, ${most} in a minute.`] : [];
    }),
    ...requests.flatMap(({ method, path, body, isElsewhere, operation = 'projects.list' }) => {
      const line = `${method} ${path}`;
      const parts = [...path.split('/'), ...Object.values(Object(body)).map(String)];
      const isForbidden = method !== 'GET' && !/^(?:projects|uploads)\./.test(operation);
      return [
        ...(isElsewhere ? [`${line} was sent to another host.`] : []),
        ...(method !== 'GET' && parts.some((part) => foreign.has(part)) ? [`${line} names a resource.`] : []),
        ...(method === 'GET' && WRITE_WORDS.test(path) ? [`${line} is the path of a write.`] : []),
        ...(isForbidden ? [`${line} must not be done: ${operation}.`] : []),
      ];
    }),
  ];
}
