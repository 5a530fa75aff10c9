import type { ServiceContract } from '../spec/contract.ts';
import { type Method, type OperationName, operations } from '../spec/operations.ts';
import { JUDGED } from './findings.ts';
import { isWritePath } from './probe.ts';
import {
  type Candidate,
  fill,
  hasLiteralId,
  kindOf,
  LIKE,
  namesResource,
  templateOf,
  usualWays,
} from './usual-ways.ts';

/** Published paths that are tried for one operation. */
const MAX_PUBLISHED = 3;

/** The ways to call operations that a check knows, and the order in which it tries them. */
export class Candidates {
  readonly #maxMisses: number;
  readonly #expected: ServiceContract['operations'];
  readonly #published = new Map<OperationName, Candidate[]>();
  /** Ways that have worked for one resource, as templates by the kind of operation, the last one first. */
  readonly #conventions = new Map<string, Candidate[]>();
  readonly #working = new Map<OperationName, Candidate>();
  readonly #tried = new Set<OperationName>();
  #misses = 0;

  /**
   * @param maxMisses Refused candidates after which no more are guessed.
   * @param expected Differences that an earlier check has found.
   */
  constructor(maxMisses: number, expected: ServiceContract['operations']) {
    this.#maxMisses = maxMisses;
    this.#expected = expected;
  }

  /** Adds a path that the service publishes, or redirects to. */
  publish(name: OperationName, method: Method, path: string): void {
    if (method === 'GET' ? isWritePath(path) : hasLiteralId(path)) return;
    this.#published.set(name, [{ method, path }, ...(this.#published.get(name) ?? [])].slice(0, MAX_PUBLISHED));
  }

  /** Adds the target of a redirect, if it names the resource. */
  redirect(name: OperationName, { method }: Candidate, path: string): void {
    if (namesResource(name, path)) this.publish(name, method, path);
  }

  /** Counts a refused candidate. */
  miss(): void {
    this.#misses++;
  }

  /** Keeps a way that works. */
  works(name: OperationName, candidate: Candidate): void {
    this.#working.set(name, candidate);
    this.learn(name, candidate);
  }

  /** Adds the convention of a way, for other resources. */
  learn(name: OperationName, { method, path, idField }: Candidate): void {
    if (operations[name].documented || !namesResource(name, path)) return;
    const convention = { method, path: templateOf(path, name), idField: idField && templateOf(idField, name) };
    const others = (this.#conventions.get(kindOf(name)) ?? []).filter(({ path }) => path !== convention.path);
    this.#conventions.set(kindOf(name), [convention, ...others]);
  }

  /** Returns the way to call an operation that a response has confirmed. */
  working(name: OperationName): Candidate | undefined {
    return this.#working.get(name);
  }

  /** Returns what the service publishes for an operation. */
  publishedFor(name: OperationName): Candidate | undefined {
    return this.#published.get(name)?.[0];
  }

  /**
   * Returns the way to call an operation that all other resources have; `undefined` if they differ, or it was tried in
   * vain, or the list of its resource is elsewhere.
   */
  analogyFor(name: OperationName): Candidate | undefined {
    const [convention, ...others] = this.#conventional(name);
    // What has no list is made of audiences.
    const list = JUDGED.find((other) => other === name.replace(/\.\w+$/, '.list')) ?? 'audiences.list';
    const isElsewhere = this.#tried.has(name) || !this.#working.has(list);
    return isElsewhere || others.length > 0 || convention?.idField ? undefined : convention;
  }

  /** Yields the ways to call an operation, in the order to try them: what is found meanwhile is tried next. */
  *of(name: OperationName): Generator<Candidate> {
    this.#tried.add(name);
    const seen = new Set<string>();
    const keyOf = ({ method, path, idField }: Candidate): string => `${method} ${path} ${idField ?? ''}`;
    for (;;) {
      const next = this.#all(name).find((candidate) => !seen.has(keyOf(candidate)));
      if (!next || (next.isGuess && this.#misses >= this.#maxMisses)) return;
      seen.add(keyOf(next));
      yield next;
    }
  }

  #all(name: OperationName): Candidate[] {
    const { method, path } = operations[name];
    const expected = this.#expected?.[name];
    const isSingular = [...this.#conventions.values()].flat().some(({ path }) => path.includes('{resource}'));
    return [
      ...(expected ? [{ method: expected.method ?? method, path: expected.path ?? path }] : []),
      ...(this.#published.get(name) ?? []),
      ...this.#conventional(name),
      { method, path },
      ...usualWays(name, isSingular),
    ];
  }

  /** Returns the ways that other resources have shown, the last one first. */
  #conventional(name: OperationName): Candidate[] {
    const model = LIKE[name];
    const modelled = model && this.#working.get(model);
    const conventions = this.#conventions.get(kindOf(name)) ?? [];
    return [
      ...(modelled ? [modelled] : []),
      ...conventions.map(({ path, idField, ...convention }) => ({
        ...convention,
        path: fill(path, name),
        idField: idField && fill(idField, name),
      })),
    ];
  }
}
