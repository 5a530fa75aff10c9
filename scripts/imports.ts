import { dirname, posix } from 'node:path';
import ts from 'typescript';

/** A source file: path below `src`, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One import of a file of ours by another. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Floors from the bottom up; an import may stay on its floor or go down. A folder stands for its files. */
const FLOORS: readonly (readonly string[])[] = [
  ['limits.ts', 'version.ts', 'errors'],
  ['operations.ts', 'input-types.ts', 'part.ts', 'timestamp.ts', 'updated-at.ts'],
  ['transport'],
  ['schemas', 'waiting', 'webhooks'],
  ['resources', 'explain-activation.ts'],
  [
    'options.ts',
    'option-names.ts',
    'overrides.ts',
    'context.ts',
    'login-source.ts',
    'stored-source.ts',
    'token-sources.ts',
    'client-tokens.ts',
  ],
  ['client.ts', 'oauth'],
  ['index.ts', 'node', 'sandbox', 'mcp', 'redis'],
];

/** Types of resources describe the wire and vanish when compiled: every floor may import them. */
const TYPES_FOR_ALL = 'schemas';

/** Rooms on one floor that know nothing of each other. */
const STRANGERS: readonly (readonly [string, string])[] = [
  ['schemas', 'waiting'],
  ['waiting', 'webhooks'],
  ['transport', 'webhooks'],
];

/** The sandbox checks the client, so it takes types, this one table and the version from it, and no other code. */
const SANDBOX_TAKES: ReadonlySet<string> = new Set(['operations.ts', 'version.ts']);

const room = (path: string): string => (path.includes('/') ? (path.split('/')[0] ?? path) : path);
const floor = (path: string): number => FLOORS.findIndex((rooms) => rooms.includes(room(path)));

function edgesOf({ path, text }: SourceFile): Edge[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement): Edge[] => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const specifier = statement.moduleSpecifier;
    if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return [];
    const typeOnly = ts.isExportDeclaration(statement) ? statement.isTypeOnly : isTypeOnlyImport(statement);
    return [{ from: path, to: posix.join(dirname(path), specifier.text), typeOnly }];
  });
}

function isTypeOnlyImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = importClause.namedBindings;
  return !importClause.name && !!names && ts.isNamedImports(names) && names.elements.every((one) => one.isTypeOnly);
}

function edgeProblem({ from, to, typeOnly }: Edge): string | undefined {
  if (floor(from) === -1) return `${from} is on no floor; add it to scripts/imports.ts`;
  if (floor(to) === -1) return `${to} is on no floor; add it to scripts/imports.ts`;
  if (typeOnly && room(to) === TYPES_FOR_ALL) return undefined;
  if (floor(to) > floor(from)) return `${from} imports upward: ${to}`;
  if (STRANGERS.some((pair) => pair.includes(room(from)) && pair.includes(room(to)) && room(from) !== room(to))) {
    return `${from} imports sideways: ${to}`;
  }
  const leaves = room(from) === 'sandbox' && room(to) !== 'sandbox';
  if (leaves && !typeOnly && !SANDBOX_TAKES.has(to)) return `${from} takes code of the client: ${to}`;
  return undefined;
}

/** Circles among value imports; type imports vanish and harm nothing. */
function cycles(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to, typeOnly } of edges) if (!typeOnly) next.set(from, [...(next.get(from) ?? []), to]);
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push(`cycle: ${[...trail.slice(at), path].join(' → ')}`);
    if (at >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return found;
}

/** Everything that is wrong with the direction of imports. */
export function findImportProblems(files: readonly SourceFile[]): string[] {
  const edges = files.flatMap(edgesOf);
  return [...edges.map(edgeProblem).filter((problem) => problem !== undefined), ...cycles(edges)];
}
