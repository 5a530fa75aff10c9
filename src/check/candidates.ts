import type { ServiceContract } from '../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../spec/operations.ts';
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
function usualWays(name: OperationName, isSingular = false): Candidate[] {
  const nouns = isSingular ? ['{resource}', '{resources}'] : ['{resources}', '{resource}'];
  const shapes = (USUAL[kindOf(name)] ?? []).map((shape) => shape.split(' '));
  return shapes.flatMap(([method = '', end = '', idField]) =>
    nouns.map((noun) => ({
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

/** Returns whether a check may call a way that a service publishes, redirects to, or that a contract has. */
function isSafe(
  name: OperationName,
  { method, path }: Pick<Candidate, 'method' | 'path'>,
  isNamed = namesResource(name, path),
): boolean {
  const assumed = operations[name];
  if (!/^(?:\/[\w{}.~:@!$&()*+,;=%-]*)+$/.test(path) || countIds(path) !== countIds(assumed.path)) return false;
  if (assumed.method === 'GET') return method === 'GET' && !isWritePath(path);
  if (method === 'GET' || hasLiteralId(path) || !isNamed) return false;
  return (
    (operationAt(method, path, '') ?? name) === name && (!/\.(?:create|reserve)$/.test(name) || !REMOVAL.test(path))
  );
}

/**
 * Returns the operation that a published one certainly is: by its path, which is the assumed one or ends in a usual way,
 * or by its name, which has no other words. What is called in vain must not do anything else.
 */
export function operationAt(method: Method, path: string, label: string): OperationName | undefined {
  const isUsual = (name: OperationName): boolean =>
    usualWays(name).some((way) => {
      const end = way.path.slice(API.length);
      const prefix = path.slice(0, -end.length);
      const isWay = way.method === method && way.idField === undefined && path.endsWith(end);
      return isWay && !prefix.includes('{') && !hasLiteralId(prefix) && !isWritePath(prefix);
    });
  const isAt = (name: OperationName): boolean =>
    operations[name].method === method && operations[name].path.replace(/\{\w+\}/g, '{id}') === path;
  const isNamed = (name: OperationName): boolean => {
    const assumed = operations[name];
    const isOfForm = (assumed.method === 'GET') === (method === 'GET') && countIds(assumed.path) === countIds(path);
    return isOfForm && wordsOf(name) === wordsOf(label);
  };
  return JUDGED.find(isAt) ?? JUDGED.find(isUsual) ?? JUDGED.find(isNamed);
}

/** Names of routes of Laravel, which its generators of documents publish. */
const LARAVEL: Readonly<Record<string, string>> = { index: 'list', show: 'get', store: 'create', destroy: 'delete' };

/** Returns the words of a name in the singular, sorted. */
const wordsOf = (name: string): string =>
  (name.replace(/([a-z])([A-Z])/g, '$1 $2').match(/[a-z]+/gi) ?? [])
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .map((word) => LARAVEL[word] ?? word)
    .sort()
    .join(' ');

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

  /** Adds a path that the service publishes, or redirects to. */
  publish(name: OperationName, method: Method, path: string, label = ''): void {
    if (!isSafe(name, { method, path }, wordsOf(label) === wordsOf(name) || undefined)) return;
    this.#published.set(name, [{ method, path }, ...(this.#published.get(name) ?? [])].slice(0, MAX_PUBLISHED));
  }

  /** Adds the target of a redirect, which is not followed, if it names the resource. */
  redirect(name: OperationName, { method }: Candidate, { status, redirect = '' }: Reply): void {
    // 301 to 303 change a POST to a GET.
    const isSame = method === 'GET' || status === 307 || status === 308;
    if (isSame && namesResource(name, redirect)) this.publish(name, method, redirect);
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

  /**
   * Returns a way to call an operation that was not tried: a published one, or else that of all other resources, unless
   * they differ, or the list of this one is elsewhere.
   */
  untried(name: OperationName): { readonly way: Candidate; readonly isPublished: boolean } | undefined {
    if (this.#tried.has(name) || this.isHeldBack(name)) return undefined;
    const [published] = this.#published.get(name) ?? [];
    if (published) return { way: published, isPublished: true };
    const model = LIKE[name];
    const [way, ...others] = model ? [this.#working.get(model)] : this.#conventional(name);
    // What has no list is made of audiences.
    const list = JUDGED.find((other) => other === name.replace(/\.\w+$/, '.list')) ?? 'audiences.list';
    const isOpen = this.#working.has(list) && others.length === 0;
    return way && isOpen && !way.idField ? { way, isPublished: false } : undefined;
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
    const expected = this.#expectedWay(name);
    const isSingular = [...this.#conventions.values()].flat().some(({ path }) => path.includes('{resource}'));
    return [
      ...(expected ? [expected] : []),
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
      ...conventions.map(({ method, path, idField }) => ({
        method,
        path: fill(path, name),
        idField: idField && fill(idField, name),
      })),
    ];
  }
}
