import { basename, dirname, posix } from 'node:path';
import ts from 'typescript';

/** A source file: path below `src`, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One import of a source file by another. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly isTypeOnly: boolean;
}

/** The folders by layer, lowest first. A file imports from its own folder and from lower layers. */
const LAYERS: readonly (readonly string[])[] = [
  ['spec'],
  ['errors'],
  ['util'],
  ['client/schemas', 'client/auth', 'client/rate-limit'],
  ['client/http'],
  ['client/polling', 'client/storage'],
  ['client/resources'],
  ['client'],
  ['webhooks', 'index.ts'],
  ['oauth', 'mcp'],
  ['node', 'otel', 'redis'],
  ['sandbox'],
  ['cli'],
];

/** Folders whose files are independent of each other, so that other folders import the files directly. */
const GROUND: ReadonlySet<string> = new Set(['spec', 'errors', 'util']);

/**
 * Code outside of the specification's data that the sandbox may import. Otherwise, the sandbox may import only types,
 * because it checks the client.
 */
const SANDBOX_MAY_IMPORT: ReadonlySet<string> = new Set([
  'client/openapi-document.ts',
  'util/duration.ts',
  'util/similar-names.ts',
]);

/** Returns the folder of a file; within the client, the folder below `client`. */
const folderOf = (path: string): string => /^(?:client\/(?=[^/]+\/))?[^/]+/.exec(path)?.[0] ?? '';
const topOf = (path: string): string => path.split('/')[0] ?? '';
const layerOf = (path: string): number => LAYERS.findIndex((folders) => folders.includes(folderOf(path)));

function edgesOf({ path, text }: SourceFile): Edge[] {
  const edges: Edge[] = [];
  const add = (specifier: ts.Node | undefined, isTypeOnly: boolean): void => {
    if (!specifier || !ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    edges.push({ from: path, to: posix.join(dirname(path), specifier.text), isTypeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnlyImport(node));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return edges;
}

function isTypeOnlyImport({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false;
  if (importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = importClause.namedBindings;
  return !importClause.name && !!names && ts.isNamedImports(names) && names.elements.every((name) => name.isTypeOnly);
}

/** Returns what is wrong with an import, if anything. */
function problemOf({ from, to, isTypeOnly }: Edge): string | undefined {
  const [source, target] = [topOf(from), topOf(to)];
  if (folderOf(from) === folderOf(to)) return undefined;
  if (layerOf(from) === -1) return `${from} is in no layer: add its folder to scripts/imports.ts`;
  if (layerOf(to) === layerOf(from)) return `${from} imports sideways: ${to}`;
  if (layerOf(to) > layerOf(from)) return `${from} imports upward: ${to}`;
  if (source === 'sandbox' && !isTypeOnly && target !== 'spec') {
    return SANDBOX_MAY_IMPORT.has(to) ? undefined : `${from} imports code of the client: ${to}`;
  }
  // The classes of errors would exist twice, because the entries bring them already.
  if (source === 'cli' && target === 'errors') return `${from} imports past the entries: ${to}`;
  // The main entry exports names directly from their modules.
  const isInside = source === target || from === 'index.ts';
  return isInside || GROUND.has(target) || basename(to) === 'index.ts'
    ? undefined
    : `${from} imports past ${target}/index.ts: ${to}`;
}

/** Returns the circular imports, including imports of types and dynamic imports. */
function circles(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const problems: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) problems.push(`circle: ${[...trail.slice(at), path].join(' → ')}`);
    if (at >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) visit(path, []);
  return problems;
}

/** Returns the names that several files share: a search for such a name would not find the right file. */
function duplicateNames(files: readonly SourceFile[]): string[] {
  const byName = Map.groupBy(files, ({ path }) => basename(path));
  byName.delete('index.ts');
  return [...byName.values()]
    .filter((same) => same.length > 1)
    .map((same) => `same name: ${same.map(({ path }) => path).join(', ')}`);
}

/** Returns all problems of imports and file names. */
export function findImportProblems(files: readonly SourceFile[]): string[] {
  const edges = files.flatMap(edgesOf);
  const loose = files.filter(({ path }) => path !== 'index.ts' && !path.includes('/'));
  return [
    ...loose.map(({ path }) => `${path} is in no folder`),
    ...edges.flatMap((edge) => problemOf(edge) ?? []),
    ...circles(edges),
    ...duplicateNames(files),
  ];
}
