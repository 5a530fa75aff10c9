import type { ServiceContract } from '../spec/contract.ts';
import { API, type Method, type OperationName, operations } from '../spec/operations.ts';
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
export const LIKE: Partial<Record<OperationName, OperationName>> = { 'lookalikes.get': 'audiences.get' };

/** Returns the names of the resource of an operation in paths. */
function nounsOf(name: OperationName): { plural: string; singular: string; verb: string } {
  const [plural = '', verb = ''] = name.split('.');
  return { plural, singular: plural.replace(/s$/, ''), verb };
}

/** Returns a template with the names of a resource. */
export function fill(template: string, name: OperationName): string {
  const { plural, singular, verb } = nounsOf(name);
  return template.replaceAll('{resources}', plural).replaceAll('{resource}', singular).replaceAll('{verb}', verb);
}

/** Returns a string with the names of its resource as parameters. */
export function templateOf(text: string, name: OperationName): string {
  const { plural, singular } = nounsOf(name);
  return text
    .replaceAll(new RegExp(`(?<![a-z])${plural}(?![a-z])`, 'g'), '{resources}')
    .replaceAll(new RegExp(`(?<![a-z])${singular}(?![a-z])`, 'g'), '{resource}');
}

/** Returns whether a path has the name of the resource of an operation. */
export const namesResource = (name: OperationName, path: string): boolean => templateOf(path, name) !== path;

/** Returns what the operations that follow one convention have in common: the assumed way, without the resource. */
export function kindOf(name: OperationName): string {
  const model = LIKE[name] ?? name;
  const { method, path } = operations[model];
  return `${method} ${templateOf(path, model).replace(`${API}/`, '')}`;
}

/** Returns the usual ways to call an operation, below {@link API}. */
export function usualWays(name: OperationName, isSingular = false): Candidate[] {
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

/** Returns whether a path has a number as a segment: it may be an id of the account. */
export const hasLiteralId = (path: string): boolean => /\/\d+(?:\/|$)/.test(path);

/**
 * Returns the operation that a published one certainly is: by its path, which is the assumed one or ends in a usual way,
 * or by its name, which has no other words. What is called in vain must not do anything else.
 */
export function operationAt(method: Method, path: string, label: string): OperationName | undefined {
  const countIds = (template: string): number => template.split('{').length;
  const isOfForm = (name: OperationName): boolean =>
    (operations[name].method === 'GET') === (method === 'GET') && countIds(operations[name].path) === countIds(path);
  const isUsual = (name: OperationName): boolean =>
    usualWays(name).some((way) => {
      const end = way.path.slice(API.length);
      const prefix = path.slice(0, -end.length);
      const isWay = way.method === method && way.idField === undefined && path.endsWith(end);
      return isWay && !/\{|\/\d+(?:\/|$)/.test(prefix) && !isWritePath(prefix);
    });
  const isAt = (name: OperationName): boolean =>
    operations[name].method === method && operations[name].path.replace(/\{\w+\}/g, '{id}') === path;
  const isNamed = (name: OperationName): boolean => isOfForm(name) && wordsOf(name) === wordsOf(label);
  return JUDGED.find(isAt) ?? JUDGED.find(isUsual) ?? JUDGED.find(isNamed);
}

/** Returns the words of a name in the singular, sorted. */
const wordsOf = (name: string): string =>
  (name.replace(/([a-z])([A-Z])/g, '$1 $2').match(/[a-z]+/gi) ?? [])
    .map((word) => word.toLowerCase().replace(/s$/, ''))
    .sort()
    .join(' ');
