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
export type Action = 'list' | 'get' | 'create' | 'delete';

/** Names of a resource in paths. */
interface Nouns {
  readonly plural: string;
  readonly singular: string;
}

const nounsOf = (name: OperationName): Nouns => {
  const [plural = ''] = name.split('.');
  return { plural, singular: plural.replace(/s$/, '') };
};

const actionOf = (name: OperationName): Action | undefined => {
  // A reservation is a create of an upload.
  const action = name === 'uploads.reserve' ? 'create' : name.split('.')[1];
  return action === 'list' || action === 'get' || action === 'create' || action === 'delete' ? action : undefined;
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
  // A field after the path is that of the body which has the id.
  delete: [
    'DELETE {resources}/{id}',
    'POST {resources}/delete/{id}',
    'POST {resource}/{id}/delete',
    'DELETE {resource}/{id}',
    'POST {resource}/delete/{id}',
    'POST {resources}/delete id',
    'POST {resources}/delete {resource}_id',
    'DELETE {resources}/delete/{id}',
    'DELETE {resources}/{id}/delete',
    'POST {resources}/{id}/destroy',
    'POST {resource}/delete id',
    'POST {resource}/delete {resource}_id',
  ],
};

/** Further guesses for the reservation of an upload. */
const RESERVATIONS: readonly string[] = ['POST {resources}/reserve', 'POST {resources}/presign'];

const fill = (template: string, { plural, singular }: Nouns): string =>
  template.replaceAll('{resources}', plural).replaceAll('{resource}', singular);

/** Returns a path with the names of its resource as parameters; `undefined` if it has none of them. */
function templateOf(path: string, { plural, singular }: Nouns): string | undefined {
  const template = path
    .replaceAll(new RegExp(`(?<![a-z])${plural}(?![a-z])`, 'g'), '{resources}')
    .replaceAll(new RegExp(`(?<![a-z])${singular}(?![a-z])`, 'g'), '{resource}');
  return template === path ? undefined : template;
}

/** Returns whether a path has a number as a segment: it may be an id of the account. */
export const hasLiteralId = (path: string): boolean => /\/\d+(?:\/|$)/.test(path);

/** Returns whether a path has the name of the resource of an operation. */
export const namesResource = (name: OperationName, path: string): boolean =>
  templateOf(path, nounsOf(name)) !== undefined;

/** Published paths that are tried for one operation. */
const MAX_PUBLISHED = 3;

/** The order in which the ways to call an operation are tried: published, conventional, assumed, then guessed ones. */
export class Candidates {
  readonly #expected: ServiceContract['operations'];
  readonly #published = new Map<OperationName, Candidate[]>();
  readonly #conventions = new Map<Action, Candidate[]>();
  readonly #exhausted = new Set<Action>();
  /** Way to read an audience, by which lookalikes are read, too. */
  #lookalikes: Candidate | undefined;

  /** @param expected Differences that an earlier check has found. */
  constructor(expected: ServiceContract['operations']) {
    this.#expected = expected;
  }

  /** Adds a path that the service publishes. */
  publish(name: OperationName, method: Method, path: string): void {
    if (method === 'GET' ? isWritePath(path) : hasLiteralId(path)) return;
    const all = [...(this.#published.get(name) ?? []), { method, path, source: 'published' as const }];
    // The path with the fewest segments is the most general one.
    all.sort((one, other) => one.path.split('/').length - other.path.split('/').length);
    this.#published.set(name, all.slice(0, MAX_PUBLISHED));
  }

  /** Returns what the service publishes for an operation. */
  publishedFor(name: OperationName): Candidate | undefined {
    return this.#published.get(name)?.[0];
  }

  /** Adds the convention of a path that works, for other resources. */
  learn(name: OperationName, { method, path, idField }: Candidate): void {
    if (name === 'audiences.get') this.#lookalikes = { method, path, source: 'convention' };
    const action = actionOf(name);
    const template = templateOf(path, nounsOf(name));
    if (!action || !template || APART.includes(name)) return;
    const field = idField && (templateOf(idField, nounsOf(name)) ?? idField);
    const convention: Candidate = { method, path: template, source: 'convention', ...(field && { idField: field }) };
    const others = (this.#conventions.get(action) ?? []).filter(({ path }) => path !== template);
    this.#conventions.set(action, [convention, ...others]);
  }

  /** Returns the way to call an operation that all other resources have; `undefined` if they differ, or none is known. */
  analogyFor(name: OperationName): Candidate | undefined {
    if (name === 'lookalikes.get') return this.#lookalikes;
    const ways = this.#conventionsFor(name);
    return ways.length === 1 ? ways[0] : undefined;
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
    const isLookalike = name === 'lookalikes.get';
    const all: Candidate[] = [
      ...(expected
        ? [{ method: expected.method ?? method, path: expected.path ?? path, source: 'expected' } as const]
        : []),
      ...(this.#published.get(name) ?? []),
      ...(isLookalike ? [this.#lookalikes].filter((way) => way !== undefined) : this.#conventionsFor(name)),
      { method, path, source: 'assumed' },
      ...(isLookalike ? this.#conventionsFor(name) : []),
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
    const isSingular = (template: string): boolean => /\{resource\}(?!_)/.test(template);
    const prefersSingular = learned.filter(isSingular).length * 2 > learned.length;
    const templates = [...GUESSES[action], ...(name === 'uploads.reserve' ? RESERVATIONS : [])];
    // A stable sort: within the two groups, the order stays.
    if (prefersSingular) templates.sort((a, b) => Number(isSingular(b)) - Number(isSingular(a)));
    return templates.map((template) => {
      const [method = '', path = '', idField] = template.split(' ').map((part) => fill(part, nouns));
      return {
        method: methodOf(method),
        path: `${fill(prefix, nouns)}${path}`,
        ...(idField !== undefined && { idField }),
        source: 'guess' as const,
      };
    });
  }
}

const methodOf = (text: string): Method => (text === 'GET' || text === 'DELETE' ? text : 'POST');

/** Returns whether a candidate is the way that the package assumes. */
export const isAssumed = (name: OperationName, { method, path, idField }: Candidate): boolean =>
  operations[name].method === method && operations[name].path === path && idField === undefined;
