import type { ContractOperation, ServiceContract } from '../../../../src/spec/contract.ts';
import type { Method, OperationName } from '../../../../src/spec/operations.ts';
import { LISTED } from './emulation.ts';

/** Methods of namespaces whose paths follow from the name of the resource. */
type Verb = 'list' | 'get' | 'create' | 'delete';

/** Path, or method and path, with `*` for the name of the resource. */
type Convention = { readonly [Name in Verb]?: string };

const API = '/api/v2';
const singular = (resource: string): string => resource.replace(/s$/, '');

const isOperation = (name: string, all: readonly string[]): name is OperationName => all.includes(name);

/**
 * Returns the contract of a service whose paths follow a convention. `*` stands for `audiences`, `?` for `audience`;
 * a method before the path is sent instead. Lookalikes are read where audiences are.
 */
export function following(convention: Convention, names: readonly string[] = LISTED): ServiceContract {
  const operations: Partial<Record<OperationName, ContractOperation>> = {};
  const set = (name: string, resource: string, template: string | undefined): void => {
    if (template === undefined || !isOperation(name, ALL)) return;
    const [path = '', method] = template.split(' ').reverse();
    const full = `${API}${path.replaceAll('*', resource).replaceAll('?', singular(resource))}`;
    operations[name] = { ...(method !== undefined && { method: method as Method }), path: full }; // as written below
  };
  for (const resource of names) {
    for (const verb of ['list', 'get', 'create', 'delete'] as const)
      set(`${resource}.${verb}`, resource, convention[verb]);
    if (resource !== 'audiences') continue;
    set('lookalikes.get', 'audiences', convention.get);
    for (const other of ['lookalikes', 'estimates', 'uploads'])
      set(other === 'uploads' ? 'uploads.reserve' : `${other}.create`, other, convention.create);
    set('estimates.get', 'estimates', convention.get);
  }
  return { operations };
}

const ALL = [
  ...LISTED.flatMap((kind) => [`${kind}.list`, `${kind}.get`, `${kind}.create`, `${kind}.delete`]),
  'lookalikes.get',
  'lookalikes.create',
  'estimates.create',
  'estimates.get',
  'uploads.reserve',
];

/** Resources are addressed by nouns, and deleted by DELETE. */
export const REST = following({ list: '/*', create: '/*', delete: 'DELETE /*/{id}' });

/** The same, in the singular. */
export const SINGULAR = following({ list: '/?', get: '/?/{id}', create: '/?', delete: 'DELETE /?/{id}' });

/** Verbs before the id, as frameworks of controllers and actions have them. */
export const ACTIONS = following({ get: '/*/show/{id}', delete: '/*/delete/{id}' });

/** Paths that nobody can guess. */
export const OWN_NAMES = following({
  list: '/library/my-*/overview',
  get: '/library/my-*/{id}/card',
  create: '/library/my-*/begin',
  delete: '/library/my-*/{id}/forget',
});

/** Returns the contract of a service that has the payload of these methods elsewhere. `?` stands for the resource. */
export function placing(places: { readonly [Name in Verb]?: string }): ServiceContract {
  const entries = LISTED.flatMap((kind) =>
    Object.entries(places).map(([verb, place]) => [
      `${kind}.${verb}`,
      { data: place.replace('*', kind).replace('?', singular(kind)) },
    ]),
  );
  const ofLookalikes =
    places.get === undefined ? [] : [['lookalikes.get', { data: places.get.replace('?', 'audience') }]];
  return { operations: Object.fromEntries([...entries, ...ofLookalikes]) };
}

/** Merges contracts, operation by operation. */
export function merge(...contracts: readonly ServiceContract[]): ServiceContract {
  const operations: Record<string, ContractOperation> = {};
  for (const { operations: some = {} } of contracts)
    for (const [name, operation] of Object.entries(some)) operations[name] = { ...operations[name], ...operation };
  return { ...Object.assign({}, ...contracts), operations };
}
