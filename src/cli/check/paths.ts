import type { ServiceContract } from '../../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../../spec/operations.ts';

/** Usual ends of the paths of reads. */
const ENDS = {
  list: ['', '/index', '/list', '/all'],
  get: ['/{id}', '/show/{id}', '/{id}/show', '/get/{id}', '/view/{id}'],
} as const;

/** Maximum number of paths that the check tries for an operation. */
const MAX_TRIES = 12;

/** Words that name a write. The check never sends a GET to such a path, because a service might also act on GET. */
const WRITE_WORD =
  /^(?:create|store|add|new|insert|save|submit|delete|destroy|remove|drop|trash|purge|cancel|stop|abort|revoke|update|edit|replace|activate|deactivate|run|start|claim|reset|logout|login|export|import|send|publish|refresh|sync|clone|copy|duplicate|retry|rebuild|trigger|execute|archive|restore)$/i;
const REMOVAL = /delete|destroy|remove|drop|trash|purge|cancel|revoke|archive|reset/i;

const namespaceOf = (name: OperationName): string => name.replace(/\.\w+$/, '');
const verbOf = (name: OperationName): 'list' | 'get' => (name.endsWith('.list') ? 'list' : 'get');

/** Returns the names of a resource in paths: `audiences`, `audience`, `Audiences`, `Audience`. */
function nounsOf(plural: string): readonly string[] {
  const capital = plural.charAt(0).toUpperCase() + plural.slice(1);
  return [plural, plural.slice(0, -1), capital, capital.slice(0, -1)];
}

/** Names of the resource of an operation. Lookalikes are audiences. */
const namesOf = (name: OperationName): readonly string[] =>
  nounsOf(name === 'lookalikes.get' ? 'audiences' : namespaceOf(name));

/** Returns a path with parameters for the names of a resource. */
const templateOf = (path: string, name: OperationName): string =>
  namesOf(name).reduce((text, noun, index) => text.replaceAll(noun, `<${index}>`), path);

const fill = (template: string, name: OperationName): string =>
  namesOf(name).reduce((text, noun, index) => text.replaceAll(`<${index}>`, noun), template);

/** The paths of operations: the configured paths and, for reads, common alternatives. */
export class Paths {
  readonly #contract: ServiceContract;
  /** Templates that have worked for another resource, the last one first. */
  readonly #conventions = { list: [] as string[], get: [] as string[] };
  /** Paths of reads that responses have confirmed. */
  readonly working = new Map<string, string>();
  /** Path to try next after a redirect, which is not followed. */
  redirected: string | undefined;

  constructor(contract: ServiceContract) {
    this.#contract = contract;
  }

  /** Returns method and path by the contract, or as assumed. */
  inEffect(name: OperationName): { readonly method: Method; readonly path: string } {
    const assumed = operations[name];
    const { method = assumed.method, path = assumed.path } = this.#contract.operations?.[name] ?? {};
    return { method, path };
  }

  /** Returns whether a check may send an operation at the path in effect. A hostile contract may name the path of another operation. */
  isCallable(name: OperationName): boolean {
    const { method, path } = this.inEffect(name);
    const assumed = operations[name];
    if (method === assumed.method && path === assumed.path) return true;
    const hasIds = path.split('{').length === assumed.path.split('{').length;
    if (!hasIds || (method === 'GET') !== (assumed.method === 'GET')) return false;
    if (method === 'GET') return !path.split(/[/?_.-]|(?<=[a-z])(?=[A-Z])/).some((word) => WRITE_WORD.test(word));
    const hasLiteralId = path.split('/').some((segment) => /[\d%]/.test(segment) && !/^v\d+$/i.test(segment));
    const isRemoval = REMOVAL.test(path) && !name.endsWith('.delete');
    return templateOf(path, name) !== path && !hasLiteralId && !isRemoval;
  }

  /** Keeps a path that works, and its convention for other resources. */
  works(name: OperationName, path: string): void {
    this.working.set(name, path);
    const conventions = this.#conventions[verbOf(name)];
    const convention = templateOf(path, name);
    if (convention !== path && !conventions.includes(convention)) conventions.unshift(convention);
  }

  /** Yields the paths of a read, in the order to try them. Tries a path next that was found meanwhile. */
  *of(name: OperationName): Generator<string> {
    const tried = new Set<string | undefined>([undefined]);
    const verb = verbOf(name);
    const [plural, singular, ...capitals] = nounsOf(namespaceOf(name));
    // A resource and its list probably have the same path prefix.
    const list = this.working.get(`${namespaceOf(name)}.list`)?.replace(/\/(?:index|list|all)\/?$/, '');
    const guesses = [[plural, singular], capitals].flatMap((nouns) =>
      ENDS[verb].flatMap((end) => nouns.map((noun) => `${API}/${noun}${end}`)),
    );
    this.redirected = undefined;
    while (tried.size <= MAX_TRIES) {
      const next = [
        this.inEffect(name).path,
        this.redirected,
        ...this.#conventions[verb].map((template) => fill(template, name)),
        operations[name].path,
        ...(verb === 'get' && list ? [`${list}/{id}`] : []),
        ...guesses,
      ].find((path) => !tried.has(path));
      if (next === undefined) return;
      tried.add(next);
      yield next;
    }
  }
}
