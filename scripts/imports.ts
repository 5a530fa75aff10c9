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

/** The layers of the client, lowest first. A file imports only from its own folder and from lower layers. */
const LAYERS: readonly (readonly string[])[] = [
  ['spec'],
  ['errors'],
  ['util'],
  ['auth', 'rate-limit'],
  ['http'],
  ['polling', 'storage', 'schemas'],
  ['resources'],
  ['client'],
];

/** Folders whose files are independent of each other, so that other folders may import the files directly. */
const OPEN: ReadonlySet<string> = new Set(['spec', 'errors', 'util', 'schemas']);

/** Folders that each entry point beside the client may import, in addition to `spec`, `errors` and `util`. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  webhooks: [],
  oauth: ['auth', 'http'],
  mcp: ['client', 'http', 'auth'],
  redis: ['auth', 'rate-limit', 'polling', 'client', 'webhooks'],
  otel: ['http', 'webhooks'],
  node: ['auth', 'resources', 'webhooks', 'oauth'],
  check: ['http', 'schemas'],
};

/** Folder of the command, which uses the entry points as any program does, and the facts of the service. */
const COMMAND = 'cli';

/** Other files that the command may import: they share no state with the client. */
const COMMAND_MAY_IMPORT: ReadonlySet<string> = new Set([
  'util/abort.ts',
  'util/concurrency.ts',
  'util/loopback.ts',
  'util/similar-names.ts',
]);

/** Pure functions of closed folders, which `check` imports as files: the command does not bundle the client a second time. */
const CHECK_MAY_IMPORT: ReadonlySet<string> = new Set(['client/http/conflict.ts']);

/** Files whose code the sandbox may import: facts, documents of them, and what knows nothing of the service. Otherwise it imports only types, because it checks the client. */
const SANDBOX_MAY_IMPORT: ReadonlySet<string> = new Set([
  'spec/operations.ts',
  'spec/generated/openapi.json',
  'spec/generated/contract.schema.json',
  'client/openapi-document.ts',
  'util/similar-names.ts',
  'version.ts',
]);

/**
 * Folder with the types of wire objects. Every folder may import them, because type imports vanish in compiled code.
 */
const TYPES_FOR_ALL = 'schemas';

/** Inner folders of the client, and `check`, count as folders. */
const INNER = /^client\/(?=[^/]+\/)|^cli\/(?=check\/)/;

const folderOf = (path: string): string => (path.includes('/') ? (path.replace(INNER, '').split('/')[0] ?? '') : '');
const layerOf = (folder: string): number => LAYERS.findIndex((folders) => folders.includes(folder));

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

function directionProblem({ from, to, isTypeOnly }: Edge): string | undefined {
  const [source, target] = [folderOf(from), folderOf(to)];
  if (source === target || source === '' || (isTypeOnly && target === TYPES_FOR_ALL)) return undefined;
  if (to === 'version.ts') return undefined;
  if (source === 'sandbox') {
    return isTypeOnly || SANDBOX_MAY_IMPORT.has(to) ? undefined : `${from} imports code of the client: ${to}`;
  }
  if (source === COMMAND) {
    return basename(to) === 'index.ts' || target === 'spec' || COMMAND_MAY_IMPORT.has(to)
      ? undefined
      : `${from} imports past the entry points: ${to}`;
  }
  const allowed = ENTRIES[source];
  const isBase = ['spec', 'errors', 'util'].includes(target);
  if (allowed) return isBase || allowed.includes(target) ? undefined : `${from} may not import ${to}`;
  if (layerOf(source) === -1) return `${from} is in no layer: add its folder to scripts/imports.ts`;
  if (layerOf(target) === -1) return `${from} imports an entry point: ${to}`;
  if (layerOf(target) > layerOf(source)) return `${from} imports upward: ${to}`;
  return layerOf(target) === layerOf(source) ? `${from} imports sideways: ${to}` : undefined;
}

/**
 * Returns the problem of an import that bypasses the `index.ts` of a folder that is not open. The package's own exports
 * types from where they are.
 */
function faceProblem({ from, to, isTypeOnly }: Edge): string | undefined {
  const target = folderOf(to);
  if (from === 'index.ts' && isTypeOnly) return undefined;
  if (folderOf(from) === target || target === '' || OPEN.has(target) || basename(to) === 'index.ts') return undefined;
  if (folderOf(from) === 'sandbox' && SANDBOX_MAY_IMPORT.has(to)) return undefined;
  if (folderOf(from) === 'check' && CHECK_MAY_IMPORT.has(to)) return undefined;
  return `${from} imports past ${target}/index.ts: ${to}`;
}

/** Returns the circular imports, those of types and dynamic ones included. */
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
  const loose = files.filter(({ path }) => !['index.ts', 'version.ts'].includes(path) && folderOf(path) === '');
  return [
    ...loose.map(({ path }) => `${path} is in no folder`),
    ...edges.flatMap((edge) => directionProblem(edge) ?? faceProblem(edge) ?? []),
    ...circles(edges),
    ...duplicateNames(files),
  ];
}
