import { similarName } from '../util/similar-names.ts';
import { MAX_TIMER_MS } from './clock.ts';
import type { Operations } from './contracted-service.ts';
import { createPathMatcher } from './path-pattern.ts';
import type { Random } from './random.ts';

/** A request, as passed to the `on` function of a fault rule. */
export interface FaultRequest {
  /** HTTP method, such as `POST`. */
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Headers as sent, including the token. */
  readonly headers: Headers;
}

/**
 * A fault to inject. Set at most one of `status`, `cut` and `malformed`; add `delay`, `inFlight` or `maxAge`, alone or
 * together. `inFlight` excludes `status` and `cut: 'before'`. Durations are in milliseconds of the machine's clock.
 *
 * @example
 * { on: 'audiences.create', cut: 'after', times: 1 } // the service creates the audience, but its response is lost
 */
export interface FaultRule {
  /**
   * Requests to which the rule applies: an operation (`'audiences.create'`), a path (`'/uploads/*'`), a method and path
   * (`'GET /api/v2/audiences/{id}'`), or a function. In a path, `{id}` matches one segment, and `*` matches anything.
   * @default all
   */
  readonly on?: string | ((request: FaultRequest) => boolean) | undefined;
  /** Probability, from 0 to 1, that the rule applies to a matching request. @default 1 */
  readonly rate?: number | undefined;
  /** Maximum number of requests to which the rule applies. @default no limit */
  readonly times?: number | undefined;
  /** Delays the request before anything else happens. Removing the rule ends the delay. */
  readonly delay?: number | undefined;
  /**
   * Keeps a create request with an `Idempotency-Key` in flight for this time, or until the rule is removed. Meanwhile,
   * the service responds to duplicates with 409. It creates the resource even if the client disconnects.
   */
  readonly inFlight?: number | undefined;
  /** Error status with which the service responds, without acting on the request. */
  readonly status?: number | undefined;
  /** `Retry-After` of the error response, in seconds. */
  readonly retryAfter?: number | undefined;
  /** Cuts the connection: before the service acts, after it has acted, or in the middle of the response body. */
  readonly cut?: 'before' | 'after' | 'body' | undefined;
  /** Acts on the request, but truncates the response body to half and sends it as a complete response. */
  readonly malformed?: boolean | undefined;
  /** Number of seconds for which caches may keep the response: adds `Cache-Control: max-age` and `Last-Modified`. */
  readonly maxAge?: number | undefined;
}

/** An added fault rule. */
export interface ActiveFault {
  /** Id for `faults.remove`. */
  readonly id: number;
  /** The rule as it was added. */
  readonly rule: FaultRule;
  /** Number of further requests to which the rule can apply. `Infinity` without `times`. */
  readonly remaining: number;
}

interface ActiveRule {
  id: number;
  readonly rule: FaultRule;
  readonly matches: (request: FaultRequest) => boolean;
  /** Aborts when the rule is removed. The abort ends the delays of the rule. */
  readonly removed: AbortController;
  /** Number of further requests to which the rule can apply. */
  remaining: number;
}

export class Faults {
  readonly random: Random;
  readonly #operations: Operations;
  readonly #rules = new Set<ActiveRule>();
  #nextId = 1;

  constructor(random: Random, rules: readonly FaultRule[], operations: Operations) {
    this.random = random;
    this.#operations = operations;
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule after the existing rules. Returns the active rule, whose id may change. */
  add(rule: FaultRule): Readonly<ActiveRule> {
    checkRule(rule);
    const remaining = rule.times ?? Number.POSITIVE_INFINITY;
    // Check the rule first, so that an invalid rule does not use up an id.
    const matches = createMatcher(rule, this.#operations);
    const id = this.#nextId++;
    const active: ActiveRule = {
      id,
      rule,
      matches,
      removed: new AbortController(),
      remaining,
    };
    this.#rules.add(active);
    return active;
  }

  has(active: Readonly<ActiveRule>): boolean {
    return this.#rules.has(active);
  }

  /** Renumbers the rules from 1, as in a new sandbox with the same rules, and forgets those that are used up. */
  renumber(): void {
    this.#nextId = 1;
    for (const active of this.#rules) {
      if (active.remaining > 0) active.id = this.#nextId++;
      else this.#rules.delete(active);
    }
  }

  /** All rules, in order, including rules that are used up. */
  get all(): ActiveFault[] {
    return [...this.#rules].map(({ id, rule, remaining }) => ({ id, rule, remaining }));
  }

  /** The rules that can still apply, in order. */
  get active(): ActiveFault[] {
    return this.all.filter(({ remaining }) => remaining > 0);
  }

  remove(id: number): void {
    const active = [...this.#rules].find((candidate) => candidate.id === id);
    if (!active) throw new Error(`The fault rule ${id} does not exist.`);
    this.#remove(active);
  }

  clear(): number {
    const count = this.active.length;
    for (const active of this.#rules) this.#remove(active);
    return count;
  }

  #remove(active: ActiveRule): void {
    this.#rules.delete(active);
    active.removed.abort();
  }

  /** Returns the first rule that applies to a request, and counts the request. */
  apply(request: FaultRequest): ActiveRule | undefined {
    for (const active of this.#rules) {
      if (active.remaining <= 0 || !active.matches(request)) continue;
      const { rate = 1 } = active.rule;
      if (rate < 1 && this.random.next() >= rate) continue;
      active.remaining--;
      return active;
    }
    return undefined;
  }
}

export function describeFault({ delay, inFlight, status, cut, malformed, maxAge }: FaultRule): string {
  const parts = [
    delay !== undefined && `delay ${delay} ms`,
    inFlight !== undefined && `in flight ${inFlight} ms`,
    status !== undefined && `status ${status}`,
    cut !== undefined && `cut ${cut}`,
    malformed && 'half of the response',
    maxAge !== undefined && `max-age ${maxAge} s`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** A check of a field's value, and a description of valid values. */
type FieldCheck = readonly [isValid: (value: unknown) => boolean, requirement: string];

const numberTo = (max: number): FieldCheck => [
  (value) => typeof value === 'number' && value >= 0 && value <= max,
  `a number ${max < Number.POSITIVE_INFINITY ? `from 0 to ${max}` : 'of 0 or more'}`,
];

const FIELDS: Readonly<Record<string, FieldCheck>> = {
  on: [
    (value) => typeof value === 'string' || typeof value === 'function',
    'an operation, a path, a method and path, or a function',
  ],
  rate: numberTo(1),
  times: numberTo(Number.POSITIVE_INFINITY),
  delay: numberTo(MAX_TIMER_MS),
  inFlight: numberTo(MAX_TIMER_MS),
  status: [
    (value) => Number.isInteger(value) && Number(value) >= 400 && Number(value) <= 599,
    'an error status, 400 to 599',
  ],
  retryAfter: numberTo(Number.POSITIVE_INFINITY),
  cut: [(value) => ['before', 'after', 'body'].some((place) => place === value), '"before", "after" or "body"'],
  malformed: [(value) => typeof value === 'boolean', 'true or false'],
  maxAge: numberTo(Number.MAX_SAFE_INTEGER),
} satisfies Record<keyof FaultRule, FieldCheck>;

/** Error for an invalid rule, with the name of the invalid field. */
export class FaultRuleError extends Error {
  readonly field: string | undefined;

  constructor(requirement: string, field?: string) {
    super(`Invalid fault rule: ${requirement}`);
    this.field = field;
  }
}

function checkRule(rule: FaultRule): void {
  const check = (isValid: boolean, requirement: string, field?: string): void => {
    if (!isValid) throw new FaultRuleError(`${requirement}.`, field);
  };
  for (const [name, value] of Object.entries(rule)) {
    const [isValid, requirement] = (Object.hasOwn(FIELDS, name) && FIELDS[name]) || [];
    check(isValid !== undefined, `\`${name}\` is not a field: use ${Object.keys(FIELDS).join(', ')}`);
    check(value === undefined || isValid?.(value) === true, `\`${name}\` must be ${requirement}, not ${value}`, name);
  }
  const { delay = 0, inFlight = 0, status, retryAfter, cut, malformed, maxAge } = rule;
  const failures = [status !== undefined, cut !== undefined, malformed === true].filter(Boolean).length;
  check(failures <= 1, 'set only one of `status`, `cut` and `malformed`', 'status');
  check(retryAfter === undefined || status !== undefined, '`retryAfter` requires `status`', 'retryAfter');
  check(
    inFlight === 0 || (status === undefined && cut !== 'before'),
    '`inFlight` cannot be combined with `status` or `cut: "before"`',
    'inFlight',
  );
  check(
    failures > 0 || delay > 0 || inFlight > 0 || maxAge !== undefined,
    'set at least one of `status`, `cut`, `malformed`, `delay`, `inFlight` and `maxAge`',
  );
}

/**
 * Returns a function that tests whether a rule applies to a request. A rule with `inFlight` applies only to requests
 * with an `Idempotency-Key`.
 */
function createMatcher({ on, inFlight }: FaultRule, operations: Operations): (request: FaultRequest) => boolean {
  const matches = typeof on === 'function' ? on : matchPattern(on ?? '*', operations);
  return inFlight === undefined ? matches : (request) => request.headers.has('idempotency-key') && matches(request);
}

function matchPattern(on: string, operations: Operations): (request: FaultRequest) => boolean {
  const operation = Object.entries(operations).find(([name]) => name === on)?.[1];
  const parts = /^(?:([A-Z]+) )?(\/.*|\*.*)$/.exec(operation ? `${operation.method} ${operation.path}` : on);
  if (!parts) {
    const names = Object.keys(operations);
    const similar = similarName(on, names) ?? names.find((name) => on !== '' && name.startsWith(on));
    const hint = similar === undefined ? '' : ` Did you mean "${similar}"?`;
    throw new FaultRuleError(`\`on\` must be an operation, a path, or a method and path, not "${on}".${hint}`, 'on');
  }
  const [, method, path = ''] = parts;
  const matches = createPathMatcher(path);
  // The path pattern of a read operation also matches the path of the list operation: `index` is not an id.
  const isOther = ({ path: sent }: FaultRequest): boolean =>
    operation !== undefined && sent !== path && Object.values(operations).some((other) => other.path === sent);
  return (request) => (method === undefined || method === request.method) && matches(request.path) && !isOther(request);
}
