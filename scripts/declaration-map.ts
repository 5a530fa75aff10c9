import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import ts from 'typescript';

/** The parts of a source map that are read. */
export interface DeclarationMap {
  readonly sources: readonly string[];
  readonly mappings: string;
}

type Named = ts.Node & { readonly name: ts.Node };

/**
 * Returns the mappings of a file of declarations from each name to the same name in the sources. Those of the bundler
 * lead to the right file, but many of its lines have none.
 *
 * @param folder Folder of the file, which the sources are relative to.
 */
export function mappingsOfNames(text: string, map: DeclarationMap, folder: string): string {
  const bundled = decode(map.mappings);
  const declarations = parse('declarations.d.ts', text);
  const lines: SourceMapSegment[][] = text.split('\n').map(() => []);
  for (const node of declarations.statements.flatMap(namedOf)) {
    const at = positionOf(declarations, node);
    const [, index] = bundled[at.line]?.findLast(([column]) => column <= at.character) ?? [];
    const path = index === undefined ? undefined : map.sources[index];
    if (index === undefined || path === undefined) continue;
    const source = sourceOf(join(folder, path));
    const original = source.statements.flatMap(namedOf).find((other) => plainName(other) === plainName(node));
    if (original) addMembers(node, original);

    function addMembers(member: Named, counterpart: Named): void {
      const { line, character } = positionOf(declarations, member);
      const target = positionOf(source, counterpart);
      lines[line]?.push([character, index ?? 0, target.line, target.character]);
      const others = membersOf(counterpart);
      for (const one of membersOf(member)) {
        const same = others.find((other) => plainName(other) === plainName(one));
        if (same) addMembers(one, same);
      }
    }
  }
  return encode(lines.map((segments) => segments.sort(([a], [b]) => a - b)));
}

const parse = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);

const sources = new Map<string, ts.SourceFile>();

function sourceOf(path: string): ts.SourceFile {
  const source = sources.get(path) ?? parse(path, readFileSync(path, 'utf8'));
  sources.set(path, source);
  return source;
}

/** Returns the declarations of a statement; those of `const a = 1, b = 2` are two. */
function namedOf(statement: ts.Node): Named[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.filter(hasName);
  return hasName(statement) ? [statement] : [];
}

const hasName = (node: ts.Node): node is Named =>
  'name' in node && typeof node.name === 'object' && node.name !== null && 'kind' in node.name;

/** Returns the members of a class, an interface or a type, also of one that is written in place. */
function membersOf(node: ts.Node): Named[] {
  if (ts.isClassLike(node) || ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node)) {
    return (node.members as ts.NodeArray<ts.Node>).filter(hasName);
  }
  const members: Named[] = [];
  const type = 'type' in node && typeof node.type === 'object' ? (node.type as ts.Node | undefined) : undefined;
  const visit = (part: ts.Node): void => {
    if (ts.isTypeLiteralNode(part)) members.push(...membersOf(part));
    else ts.forEachChild(part, visit);
  };
  if (type) visit(type);
  return members;
}

/** Returns a name without the number that the bundler adds to one that occurs twice. */
const plainName = ({ name }: Named): string => name.getText().replace(/\$\d+$/, '');

const positionOf = (file: ts.SourceFile, { name }: Named): ts.LineAndCharacter =>
  file.getLineAndCharacterOfPosition(name.getStart(file));
