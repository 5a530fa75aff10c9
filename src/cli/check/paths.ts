import type { ServiceContract } from '../../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../../spec/operations.ts';

/** Common path endings of read operations. */
const ENDS = {
  list: ['', '/index', '/list', '/all'],
  get: ['/{id}', '/show/{id}', '/{id}/show', '/get/{id}', '/view/{id}'],
} as const;

/** Maximum number of paths that the check tries for an operation. */
const MAX_TRIES = 12;

/**
 * Words for write operations. The check never sends a GET request to such a path, because a service might act on it.
 */
const WRITE_WORD =
  /^(?:create|store|add|new|insert|save|submit|delete|destroy|remove|drop|trash|purge|cancel|stop|abort|revoke|update|edit|replace|activate|deactivate|run|start|claim|reset|logout|login|export|import|send|publish|refresh|sync|clone|copy|duplicate|retry|rebuild|trigger|execute|archive|restore)$/i;
const REMOVAL = /delete|destroy|remove|drop|trash|purge|cancel|revoke|archive|reset/i;

const namespaceOf = (name: OperationName): string => name.replace(/\.\w+$/, '');
const verbOf = (name: OperationName): 'list' | 'get' => (name.endsWith('.list') ? 'list' : 'get');

/** Returns the names of a resource that paths may contain: `audiences`, `audience`, `Audiences`, `Audience`. */
function nounsOf(plural: string): readonly string[] {
  const capital = plural.charAt(0).toUpperCase() + plural.slice(1);
  return [plural, plural.slice(0, -1), capital, capital.slice(0, -1)];
}

/** Returns the names of an operation's resource. Lookalikes are audiences. */
const namesOf = (name: OperationName): readonly string[] =>
  nounsOf(name === 'lookalikes.get' ? 'audiences' : namespaceOf(name));

/** Returns a path with placeholders for the names of the resource. */
const templateOf = (path: string, name: OperationName): string =>
  namesOf(name).reduce((text, noun, index) => text.replaceAll(noun, `<${index}>`), path);

const fill = (template: string, name: OperationName): string =>
  namesOf(name).reduce((text, noun, index) => text.replaceAll(`<${index}>`, noun), template);

/** The paths of operations: the configured paths and, for reads, common alternatives. */
export class Paths {
  readonly #contract: ServiceContract;
  /** Templates that have worked for other resources, the latest first. */
  readonly #conventions = { list: [] as string[], get: [] as string[] };
  /** Paths of reads that responses have confirmed. */
  readonly working = new Map<string, string>();
  /** Path with a slash at the end, which the check tries after a redirect. */
  redirected: string | undefined;

  constructor(contract: ServiceContract) {
    this.#contract = contract;
  }

  /** Returns the method and the path from the contract, or the assumed ones. */
  inEffect(name: OperationName): { readonly method: Method; readonly path: string } {
    const assumed = operations[name];
    const { method = assumed.method, path = assumed.path } = this.#contract.operations?.[name] ?? {};
    return { method, path };
  }

  /**
   * Returns whether the check may send an operation to the path in effect. A hostile contract may contain the path of
   * another operation.
   */
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

  /** Records a path that works, and its template for other resources. */
  works(name: OperationName, path: string): void {
    this.working.set(name, path);
    const conventions = this.#conventions[verbOf(name)];
    const convention = templateOf(path, name);
    if (convention !== path && !conventions.includes(convention)) conventions.unshift(convention);
  }

  /** Yields the paths to try for a read operation. A path found meanwhile comes next. */
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
