import { createRequire } from 'node:module';
import type { CompatData, Identifier, SimpleSupportStatement } from '@mdn/browser-compat-data';
import ts from 'typescript';

/**
 * Finds out which browsers the package needs: the built-ins that its sources use, and the versions that have them by MDN's
 * browser-compat data. `npm run minimum-browsers` prints the newest of them.
 */
const { javascript, api }: CompatData = createRequire(import.meta.url)('@mdn/browser-compat-data');

const BROWSERS = ['chrome', 'edge', 'firefox', 'safari'] as const;

/** A version of each browser. */
type Versions = Readonly<Record<(typeof BROWSERS)[number], number>>;

/** The versions that the documentation promises. A test compares them with {@link minimumVersions}. */
export const MINIMUM_BROWSERS: Versions = { chrome: 120, edge: 120, firefox: 125, safari: 17.4 };

/** Sources that run in no browser. */
const NODE_ONLY = /\bsrc\/(?:cli|node|otel|redis)\//;

/** Built-ins that are used only where they exist. */
const OPTIONAL = new Set(['Request.body', 'SymbolConstructor.asyncDispose']);

/** Always in V8, whose stacks depend on them. */
const V8_STACKS = new Set(['Error.captureStackTrace', 'Error.stackTraceLimit']);

/** Interfaces of TypeScript's library that several classes share. */
const MIXINS = new Set(['Body']);

/** Returns the first version with a built-in; `Infinity` if there is none without a flag or a prefix. */
function versionsOf({ __compat }: Identifier): Versions | undefined {
  if (!__compat) return undefined;
  const added = (name: (typeof BROWSERS)[number]): number => {
    const statements: SimpleSupportStatement[] = [__compat.support[name] ?? []].flat();
    const plain = statements.filter((it) => !it.flags && !it.prefix && !it.alternative_name);
    // The first is the latest; others may describe earlier, partial implementations.
    if (plain[0]?.version_removed) return Number.POSITIVE_INFINITY;
    const versions = plain.map((it) => Number.parseFloat(String(it.version_added).replace('≤', '')));
    return Math.min(...versions.filter((version) => version > 0));
  };
  return Object.fromEntries(BROWSERS.map((name) => [name, added(name)])) as Versions;
}

/** Returns the compat data of a built-in, named as TypeScript's library names it, such as `PromiseConstructor.try`. */
function find(name: string): Identifier | undefined {
  const [owner = '', member] = name.split('.');
  const type = owner.replace(/Constructor$/, '').replace(/^Readonly(?=Array|Map|Set)/, '');
  const { builtins } = javascript;
  if (member === undefined) return builtins?.[type] ?? api[type] ?? api.Window?.[type];
  return builtins?.[type]?.[member] ?? api[type]?.[`${member}_static`] ?? api[type]?.[member];
}

/** Returns the built-ins that sources for browsers use, each with the last place that uses it. */
function usedBuiltIns(): Map<string, string> {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, '.');
  const sources = fileNames.filter((name) => !NODE_ONLY.test(name));
  const program = ts.createProgram(sources, options);
  const checker = program.getTypeChecker();
  const used = new Map<string, string>();

  const nameOf = (node: ts.Identifier, declaration: ts.Declaration): string => {
    const { parent } = declaration;
    const isMember = ts.isInterfaceDeclaration(parent) || ts.isTypeLiteralNode(parent);
    if (!isMember) return node.text;
    const owner = ts.isInterfaceDeclaration(parent) ? parent.name.text : parent.parent.getText().split(':')[0];
    const receiver = ts.isPropertyAccessExpression(node.parent) && checker.getTypeAtLocation(node.parent.expression);
    return `${receiver && MIXINS.has(owner ?? '') ? receiver.symbol?.name : owner}.${node.text}`;
  };
  const visit = (node: ts.Node): void => {
    const declarations = ts.isIdentifier(node) ? (checker.getSymbolAtLocation(node)?.declarations ?? []) : [];
    for (const declaration of declarations) {
      if (ts.isIdentifier(node) && program.isSourceFileDefaultLibrary(declaration.getSourceFile())) {
        const file = node.getSourceFile();
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        used.set(nameOf(node, declaration), `${file.fileName}:${line + 1}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  for (const name of sources) visit(program.getSourceFile(name) as ts.SourceFile);
  return used;
}

/** A built-in that the package uses. */
interface Requirement {
  readonly name: string;
  readonly usedIn: string;
  readonly versions: Versions;
}

/** Returns the built-ins that the package needs and that browser-compat data know. */
export function requirements(): Requirement[] {
  return [...usedBuiltIns()].flatMap(([name, usedIn]) => {
    const versions = OPTIONAL.has(name) ? undefined : versionsOf(find(name) ?? {});
    return versions ? [{ name, usedIn, versions }] : [];
  });
}

/** Returns the lowest versions that have all that the package needs. */
export function minimumVersions(required = requirements()): Versions {
  const highest = (name: (typeof BROWSERS)[number]): number =>
    Math.max(...required.map(({ versions }) => versions[name]));
  return Object.fromEntries(BROWSERS.map((name) => [name, highest(name)])) as Versions;
}

/** Returns the built-ins that not all of these versions have, such as `AbortSignal.any` or `Request.body`. */
export function newerBuiltIns(minimum: Versions): string[] {
  const isNewer = (data: Identifier): boolean => {
    const versions = versionsOf(data);
    return versions !== undefined && BROWSERS.some((name) => versions[name] > minimum[name]);
  };
  return Object.entries({ ...javascript.builtins, ...api }).flatMap(([owner, data]) => {
    if (owner === '__compat') return [];
    if (isNewer(data as Identifier)) return [owner];
    const members = Object.entries(data).filter(([name, member]) => name !== '__compat' && isNewer(member));
    return members.map(([name]) => `${owner}.${name.replace('_static', '')}`).filter((name) => !V8_STACKS.has(name));
  });
}

if (import.meta.main) {
  const required = requirements();
  const minimum = minimumVersions(required);
  for (const browser of BROWSERS) {
    const newest = required.toSorted((a, b) => b.versions[browser] - a.versions[browser]).slice(0, 3);
    const reasons = newest.map(({ name, usedIn, versions }) => `${versions[browser]} for ${name} (${usedIn})`);
    console.log(`${browser} ${minimum[browser]}: ${reasons.join(', ')}`);
  }
  console.log(`${newerBuiltIns(MINIMUM_BROWSERS).length} built-ins are newer, or are missing in one of them.`);
}
