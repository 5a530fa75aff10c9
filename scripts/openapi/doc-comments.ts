import { resolve } from 'node:path';
import ts from 'typescript';
import type { JsonSchema } from './service.ts';

/** Reads the doc comments of the public interfaces, so that the document says what the types say. */
export class DocComments {
  readonly #checker: ts.TypeChecker;
  readonly #types = new Map<string, ts.Symbol>();
  readonly #enumerations = new Map<string, { readonly description: JsonSchema; readonly values: Enumeration }>();

  constructor(files: readonly string[]) {
    const { checker, exported } = exportsOf(files);
    this.#checker = checker;
    for (const symbol of exported) {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      this.#types.set(symbol.name, isAlias ? checker.getAliasedSymbol(symbol) : symbol);
    }
  }

  /** Returns the schemas of the open enumerations that described properties have, by their names. */
  get enumerations(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(
      [...this.#enumerations].sort().flatMap(([name, { description, values }]) => [
        [name, { ...description, anyOf: [{ $ref: `#/components/schemas/Known${name}` }, { type: values.type }] }],
        [`Known${name}`, { description: 'The values that the specification names.', ...values }],
      ]),
    );
  }

  /** Adds the doc comments of an interface and its properties, at any depth, to the schema of its values. */
  describe(name: string, schema: JsonSchema): JsonSchema {
    const symbol = this.#types.get(name);
    if (!symbol) throw new Error(`The package exports no type ${name}.`);
    return { ...this.#comment(symbol), ...this.#describeParts(this.#checker.getDeclaredTypeOfSymbol(symbol), schema) };
  }

  /** Returns the doc comment of a property. */
  commentOf(type: string, property: string): JsonSchema {
    return this.#comment(this.#propertyOf(type, property));
  }

  /** Returns the names of the public methods and accessors of the object in a property. */
  methodsOf(type: string, property: string): readonly string[] {
    const members = this.#checker.getTypeOfSymbol(this.#propertyOf(type, property)).getProperties();
    return members.filter(isPublicMethod).map(({ name }) => name);
  }

  #propertyOf(type: string, property: string): ts.Symbol {
    const symbol = this.#types.get(type);
    const member = symbol && this.#checker.getDeclaredTypeOfSymbol(symbol).getProperty(property);
    if (!member) throw new Error(`${type} has no property ${property}.`);
    return member;
  }

  #describeParts(type: ts.Type, schema: JsonSchema): JsonSchema {
    const enumeration = schema.anyOf ? undefined : knownValuesOf(this.#checker.getNonNullableType(type));
    if (enumeration) return this.#enumerationOf(enumeration);
    const inner = this.#objectTypeOf(type);
    const { properties, items, anyOf, ...rest } = schema;
    return {
      ...rest,
      ...(properties && {
        properties: Object.fromEntries(
          Object.entries(properties).map(([name, property]) => [name, this.#describeProperty(inner, name, property)]),
        ),
      }),
      ...(items && { items: this.#describeParts(this.#elementOf(type), items) }),
      ...(anyOf && { anyOf: anyOf.map((part) => this.#describeParts(type, part)) }),
    };
  }

  #describeProperty(owner: ts.Type, name: string, schema: JsonSchema): JsonSchema {
    const symbol = owner.getProperty(name);
    if (!symbol) return schema;
    // The schema's own description takes precedence: it says what differs on the wire.
    return { ...this.#comment(symbol), ...this.#describeParts(this.#checker.getTypeOfSymbol(symbol), schema) };
  }

  /** Returns the schema of an open enumeration: a reference, if the package exports a type with these values. */
  #enumerationOf(enumeration: Enumeration): JsonSchema {
    for (const [name, symbol] of this.#types) {
      if ((symbol.flags & ts.SymbolFlags.TypeAlias) === 0) continue;
      const declared = knownValuesOf(this.#checker.getDeclaredTypeOfSymbol(symbol));
      if (JSON.stringify(declared) !== JSON.stringify(enumeration)) continue;
      this.#enumerations.set(name, { description: this.#comment(symbol), values: enumeration });
      return { $ref: `#/components/schemas/${name}` };
    }
    return { anyOf: [enumeration, { type: enumeration.type }] };
  }

  #elementOf(type: ts.Type): ts.Type {
    const present = this.#checker.getNonNullableType(type);
    return this.#checker.getIndexTypeOfType(present, ts.IndexKind.Number) ?? this.#objectTypeOf(type);
  }

  /** Returns the interface in the type of a property, which may be a union with `null`, `undefined` and wider forms. */
  #objectTypeOf(type: ts.Type): ts.Type {
    const present = this.#checker.getNonNullableType(type);
    const parts = present.isUnion() ? present.types : [present];
    const main = parts.find((part) => part.symbol) ?? present;
    return this.#checker.isArrayType(main)
      ? this.#objectTypeOf(this.#checker.getIndexTypeOfType(main, ts.IndexKind.Number) ?? main)
      : main;
  }

  #comment(symbol: ts.Symbol): JsonSchema {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker));
    const description = text.replace(/\{@link (\S+?)\}/g, '`$1`').replace(/\s+/g, ' ');
    return description === '' ? {} : { description };
  }
}

/** Compiles files; returns the type checker, and what the files export. */
export function exportsOf(files: readonly string[]): {
  readonly checker: ts.TypeChecker;
  readonly exported: readonly ts.Symbol[];
} {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, resolve('.'));
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const modules = files.flatMap((file) => checker.getSymbolAtLocation(program.getSourceFile(file) as ts.Node) ?? []);
  return { checker, exported: modules.flatMap((module) => checker.getExportsOfModule(module)) };
}

/** Schema of known values. */
interface Enumeration extends JsonSchema {
  readonly type: 'string' | 'integer';
  readonly enum: readonly (string | number)[];
}

/** Returns the known values of a type that has others, too, such as `OpenUnion`. */
function knownValuesOf(type: ts.Type): Enumeration | undefined {
  if (!type.isUnion() || !type.types.some((part) => part.isIntersection())) return undefined;
  const numbers = type.types.flatMap((part) => (part.isNumberLiteral() ? [part.value] : []));
  const strings = type.types.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
  if (numbers.length > 0) return { type: 'integer', enum: numbers.sort((a, b) => a - b) };
  return strings.length > 0 ? { type: 'string', enum: strings.sort() } : undefined;
}

function isPublicMethod({ flags, name, valueDeclaration }: ts.Symbol): boolean {
  const isMethod = (flags & (ts.SymbolFlags.Method | ts.SymbolFlags.GetAccessor)) !== 0;
  const hidden = ts.ModifierFlags.Protected | ts.ModifierFlags.Private;
  return (
    isMethod &&
    !/^[#_]/.test(name) &&
    valueDeclaration !== undefined &&
    (ts.getCombinedModifierFlags(valueDeclaration) & hidden) === 0 &&
    !ts.getJSDocTags(valueDeclaration).some(({ tagName }) => tagName.text === 'internal')
  );
}
