import ts from 'typescript';

const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.esnext.disposable.d.ts'],
  types: ['node'],
};

/**
 * Returns the optional properties that users may set but not to `undefined`, in everything that declaration files
 * export.
 */
export function propertiesWithoutUndefined(files: readonly string[]): string[] {
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const paths = new Set<string>();
  /** Visited types that users pass, and visited types that they receive. */
  const seen = { input: new Set<ts.Type>(), output: new Set<ts.Type>() };
  type Direction = keyof typeof seen;

  const isOurs = ({ declarations = [] }: ts.Symbol): boolean =>
    // Properties of mapped types have no declaration.
    declarations.length === 0 ||
    declarations.some((declaration) => files.some((file) => shareFolder(file, declaration.getSourceFile().fileName)));
  const permitsUndefined = (type: ts.Type): boolean =>
    (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0 ||
    type === checker.getUndefinedType() ||
    (type.isUnion() && type.types.includes(checker.getUndefinedType()));

  const visitSignature = (signature: ts.Signature, path: string, direction: Direction): void => {
    const opposite = direction === 'input' ? 'output' : 'input';
    for (const parameter of signature.parameters) {
      visit(checker.getTypeOfSymbol(parameter), `${path}(${parameter.name})`, opposite);
    }
    visit(signature.getReturnType(), `${path}()`, direction);
  };

  const visitProperty = (property: ts.Symbol, owner: string, direction: Direction): void => {
    const path = `${owner}.${property.name}`;
    const type = checker.getTypeOfSymbol(property);
    const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    if (direction === 'input' && isOptional && !permitsUndefined(type)) paths.add(path);
    visit(type, path, direction);
  };

  const visit = (input: ts.Type, path: string, direction: Direction): void => {
    const type = checker.getAwaitedType(checker.getBaseConstraintOfType(input) ?? input) ?? input;
    if (seen[direction].has(type)) return;
    seen[direction].add(type);
    if (type.isUnionOrIntersection()) for (const part of type.types) visit(part, path, direction);
    if (type.isIntersection()) return;
    // What a user passes of our classes, such as a client, the package has made.
    const isClass = ((type.symbol?.flags ?? 0) & ts.SymbolFlags.Class) !== 0;
    if (direction === 'input' && isClass && type.getConstructSignatures().length === 0) return;
    const element = checker.getIndexTypeOfType(type, ts.IndexKind.Number);
    if (element) visit(element, `${path}[]`, direction);
    for (const signature of type.getCallSignatures()) visitSignature(signature, path, direction);
    for (const signature of type.getConstructSignatures()) {
      // Errors are constructed by the package.
      if (!signature.getReturnType().getProperty('stack')) visitSignature(signature, `new ${path}`, direction);
    }
    const name = type.aliasSymbol?.name ?? type.symbol?.name ?? '__type';
    for (const property of type.getProperties()) {
      if (isOurs(property)) visitProperty(property, name.startsWith('__') ? path : name, direction);
    }
  };

  for (const file of files) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    for (const symbol of module ? checker.getExportsOfModule(module) : []) {
      const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      if (target.flags & ts.SymbolFlags.Value) visit(checker.getTypeOfSymbol(target), target.name, 'output');
    }
  }
  return [...paths].sort();
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const shareFolder = (one: string, other: string): boolean => folderOf(one) === folderOf(other);
