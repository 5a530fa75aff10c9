import type { ServiceContract } from '../../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../../spec/operations.ts';
import { JUDGED } from './findings.ts';

/** Usual ends of the paths of reads, by the assumed one. */
const ENDS: Readonly<Record<string, readonly string[]>> = {
  '/index': ['', '/index', '/list', '/all'],
  '/{id}': ['/{id}', '/show/{id}', '/{id}/show', '/get/{id}', '/view/{id}'],
};

/** Refused paths after which no more are guessed. */
const MAX_MISSES = 12;

/** Words that name a write. A GET is never sent to such a path: a service that also acts on GET would act. */
const WRITE_WORD =
  /^(?:create|store|add|new|insert|save|submit|delete|destroy|remove|drop|trash|purge|cancel|stop|abort|revoke|update|edit|replace|activate|deactivate|run|start|claim|reset|logout|login|export|import|send|publish|refresh|sync|clone|copy|duplicate|retry|rebuild|trigger|execute|archive|restore)$/i;
const REMOVAL = /delete|destroy|remove|drop|trash|purge|cancel|revoke|archive|reset/i;

const capitalized = (noun: string): string => noun.charAt(0).toUpperCase() + noun.slice(1);

/** Returns the names of the resource of an operation in paths. */
function nounsOf(name: OperationName): readonly string[] {
  const [plural = ''] = name.split('.');
  const nouns = [plural, plural.replace(/s$/, '')];
  return [...nouns, ...nouns.map(capitalized)];
}

/** Returns a path with parameters for the names of a resource, longer ones first. */
const templateOf = (path: string, name: OperationName): string =>
  nounsOf(name).reduce((text, noun, index) => text.replaceAll(noun, `<${index}>`), path);

const fill = (template: string, name: OperationName): string =>
  nounsOf(name).reduce((text, noun, index) => text.replaceAll(`<${index}>`, noun), template);

const endOf = (name: OperationName): string => (operations[name].path.endsWith('/index') ? '/index' : '/{id}');

const countIds = (path: string): number => path.split('{').length;

/** Returns whether a path can be read: as many ids as assumed, and no word of a write. */
function isReadable(name: OperationName, path: string): boolean {
  if (!/^(?:\/[\w{}.~:@!$&()*+,;=%-]*)+$/.test(path) || countIds(path) !== countIds(operations[name].path))
    return false;
  return !path.split(/[/?_.-]|(?<=[a-z])(?=[A-Z])/).some((word) => WRITE_WORD.test(word));
}

/** The paths of operations: those in effect, and for reads, usual ones. */
export class Paths {
  readonly #contract: ServiceContract;
  readonly #redirects = new Map<OperationName, string>();
  /** Templates that have worked for another resource, by the end of the assumed path, the last one first. */
  readonly #conventions = new Map<string, readonly string[]>();
  readonly #working = new Map<OperationName, string>();
  readonly #tried = new Set<OperationName>();
  #misses = 0;

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
    if (assumed.method === 'GET') return method === 'GET' && isReadable(name, path);
    const hasLiteralId = path.split('/').some((segment) => /[\d%]/.test(segment) && !/^v\d+$/i.test(segment));
    const isOther = JUDGED.some((one) => operations[one].method === method && operations[one].path === path);
    const isNamed = templateOf(path, name) !== path && countIds(path) === countIds(assumed.path);
    return (
      isNamed && method !== 'GET' && !hasLiteralId && !isOther && (name.endsWith('.delete') || !REMOVAL.test(path))
    );
  }

  /** Counts a refused path. */
  miss(): void {
    this.#misses++;
  }

  /** Adds the target of a redirect, which is not followed, if it names the resource. */
  redirect(name: OperationName, path = ''): void {
    if (templateOf(path, name) !== path && isReadable(name, path)) this.#redirects.set(name, path);
  }

  /** Keeps a path that works, and its convention for other resources. */
  works(name: OperationName, path: string): void {
    this.#working.set(name, path);
    const convention = templateOf(path, name);
    const others = this.#conventions.get(endOf(name)) ?? [];
    if (operations[name].documented || convention === path) return;
    this.#conventions.set(endOf(name), [convention, ...others.filter((other) => other !== convention)]);
  }

  /** Returns the path of a read that a response has confirmed. */
  working(name: OperationName): string | undefined {
    return this.#working.get(name);
  }

  /** Returns the path of a read that was not sent, if the paths of all other resources follow one convention. */
  byAnalogy(name: OperationName): string | undefined {
    const list = JUDGED.find((other) => other === name.replace(/\.\w+$/, '.list')) ?? 'audiences.list';
    if (this.#tried.has(name) || !this.#working.has(list)) return undefined;
    if (name === 'lookalikes.get') return this.#working.get('audiences.get');
    const [convention, ...others] = this.#conventions.get(endOf(name)) ?? [];
    return convention !== undefined && others.length === 0 ? fill(convention, name) : undefined;
  }

  /** Yields the paths of a read, in the order to try them: what is found meanwhile is tried next. */
  *of(name: OperationName): Generator<string> {
    const tried = new Set<string>();
    this.#tried.add(name);
    for (;;) {
      const sure = [
        this.inEffect(name).path,
        this.#redirects.get(name) ?? '',
        ...(name === 'lookalikes.get' ? [this.#working.get('audiences.get') ?? ''] : []),
        ...(this.#conventions.get(endOf(name)) ?? []).map((template) => fill(template, name)),
        operations[name].path,
      ];
      const isKnown = this.#contract.operations?.[name]?.path !== undefined;
      const inOrder = isKnown ? sure : sure.slice(1);
      const next = inOrder.find((path) => path !== '' && !tried.has(path)) ?? this.#guess(name, tried);
      if (next === undefined) return;
      tried.add(next);
      yield next;
    }
  }

  #guess(name: OperationName, tried: ReadonlySet<string>): string | undefined {
    if (this.#misses >= MAX_MISSES) return undefined;
    const [lower, upper] = [nounsOf(name).slice(0, 2), nounsOf(name).slice(2)];
    const guesses = [lower, upper].flatMap((nouns) =>
      (ENDS[endOf(name)] ?? []).flatMap((end) => nouns.map((noun) => `${API}/${noun}${end}`)),
    );
    // A resource is probably where its list is.
    const list = this.#working.get(name.replace(/\.\w+$/, '.list') as OperationName); // or none, of another namespace
    const beside = list && endOf(name) === '/{id}' ? `${list.replace(/\/(?:index|list|all)\/?$/, '')}/{id}` : undefined;
    return [...(beside ? [beside] : []), ...guesses].find((path) => !tried.has(path));
  }
}
