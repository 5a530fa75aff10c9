import type { ServiceContract } from '../../../../src/spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../../../../src/spec/operations.ts';

/** A method and path at which a service has an operation. */
export interface Route {
  readonly operation: OperationName;
  readonly method: string;
  readonly path: string;
}

/** Returns the names of all operations. */
const operationNames = (): OperationName[] => Object.keys(operations).filter(isOperationName);

/** Returns the routes of a service with a contract, those without parameters first. */
export function routesOf(contract: ServiceContract, missing: readonly OperationName[] = []): Route[] {
  const specificity = ({ path }: Route): number => path.split('{').length;
  return operationNames()
    .filter((name) => !missing.includes(name))
    .map((operation) => ({
      operation,
      ...pick(operations[operation]),
      ...pick(contract.operations?.[operation] ?? {}),
    }))
    .sort((a, b) => specificity(a) - specificity(b));
}

const pick = ({ method, path }: { readonly method?: string | undefined; readonly path?: string | undefined }) =>
  ({
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path }),
  }) as { method: string; path: string }; // of a row of the table, both; of a contract, those that replace them

const pattern = (path: string): RegExp =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** Returns the parameters in a path that a template matches; `undefined` for another path. */
function matchPath(template: string, path: string): Record<string, string> | undefined {
  const match = pattern(template).exec(path);
  return match ? { ...match.groups } : undefined;
}

/** Returns the route of a request with its parameters. */
export function findRoute(routes: readonly Route[], method: string, path: string) {
  for (const route of routes) {
    const params = route.method === method ? matchPath(route.path, path) : undefined;
    if (params) return { ...route, params };
  }
  return undefined;
}

/** Returns the methods that a service has at a path. */
export const methodsAt = (routes: readonly Route[], path: string): string[] => [
  ...new Set(routes.filter((route) => matchPath(route.path, path)).map(({ method }) => method)),
];

/** Returns the path of the emulated service for an operation. Of an id that is not a number, 0 is made. */
export function sandboxPath(operation: OperationName, params: Readonly<Record<string, string>>): string {
  return operations[operation].path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? '0';
    return name === 'id' && !/^\d+$/.test(value) ? '0' : encodeURIComponent(value);
  });
}
