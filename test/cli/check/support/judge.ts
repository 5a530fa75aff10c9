import { isDeepStrictEqual } from 'node:util';
import type { ServiceContract } from '../../../../src/spec/contract.ts';
import type { JsonObject } from '../../../../src/spec/wire-values.ts';
import { isObject } from '../../../../src/util/json.ts';
import {
  EXPECTED,
  type Expectation,
  type FindingState,
  type Level,
  OPTIONAL,
  truthOf,
  type Variant,
} from './expectations.ts';
import { CANARIES } from './filled-account.ts';
import type { LoggedRequest, RunningVariant } from './variant-service.ts';

/** A finding, as far as it is judged. */
interface JudgedFinding {
  readonly id: string;
  readonly state: FindingState;
  readonly evidence: string;
  readonly setting?: object;
}

/** A report, as far as it is judged. */
export interface JudgedReport {
  readonly findings: readonly JudgedFinding[];
  readonly contract: ServiceContract;
  readonly verdict?: string;
  readonly stopped?: { readonly exitCode: number } | undefined;
}

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

/** Returns what is wrong with a report about a variant; every finding is judged. */
export function judgeReport(variant: Variant, report: JudgedReport): string[] {
  const { service = {}, stopped, mayStop, maySkip = [] } = variant;
  const truth = service.contract ?? {};
  const expected: Readonly<Record<string, Expectation>> = { ...EXPECTED[variant.level], ...variant.expected };
  const exitCode = report.stopped?.exitCode;
  const isStopped = exitCode !== undefined;
  const ids = report.findings.map(({ id }) => id);
  return [
    ...(exitCode === stopped || (isStopped && exitCode === mayStop)
      ? []
      : [`The check must end with ${show(stopped)}, not with ${show(exitCode)}.`]),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `${id} is reported twice.`),
    ...Object.keys(expected)
      .filter((id) => !ids.includes(id) && !isStopped && !maySkip.includes(id))
      .map((id) => `${id} is missing, expected ${show(expected[id])}.`),
    ...report.findings.flatMap((finding) => {
      const expectation = expected[finding.id] ?? OPTIONAL[finding.id];
      if (expectation === undefined) return [`${finding.id} is ${finding.state}, and nobody expects it.`];
      return judgeFinding(finding, isStopped ? orOpen(expectation) : expectation, truth);
    }),
    ...judgeContract(report, truth),
    ...(isStopped ? [] : judgeVerdict(variant, report)),
  ];
}

/** The verdict says that something does not work if data cannot adapt the client, and only then. */
function judgeVerdict({ works = true }: Variant, { verdict, findings }: JudgedReport): string[] {
  if (verdict === undefined) return [];
  const saysSo = /\bnot work here\b/.test(verdict);
  const hasDifference = findings.some(({ state }) => state === 'differs');
  return [
    ...(saysSo === works ? [`The verdict is wrong: ${verdict}`] : []),
    ...(works || hasDifference ? [] : ['The exit code must be 11, and nothing differs.']),
  ];
}

/** A check that has ended early may not have reached the assumption. */
const orOpen = (expectation: Expectation): Expectation =>
  expectation === 'unfound' ? expectation : ([...[expectation].flat(), 'not-checked'] as readonly FindingState[]); // of one or several states

function judgeFinding(
  { id, state, evidence, setting }: JudgedFinding,
  expectation: Expectation,
  contract: ServiceContract,
): string[] {
  const truth = truthOf(id, contract);
  const problems: string[] = [];
  const states: readonly FindingState[] =
    expectation === 'unfound'
      ? ['differs', 'not-checked']
      : typeof expectation === 'string'
        ? [expectation]
        : expectation;
  if (!states.includes(state))
    problems.push(`${id} is ${state}, expected ${show(expectation)}: ${evidence} ${show(setting)}`);
  if (typeof evidence !== 'string' || evidence.trim() === '') problems.push(`${id} has no evidence.`);
  if (state === 'confirmed' && truth) problems.push(`${id} is confirmed, but is ${show(truth)}.`);
  // Ids are found, and names guessed: the settings are judged.
  const isRight = truth === undefined || id === 'statuses' || isDeepStrictEqual(truth, setting);
  if (expectation === 'unfound' && setting && !isRight)
    problems.push(`${id} cannot be known, and is said to be ${show(setting)}.`);
  if (expectation !== 'unfound' && truth && (state === 'differs' || state === 'likely') && !isRight)
    problems.push(`${id} is said to be ${show(setting)}, but is ${show(truth)}.`);
  return problems;
}

/** Settings must be true, and hold each difference that was found. */
function judgeContract({ contract, findings }: JudgedReport, truth: ServiceContract): string[] {
  const { checked, $schema, ...settings } = contract;
  const expected = findings.flatMap(({ id, state, setting }) =>
    state === 'differs' && setting ? [truthOf(id, truth) ?? {}] : [],
  );
  return [
    ...differences(settings, truth, 'settings').map((path) => `${path} is not what the service does.`),
    ...expected.flatMap((setting) =>
      differences(setting, settings, 'settings').map((path) => `${path} is missing, although it was found.`),
    ),
  ];
}

/** Returns the paths of values in one object that another one does not have. */
function differences(part: JsonObject, all: unknown, path: string): string[] {
  return Object.entries(part).flatMap(([key, value]) => {
    const other = isObject(all) ? all[key] : undefined;
    const inner = `${path}.${key}`;
    if (isObject(value)) return differences(value, other, inner);
    return value === undefined || isDeepStrictEqual(value, other) ? [] : [`${inner} ${show(value)}`];
  });
}

const MAX_READS: Readonly<Record<Level, number>> = { read: 90, write: 110, build: 170 };
const MAX_WRITES: Readonly<Record<Level, number>> = { read: 0, write: 30, build: 40 };
/** Half of the service's limits, in any minute. */
const PER_MINUTE = { read: 60, write: 15, mcp: 60 } as const;
const MINUTE = 60_000;

type Bucket = keyof typeof PER_MINUTE;

function bucketOf({ method, path }: LoggedRequest): Bucket {
  if (method === 'POST' && path.endsWith('/mcp')) return 'mcp';
  return ['GET', 'HEAD', 'OPTIONS'].includes(method) ? 'read' : 'write';
}

/** Numbers of requests that count in a bucket. */
export function countRequests(requests: readonly LoggedRequest[]): Record<Bucket, number> {
  const ofApi = requests.filter(({ to }) => to === 'api');
  const count = (bucket: Bucket): number => ofApi.filter((request) => bucketOf(request) === bucket).length;
  return { read: count('read'), write: count('write'), mcp: count('mcp') };
}

/** Returns the largest number of requests in any 60 seconds. */
export function mostPerMinute(requests: readonly LoggedRequest[], bucket: Bucket): number {
  const times = requests
    .filter((request) => request.to === 'api' && bucketOf(request) === bucket)
    .map(({ time }) => time);
  return Math.max(0, ...times.map((start) => times.filter((time) => time >= start && time < start + MINUTE).length));
}

/** Operations that a check must not have the service do. */
const FORBIDDEN =
  /^(?:auth\.|lookalikes\.(?:create|cancel)|estimates\.create|activations\.create|cohorts\.create|schedules\.create)/;
/** Paths of writes, whatever the service is. */
const WRITE_WORDS = /\/(?:create|store|add|new|delete|destroy|remove|cancel|reserve)(?:\/|$)/;

/** Returns what is wrong with the requests that a check has sent. */
export function judgeRequests(
  { level, builds = level === 'build' ? 1 : 0 }: Variant,
  { requests }: Pick<RunningVariant, 'requests'>,
  ids: ReadonlySet<number>,
): string[] {
  const counts = countRequests(requests);
  const limit = (name: string, count: number, max: number): string[] =>
    count > max ? [`The check sent ${count} ${name}, at most ${max} are allowed.`] : [];
  const built = requests.filter(
    ({ operation, status }) => operation === 'audiences.create' && status < 300 && status > 0,
  );
  return [
    ...limit('reads', counts.read, MAX_READS[level]),
    ...limit('writes', counts.write, MAX_WRITES[level]),
    // Each build may be repeated with its key.
    ...limit('creates of audiences that succeeded', built.length, builds * 2),
    ...(['read', 'write', 'mcp'] as const).flatMap((bucket) =>
      limit(`requests of ${bucket} in a minute`, mostPerMinute(requests, bucket), PER_MINUTE[bucket]),
    ),
    ...requests.flatMap((request) => judgeRequest(request, ids)),
  ];
}

function judgeRequest(request: LoggedRequest, ids: ReadonlySet<number>): string[] {
  const { to, method, path, operation, status, hadToken } = request;
  const line = `${method} ${path}`;
  const isForbidden = operation !== undefined && FORBIDDEN.test(operation);
  return [
    ...(to === 'elsewhere' ? [`${line} was sent to another host.`] : []),
    ...(to !== 'api' && hadToken ? [`${line} had the token, which is for the API only.`] : []),
    ...(to === 'api' && method !== 'GET' && foreignIds(request, ids).length > 0
      ? [`${line} names a resource of the account: ${foreignIds(request, ids)}.`]
      : []),
    ...(method === 'GET' && WRITE_WORDS.test(path) ? [`${line} is the path of a write.`] : []),
    ...(isForbidden && method !== 'OPTIONS' && (operation.startsWith('auth.') || (status >= 200 && status < 300))
      ? [`${line} must not be done: ${operation}.`]
      : []),
  ];
}

/** Returns the ids of the account in a request that is not a read: in its path, its query, and in fields of ids. */
function foreignIds({ path, query, body }: LoggedRequest, ids: ReadonlySet<number>): number[] {
  const inPath = [...path.split('/'), ...new URLSearchParams(query).values()].filter((part) => /^\d+$/.test(part));
  return [...inPath, ...idFields(body)].map(Number).filter((id) => ids.has(id));
}

function idFields(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(idFields);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, field]) => (/(?:^|_)ids?$/.test(key) ? [field].flat() : idFields(field)));
}

/** Returns which secrets and texts of the account a report contains. */
export function findCanaries(
  report: unknown,
  { token, mcpToken, baseUrl }: Pick<RunningVariant, 'token' | 'mcpToken' | 'baseUrl'>,
): string[] {
  const text = JSON.stringify(report);
  return [...CANARIES, token, mcpToken, baseUrl].filter((secret) => text.includes(secret));
}
