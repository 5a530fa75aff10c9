import type { ContractOperation, ServiceContract } from '../../../../src/spec/contract.ts';
import type { Method } from '../../../../src/spec/operations.ts';
import { LISTED } from './service.ts';

/** Paths of the verbs of a namespace, or method and path; `*` stands for `audiences`, `?` for `audience`, `%` for `Audiences`. */
type Verb = 'list' | 'get' | 'create' | 'delete';
type Templates = { readonly [Name in Verb]?: string };

const fill = (template: string, resource: string): string =>
  template
    .replaceAll('*', resource)
    .replaceAll('?', resource.replace(/s$/, ''))
    .replaceAll(
      '%',
      resource.replace(/^./, (letter) => letter.toUpperCase()),
    );

/** Returns the contract of a service whose paths follow a convention. Lookalikes are read where audiences are. */
export function following(convention: Templates, names: readonly string[] = LISTED): ServiceContract {
  const operations: Record<string, ContractOperation> = {};
  const set = (name: string, resource: string, template = ''): void => {
    const [path = '', method] = fill(template, resource).split(' ').reverse();
    // The method is written below.
    if (path !== '') operations[name] = { ...(method && { method: method as Method }), path: `/api/v2${path}` };
  };
  for (const resource of names) {
    for (const [verb, template] of Object.entries(convention)) set(`${resource}.${verb}`, resource, template);
    if (resource === 'audiences') {
      set('lookalikes.get', 'audiences', convention.get);
      set('estimates.get', 'estimates', convention.get);
      set('uploads.reserve', 'uploads', convention.create);
    }
  }
  return { operations };
}

/** Returns the contract of a service that has the payload of these verbs elsewhere. */
export const placing = (places: Templates): ServiceContract => ({
  operations: Object.fromEntries([
    ...LISTED.flatMap((kind) =>
      Object.entries(places).map(([verb, place]) => [`${kind}.${verb}`, { data: fill(place, kind) }]),
    ),
    ...(places.get === undefined ? [] : [['lookalikes.get', { data: fill(places.get, 'audiences') }]]),
  ]),
});
