import { operations } from '../spec/operations.ts';
import type { Random } from './random.ts';

/** A request as a rule about faults sees it. */
export interface FaultRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

/**
 * What goes wrong, and when. One of `status`, `cut` and `malformed`, or `delay` and `inFlight` alone or with one of them.
 */
export interface FaultRule {
  /**
   * Requests that it strikes: an operation (`'audiences.create'`), a path or a method and path, where `{id}` stands for
   * one segment and `*` for anything (`'GET /api/v2/audiences/{id}'`, `'/uploads/*'`), or a function. @default all
   */
  readonly on?: string | ((request: FaultRequest) => boolean) | undefined;
  /** Share of those requests that it strikes, by the seed. @default 1 */
  readonly rate?: number | undefined;
  /** How often it strikes at most. @default no limit */
  readonly times?: number | undefined;
  /** Milliseconds of the machine that the request is held before anything else happens, or until the rule is removed. */
  readonly delay?: number | undefined;
  /**
   * Milliseconds of the machine that a create under an `Idempotency-Key` stays in flight, or until the rule is removed:
   * the service has accepted it, responds 409 to duplicates, and acts even if the caller hangs up. Strikes only requests
   * with that header.
   */
  readonly inFlight?: number | undefined;
  /** The service does not act and answers this error status. */
  readonly status?: number | undefined;
  /** `Retry-After` of that answer, in seconds. */
  readonly retryAfter?: number | undefined;
  /** The connection is cut: before the service acts, after it has acted, or in the middle of the answer's body. */
  readonly cut?: 'before' | 'after' | 'body' | undefined;
  /** The service acts; half of the answer's body comes, as if it were whole. */
  readonly malformed?: boolean | undefined;
}

/** The longest delay that `setTimeout` can hold. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** What of an answer comes before the connection is cut in the middle of its body. */
interface HalfAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** Thrown through the routes when the connection is cut: on purpose, or because the caller has hung up. */
export class ConnectionCut extends Error {
  override readonly name = 'ConnectionCut';
  readonly answer: HalfAnswer | undefined;

  constructor({ answer, ...options }: ErrorOptions & { readonly answer?: HalfAnswer } = {}) {
    super('The connection was cut.', options);
    this.answer = answer;
  }

  /** The cut as `fetch` shows it: a body that breaks off, if there was an answer. */
  toResponse(): Response | undefined {
    if (!this.answer) return undefined;
    const { status, headers, body: half } = this.answer;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(half),
      pull: (controller) => controller.error(new TypeError('terminated', { cause: this })),
    });
    return new Response(body, { status, headers });
  }
}

interface Armed {
  readonly rule: FaultRule;
  readonly matches: (request: FaultRequest) => boolean;
  /** Aborted when the rule is removed, which releases the requests that it holds. */
  readonly removed: AbortController;
  left: number;
}

/** What goes wrong on purpose. */
export class Faults {
  readonly #random: Random;
  readonly #armed = new Set<Armed>();

  constructor(random: Random, rules: readonly FaultRule[]) {
    this.#random = random;
    for (const rule of rules) this.add(rule);
  }

  /** Adds a rule, behind those before it; returns what removes it. */
  add(rule: FaultRule): () => void {
    check(rule);
    const left = rule.times ?? Number.POSITIVE_INFINITY;
    const armed: Armed = { rule, matches: matcher(rule), removed: new AbortController(), left };
    this.#armed.add(armed);
    return () => this.#remove(armed);
  }

  /** Removes all rules. */
  clear(): void {
    for (const armed of this.#armed) this.#remove(armed);
  }

  #remove(armed: Armed): void {
    this.#armed.delete(armed);
    armed.removed.abort();
  }

  /** The first rule that strikes a request. */
  strike(request: FaultRequest): Armed | undefined {
    for (const armed of this.#armed) {
      if (armed.left <= 0 || !armed.matches(request)) continue;
      const { rate = 1 } = armed.rule;
      if (rate < 1 && this.#random.next() >= rate) continue;
      armed.left--;
      return armed;
    }
    return undefined;
  }
}

/** A rule in a few words, for the log. */
export function describeFault({ delay, inFlight, status, cut, malformed }: FaultRule): string {
  return [
    ...(delay === undefined ? [] : [`delay ${delay} ms`]),
    ...(inFlight === undefined ? [] : [`in flight ${inFlight} ms`]),
    ...(status === undefined ? [] : [`status ${status}`]),
    ...(cut === undefined ? [] : [`cut ${cut}`]),
    ...(malformed ? ['malformed'] : []),
  ].join(', ');
}

function check(rule: FaultRule): void {
  const { rate = 1, times = 0, delay = 0, inFlight = 0, status, retryAfter, cut, malformed } = rule;
  const wrong = (what: string): Error => new Error(`A fault rule is wrong: ${what}.`);
  if (!(rate >= 0 && rate <= 1)) throw wrong(`\`rate\` is a share from 0 to 1, not ${rate}`);
  if (!(times >= 0)) throw wrong('`times` is a number from 0');
  for (const [name, ms] of Object.entries({ delay, inFlight }))
    if (!(ms >= 0 && ms <= LONGEST_DELAY)) throw wrong(`\`${name}\` is a number from 0 to ${LONGEST_DELAY}`);
  if (status !== undefined && !(Number.isInteger(status) && status >= 400 && status <= 599))
    throw wrong(`\`status\` is an error status, 400 to 599, not ${status}`);
  if (retryAfter !== undefined && status === undefined) throw wrong('`retryAfter` goes with `status`');
  if (cut !== undefined && !['before', 'after', 'body'].includes(cut)) throw wrong(`\`cut\` cannot be "${cut}"`);
  const ways = [status !== undefined, cut !== undefined, malformed === true].filter(Boolean).length;
  if (ways > 1) throw wrong('`status`, `cut` and `malformed` exclude each other');
  if (inFlight > 0 && (status !== undefined || cut === 'before'))
    throw wrong('`inFlight` is for creates that the service acts on, without `status` and `cut: "before"`');
  if (ways === 0 && delay === 0 && inFlight === 0)
    throw wrong('it needs one of `status`, `cut`, `malformed`, `delay` and `inFlight`');
}

function matcher({ on, inFlight }: FaultRule): (request: FaultRequest) => boolean {
  const matches = matcherOf(on);
  return inFlight === undefined ? matches : (request) => request.headers.has('idempotency-key') && matches(request);
}

function matcherOf(on: FaultRule['on']): (request: FaultRequest) => boolean {
  if (on === undefined) return () => true;
  if (typeof on === 'function') return on;
  const named = Object.entries(operations).find(([name]) => name === on)?.[1];
  const text = named ? `${named.method} ${named.path}` : on;
  const parts = /^(?:([A-Z]+) )?(\/.*|\*.*)$/.exec(text);
  if (!parts) throw new Error(`A fault rule is wrong: "${on}" is no operation, path, or method and path.`);
  const [, method, path = ''] = parts;
  const escaped = path.replace(/[.+?^$()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  const pattern = new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
  return (request) => (method === undefined || method === request.method) && pattern.test(request.path);
}
