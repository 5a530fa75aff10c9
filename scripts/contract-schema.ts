import ts from 'typescript';
import { exportsOf } from './openapi/doc-comments.ts';
import type { JsonSchema } from './openapi/service.ts';

const FILE = 'src/spec/contract.ts';
const PATH = { pattern: '^[\\w$-]+(\\.[\\w$-]+)*$' };

/** Rules that the types do not express, by type and property. */
const RULES: Readonly<Record<string, JsonSchema>> = {
  'ContractOperation.path': { pattern: '^(/(?!(\\.|%2[eE]){1,2}(/|$))[^\\s?#\\\\/]*)+$' },
  'ContractOperation.data': PATH,
  'Paging.next': PATH,
  'ServiceContract.requestIdHeader': { pattern: "^[\\w!#$%&'*+.^`|~-]+$" },
  'ContractCheck.at': { pattern: '^\\d{4}-\\d\\d-\\d\\d$' },
};

/** Pattern for the field names of an object with an index signature: a kind of job and a status id. */
const STATUS_NAME = '^(audience|lookalike|estimate|activation|cohort) \\d+$';

/** Returns the JSON Schema of contracts, from the type `ServiceContract` and its comments. */
export function contractSchema(): JsonSchema {
  const { checker, exported } = exportsOf([FILE]);
  const symbol = exported.find(({ name }) => name === 'ServiceContract');
  if (!symbol) throw new Error(`${FILE} exports no ServiceContract.`);

  const comment = (of: ts.Symbol): JsonSchema => {
    const text = ts.displayPartsToString(of.getDocumentationComment(checker)).replace(/\s+/g, ' ');
    const tags = of.getJsDocTags(checker).filter(({ name }) => name === 'default');
    const [fallback] = tags.map(({ text }) => ` Default: ${ts.displayPartsToString(text).replaceAll("'", '')}.`);
    return text === '' ? {} : { description: `${text}${fallback ?? ''}` };
  };

  const nameOf = (type: ts.Type): string => (type.aliasSymbol ?? type.symbol)?.name ?? '';
  const definitions = new Map<string, JsonSchema>();

  const objectOf = (type: ts.Type): JsonSchema => {
    const any = checker.getIndexTypeOfType(type, ts.IndexKind.String);
    if (any)
      return { type: 'object', patternProperties: { [STATUS_NAME]: schemaOf(any) }, additionalProperties: false };
    const members = type.getProperties();
    const isOptional = (member: ts.Symbol): boolean => (member.flags & ts.SymbolFlags.Optional) !== 0;
    const properties = members.map((member) => {
      const rule = RULES[`${nameOf(type)}.${member.name}`];
      return [member.name, { ...comment(member), ...schemaOf(checker.getTypeOfSymbol(member)), ...rule }];
    });
    const required = members.filter((member) => !isOptional(member)).map(({ name }) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      ...(nameOf(type) === 'Paging' && {
        if: { properties: { style: { const: 'cursor' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
        then: { required: ['next'] },
      }),
      additionalProperties: false,
    };
  };

  const schemaOf = (declared: ts.Type): JsonSchema => {
    const type = checker.getNonNullableType(declared);
    const parts = type.isUnion() ? type.types : [type];
    const literals = parts.flatMap((part) => (part.isStringLiteral() ? part.value : []));
    if (literals.length > 0) return { enum: literals };
    if (type.flags & ts.TypeFlags.String) return { type: 'string', minLength: 1 };
    if (type.flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
    if (type.flags & ts.TypeFlags.Number) return { type: 'integer', minimum: 1 };
    const items = checker.isArrayType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined;
    if (items) return { type: 'array', items: schemaOf(items) };
    const name = nameOf(type);
    if (name !== 'ContractOperation') return objectOf(type);
    if (!definitions.has(name)) definitions.set(name, objectOf(type));
    return { $ref: `#/$defs/${name}` };
  };

  const contract = objectOf(checker.getDeclaredTypeOfSymbol(symbol));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Contract of a service, for audience-activation',
    ...comment(symbol),
    ...contract,
    $defs: Object.fromEntries(definitions),
  };
}
