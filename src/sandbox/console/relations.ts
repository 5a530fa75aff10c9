import { NAMESPACES, resourcesOf, type ShownResource } from './objects.ts';

/** Fields that name another resource: by its id, or as an object with its id. */
const NAMES = /^(?:source_)?(?:audience|cohort|project|activation|estimate|schedule)(?:_id)?$/;

/** What a resource was made of, and what was made of it. */
export interface Relations {
  /** The oldest one first. */
  readonly ancestors: readonly ShownResource[];
  readonly childrenOf: (id: number) => readonly ShownResource[];
}

/** Returns the relations of a resource to the other ones of its account. */
export function relationsOf({ id, account }: ShownResource): Relations {
  const byId = new Map<number, ShownResource>();
  const children = new Map<number, ShownResource[]>();
  for (const namespace of NAMESPACES) for (const one of resourcesOf(account, namespace)) byId.set(one.id, one);
  for (const one of byId.values()) {
    for (const parent of parentsOf(one)) {
      const siblings = children.get(parent) ?? [];
      siblings.push(one);
      children.set(parent, siblings);
    }
  }
  const ancestors = new Set<number>();
  const add = (child: number): void => {
    const one = byId.get(child);
    for (const parent of one ? parentsOf(one) : []) {
      if (parent === id || ancestors.has(parent) || !byId.has(parent)) continue;
      ancestors.add(parent);
      add(parent);
    }
  };
  add(id);
  const sorted = [...ancestors].sort((a, b) => a - b).flatMap((one) => byId.get(one) ?? []);
  return { ancestors: sorted, childrenOf: (one) => children.get(one) ?? [] };
}

/** Returns the ids of the resources that a resource names in its fields, or that its create request named. */
function parentsOf({ id, account, fields }: ShownResource): ReadonlySet<number> {
  const body = account.definitions.get(id)?.body ?? {};
  const named = Object.entries({ ...body, ...fields }).flatMap(([name, value]) => {
    if (!NAMES.test(name)) return [];
    const { id: own = value }: { readonly id?: unknown } = Object(value);
    return typeof own === 'number' && own !== id ? [own] : [];
  });
  return new Set(named);
}
