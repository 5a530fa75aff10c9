import type { ServiceContract } from '../../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../../spec/operations.ts';
import type { Reply } from './evidence.ts';
import { JUDGED } from './findings.ts';
import { isWritePath } from './probe.ts';

/** A way to call an operation. */
export interface Candidate {
  readonly method: Method;
  readonly path: string;
  /** Field of the body that has the id, if the path has none. */
  readonly idField?: string | undefined;
  /** True if nothing but its usual form speaks for it. */
  readonly isGuess?: boolean;
}

/** Returns whether a candidate is the way that the package assumes. */
export const isAssumed = (name: OperationName, { method, path, idField }: Candidate): boolean =>
  operations[name].method === method && operations[name].path === path && idField === undefined;

/** Returns how a candidate differs from the assumed request, for a contract. */
export function settingOf(name: OperationName, { method, path }: Candidate): ServiceContract {
  const assumed = operations[name];
  const change = { ...(method !== assumed.method && { method }), ...(path !== assumed.path && { path }) };
  return { operations: { [name]: change } };
}

/** Usual ways by the assumed one, likely ones first, after the name of the resource; a word at the end is the field of the id. */
const USUAL: Readonly<Record<string, readonly string[]>> = {
  'GET {resources}/index': ['GET ', 'GET /index', 'GET /list', 'GET /all'],
  'GET {resources}/{id}': ['GET /{id}', 'GET /show/{id}', 'GET /{id}/show', 'GET /get/{id}', 'GET /view/{id}'],
  'POST {resources}/create': ['POST ', 'POST /{verb}', 'POST /store', 'POST /add', 'POST /new'],
  'POST {resources}/{id}/delete': [
    'DELETE /{id}',
    'POST /delete/{id}',
    'POST /{id}/delete',
    'POST /delete id',
    'POST /delete {resource}_id',
    'DELETE /{id}/delete',
    'DELETE /delete/{id}',
    'POST /{id}/destroy',
  ],
};

/** Operations that are called as another one. */
const LIKE: Partial<Record<OperationName, OperationName>> = { 'lookalikes.get': 'audiences.get' };

/** Returns the names of the resource of an operation in paths. */
function nounsOf(name: OperationName): { plural: string; singular: string; verb: string } {
  const [plural = '', verb = ''] = name.split('.');
  return { plural, singular: plural.replace(/s$/, ''), verb };
}

/** Returns a template with the names of a resource. */
function fill(template: string, name: OperationName): string {
  const { plural, singular, verb } = nounsOf(name);
  return template.replaceAll('{resources}', plural).replaceAll('{resource}', singular).replaceAll('{verb}', verb);
}

/** Returns a string with the names of its resource as parameters. */
function templateOf(text: string, name: OperationName): string {
  const { plural, singular } = nounsOf(name);
  return text.replaceAll(plural, '{resources}').replaceAll(singular, '{resource}');
}

/** Returns whether a path has the name of the resource of an operation. */
const namesResource = (name: OperationName, path: string): boolean => templateOf(path, name) !== path;

/** Returns what the operations that follow one convention have in common: the assumed way, without the resource. */
function kindOf(name: OperationName): string {
  const model = LIKE[name] ?? name;
  const { method, path } = operations[model];
  return `${method} ${templateOf(path, model).replace(`${API}/`, '')}`;
}

/** Returns the usual ways to call an operation, below {@link API}. */
function usualWays(name: OperationName): Candidate[] {
  const shapes = (USUAL[kindOf(name)] ?? []).map((shape) => shape.split(' '));
  return shapes.flatMap(([method = '', end = '', idField]) =>
    ['{resources}', '{resource}'].map((noun) => ({
      method: method === 'GET' || method === 'DELETE' ? method : 'POST',
      path: fill(`${API}/${noun}${end}`, name),
      idField: idField && fill(idField, name),
      isGuess: true,
    })),
  );
}

/** Returns whether a segment of a path may be an id of the account: it has a digit, and is no version. */
const hasLiteralId = (path: string): boolean =>
  path.split('/').some((segment) => /[\d%]/.test(segment) && !/^v\d+$/i.test(segment));

/** Words of writes that a create must not be. */
const REMOVAL = /delete|destroy|remove|drop|trash|purge|cancel|revoke|archive|reset/i;

const countIds = (template: string): number => template.split('{').length;

/** Returns whether a check may call a way that a service redirects to, or that a contract has. */
function isSafe(name: OperationName, { method, path }: Candidate): boolean {
  const assumed = operations[name];
  if (!/^(?:\/[\w{}.~:@!$&()*+,;=%-]*)+$/.test(path) || countIds(path) !== countIds(assumed.path)) return false;
  if (assumed.method === 'GET') return method === 'GET' && !isWritePath(path);
  if (method === 'GET' || hasLiteralId(path) || !namesResource(name, path)) return false;
  return !isOther(name, method, path) && (!/\.(?:create|reserve)$/.test(name) || !REMOVAL.test(path));
}

/** Returns whether a way is that of another operation: the assumed one, or one that ends as usual ones. */
function isOther(name: OperationName, method: Method, path: string): boolean {
  const isAt = (other: OperationName): boolean =>
    operations[other].method === method && operations[other].path === path;
  const isUsual = (other: OperationName): boolean =>
    usualWays(other).some((way) => way.method === method && !way.idField && path.endsWith(way.path.slice(API.length)));
  return (JUDGED.find(isAt) ?? JUDGED.find(isUsual) ?? name) !== name;
}

/** The ways to call operations that a check knows, and the order in which it tries them. */
export class Candidates {
  readonly #maxMisses: number;
  readonly #expected: ServiceContract['operations'];
  readonly #redirects = new Map<OperationName, Candidate>();
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

  /** Returns whether the contract has a way that the check must not call, such as the delete of something literal. */
  isHeldBack(name: OperationName): boolean {
    const way = this.#expectedWay(name);
    return way !== undefined && !isAssumed(name, way) && !isSafe(name, way);
  }

  #expectedWay(name: OperationName): Candidate | undefined {
    const { method, path } = operations[name];
    const expected = this.#expected?.[name];
    return expected && { method: expected.method ?? method, path: expected.path ?? path };
  }

  /** Adds the target of a redirect, which is not followed, if it names the resource. */
  redirect(name: OperationName, { method }: Candidate, { status, redirect: path = '' }: Reply): void {
    // 301 to 303 change a POST to a GET.
    const isSame = method === 'GET' || status === 307 || status === 308;
    if (isSame && namesResource(name, path) && isSafe(name, { method, path }))
      this.#redirects.set(name, { method, path });
  }

  /** Counts a refused candidate. */
  miss(): void {
    this.#misses++;
  }

  /** Keeps a way that works, and its convention for other resources. */
  works(name: OperationName, candidate: Candidate): void {
    const { method, path, idField } = candidate;
    this.#working.set(name, candidate);
    if (operations[name].documented || !namesResource(name, path)) return;
    const convention = { method, path: templateOf(path, name), idField: idField && templateOf(idField, name) };
    const others = (this.#conventions.get(kindOf(name)) ?? []).filter(({ path }) => path !== convention.path);
    this.#conventions.set(kindOf(name), [convention, ...others]);
  }

  /** Returns the way to call an operation that a response has confirmed. */
  working(name: OperationName): Candidate | undefined {
    return this.#working.get(name);
  }

  /**
   * Returns the way to call an operation that was not tried, as all other resources have it: unless they differ, or the
   * list of this one is elsewhere.
   */
  untried(name: OperationName): Candidate | undefined {
    if (this.#tried.has(name) || this.isHeldBack(name)) return undefined;
    const model = LIKE[name];
    const [way, ...others] = model ? [this.#working.get(model)] : this.#conventional(name);
    // What has no list is made of audiences.
    const list = JUDGED.find((other) => other === name.replace(/\.\w+$/, '.list')) ?? 'audiences.list';
    return this.#working.has(list) && others.length === 0 && !way?.idField ? way : undefined;
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
    return [
      ...[this.#expectedWay(name), this.#redirects.get(name)].filter((way) => way !== undefined),
      ...this.#conventional(name),
      { method, path },
      ...usualWays(name),
    ];
  }

  /** Returns the ways that other resources have shown, the last one first. */
  #conventional(name: OperationName): Candidate[] {
    const model = LIKE[name];
    const modelled = model && this.#working.get(model);
    const conventions = this.#conventions.get(kindOf(name)) ?? [];
    return [
      ...(modelled ? [modelled] : []),
      ...conventions.map(({ method, path, idField }) => ({
        method,
        path: fill(path, name),
        idField: idField && fill(idField, name),
      })),
    ];
  }
}
