import type { ServiceContract } from '../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../spec/operations.ts';
import { isWritePath } from './probe.ts';

/** A way to call an operation. */
export interface Candidate {
  readonly method: Method;
  readonly path: string;
  /** Field of the body that has the id, if the path has none. */
  readonly idField?: string;
  readonly source: 'expected' | 'published' | 'convention' | 'assumed' | 'guess';
}

/** Kinds of operations that follow one convention. */
export type Action = 'list' | 'get' | 'create' | 'delete' | 'reserve';

/** Names of a resource in paths. */
interface Nouns {
  readonly plural: string;
  readonly singular: string;
}

const nounsOf = (name: OperationName): Nouns => {
  const [plural = ''] = name.split('.');
  return { plural, singular: plural.replace(/s$/, '') };
};

export const actionOf = (name: OperationName): Action | undefined => {
  const action = name.split('.')[1];
  return action === 'list' || action === 'get' || action === 'create' || action === 'delete' || action === 'reserve'
    ? action
    : undefined;
};

/** Operations whose paths follow no convention: they are documented, or the resource is another one. */
const APART: readonly OperationName[] = ['usage.get', 'webhooks.list', 'reference.list'];

/** Guesses of each action, likely ones first: paths below the prefix, with the names of the resource in them. */
const GUESSES: Readonly<Record<Action, readonly string[]>> = {
  list: [
    'GET {resources}',
    'GET {resource}/index',
    'GET {resources}/list',
    'GET {resource}',
    'GET {resource}/list',
    'GET {resources}/all',
  ],
  get: [
    'GET {resource}/{id}',
    'GET {resources}/show/{id}',
    'GET {resource}/show/{id}',
    'GET {resources}/{id}/show',
    'GET {resources}/get/{id}',
    'GET {resource}/get/{id}',
    'GET {resource}/{id}/show',
    'GET {resources}/view/{id}',
    'GET {resources}/details/{id}',
  ],
  create: [
    'POST {resources}',
    'POST {resource}/create',
    'POST {resources}/store',
    'POST {resource}',
    'POST {resource}/store',
    'POST {resources}/add',
    'POST {resources}/new',
  ],
  delete: [
    'DELETE {resources}/{id}',
    'POST {resources}/delete/{id}',
    'POST {resource}/{id}/delete',
    'DELETE {resource}/{id}',
    'POST {resource}/delete/{id}',
    'DELETE {resources}/delete/{id}',
    'DELETE {resources}/{id}/delete',
    'POST {resources}/{id}/destroy',
    'DELETE {resource}/delete/{id}',
  ],
  reserve: [
    'POST {resources}',
    'POST {resources}/reserve',
    'POST {resource}/create',
    'POST {resource}',
    'POST {resources}/presign',
  ],
};

/** Deletes that take the id in the body; tried last. */
const ID_FIELDS: readonly string[] = ['id', '{resource}_id'];

const fill = (template: string, { plural, singular }: Nouns): string =>
  template.replaceAll('{resources}', plural).replaceAll('{resource}', singular);

/** Returns a path with the names of its resource as parameters; `undefined` if it has none of them. */
function templateOf(path: string, { plural, singular }: Nouns): string | undefined {
  const template = path
    .replaceAll(new RegExp(`(?<![a-z])${plural}(?![a-z])`, 'g'), '{resources}')
    .replaceAll(new RegExp(`(?<![a-z])${singular}(?![a-z])`, 'g'), '{resource}');
  return template === path ? undefined : template;
}

/** The order in which the ways to call an operation are tried: published, conventional, assumed, then guessed ones. */
export class Candidates {
  readonly #expected: ServiceContract['operations'];
  readonly #published = new Map<OperationName, Candidate[]>();
  readonly #conventions = new Map<Action, Candidate[]>();
  readonly #exhausted = new Set<Action>();

  /** @param expected Differences that an earlier check has found. */
  constructor(expected: ServiceContract['operations']) {
    this.#expected = expected;
  }

  /** Adds a path that the service publishes. */
  publish(name: OperationName, method: Method, path: string): void {
    if (method === 'GET' && isWritePath(path)) return;
    const all = this.#published.get(name) ?? [];
    this.#published.set(name, [...all, { method, path, source: 'published' }]);
  }

  /** Returns what the service publishes for an operation. */
  publishedFor(name: OperationName): Candidate | undefined {
    return this.#published.get(name)?.[0];
  }

  /** Adds the convention of a path that works, for other resources. */
  learn(name: OperationName, { method, path, idField }: Candidate): void {
    const action = actionOf(name);
    const template = templateOf(path, nounsOf(name));
    if (!action || !template || APART.includes(name)) return;
    const field = idField && (templateOf(idField, nounsOf(name)) ?? idField);
    const convention: Candidate = { method, path: template, source: 'convention', ...(field && { idField: field }) };
    const others = (this.#conventions.get(action) ?? []).filter(({ path }) => path !== template);
    this.#conventions.set(action, [convention, ...others]);
  }

  /** Returns the way to call an operation that follows from other resources; `undefined` if none has shown one. */
  analogyFor(name: OperationName): Candidate | undefined {
    return this.#conventionsFor(name === 'lookalikes.get' ? 'audiences.get' : name)[0];
  }

  /** Returns the ways that other resources have shown, the last one first. */
  #conventionsFor(name: OperationName): Candidate[] {
    const action = actionOf(name);
    if (!action || APART.includes(name)) return [];
    const nouns = nounsOf(name);
    return (this.#conventions.get(action) ?? []).map(({ idField, ...convention }) => ({
      ...convention,
      path: fill(convention.path, nouns),
      ...(idField && { idField: fill(idField, nouns) }),
    }));
  }

  /** Ends guesses of an action: every guess has failed for one resource. */
  exhaust(name: OperationName): void {
    const action = actionOf(name);
    if (action) this.#exhausted.add(action);
  }

  /** Returns the ways to call an operation, in the order to try them. */
  of(name: OperationName): readonly Candidate[] {
    const { method, path } = operations[name];
    const expected = this.#expected?.[name];
    const analogy = this.analogyFor(name);
    const all: Candidate[] = [
      ...(expected
        ? [{ method: expected.method ?? method, path: expected.path ?? path, source: 'expected' } as const]
        : []),
      ...(this.#published.get(name) ?? []),
      ...(analogy ? [analogy] : []),
      { method, path, source: 'assumed' },
      ...(name === 'lookalikes.get' ? this.#conventionsFor(name) : []),
      ...this.#guesses(name),
    ];
    const seen = new Set<string>();
    return all.flatMap((candidate) => {
      const key = `${candidate.method} ${candidate.path} ${candidate.idField ?? ''}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...candidate, ...(isAssumed(name, candidate) && { source: 'assumed' as const }) }];
    });
  }

  #guesses(name: OperationName): Candidate[] {
    const action = actionOf(name);
    if (!action || this.#exhausted.has(action) || APART.includes(name) || name === 'lookalikes.get') return [];
    const nouns = nounsOf(name);
    const learned = [...this.#conventions.values()].flat().map(({ path }) => path);
    const prefix = learned.map((path) => /^(.*?\/)\{resources?\}/.exec(path)?.[1]).find(Boolean) ?? `${API}/`;
    const isSingular = (path: string): boolean => path.includes('{resource}');
    const prefersSingular = learned.filter(isSingular).length * 2 > learned.length;
    const guesses = GUESSES[action].map((guess) => {
      const [method = '', path = ''] = guess.split(' ');
      return { method: methodOf(method), path: `${prefix}${path}`, source: 'guess' as const };
    });
    // A stable sort: within the two groups, the order stays.
    if (prefersSingular) guesses.sort((a, b) => Number(isSingular(b.path)) - Number(isSingular(a.path)));
    const filled = guesses.map((guess) => ({ ...guess, path: fill(guess.path, nouns) }));
    if (action !== 'delete') return filled;
    const withField = ID_FIELDS.flatMap((field) =>
      [`${prefix}{resources}/delete`, `${prefix}{resource}/delete`].map((path) => ({
        method: 'POST' as const,
        path: fill(path, nouns),
        idField: fill(field, nouns),
        source: 'guess' as const,
      })),
    );
    return [...filled, ...withField];
  }
}

const methodOf = (text: string): Method => (text === 'GET' || text === 'DELETE' ? text : 'POST');

/** Returns whether a candidate is the way that the package assumes. */
export const isAssumed = (name: OperationName, { method, path, idField }: Candidate): boolean =>
  operations[name].method === method && operations[name].path === path && idField === undefined;
