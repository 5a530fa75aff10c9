import fc, { type Arbitrary } from 'fast-check';
import type { JsonObject } from '../../src/spec/wire-values.ts';
import { isObject } from '../../src/util/json.ts';

/** Strings by format. */
const FORMATS: Readonly<Record<string, Arbitrary<string>>> = {
  email: fc.emailAddress(),
  date: fc
    .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString().slice(0, 10)),
  uri: fc.webUrl(),
};

/** Values that mean something to the service. */
export interface KnownValues {
  readonly ids: readonly number[];
  /** Values by the name of their field. */
  readonly fields: JsonObject;
}

/** Returns values that a JSON schema of `document` accepts, known ones among them. */
export function arbitraryOf(schema: JsonObject, document: JsonObject, values: KnownValues): Arbitrary<unknown> {
  const of = (part: unknown): Arbitrary<unknown> => arbitraryOf(isObject(part) ? part : {}, document, values);
  if (typeof schema.$ref === 'string') return of(targetOf(schema.$ref, document));
  if ('const' in schema) return fc.constant(schema.const);
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) return fc.oneof(...choices.map(of));
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.length > 1) return fc.oneof(...types.map((type) => of({ ...schema, type })));
  switch (types[0]) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer': {
      const { minimum: min = -(2 ** 31), maximum: max = 2 ** 53 - 1 } = schema;
      return fc.oneof(fc.integer({ min: Number(min), max: Number(max) }), fc.constantFrom(...values.ids));
    }
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'string':
      return stringOf(schema);
    case 'array': {
      const { minItems: minLength = 0, maxItems: maxLength = 4 } = schema;
      return fc.array(of(schema.items), { minLength: Number(minLength), maxLength: Number(maxLength) });
    }
    case 'object':
      return objectOf(schema, of, values.fields);
    default:
      return fc.jsonValue({ maxDepth: 3 });
  }
}

const targetOf = (reference: string, document: JsonObject): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), document);

function stringOf({ pattern, format, minLength = 0 }: JsonObject): Arbitrary<string> {
  const byFormat = typeof format === 'string' ? FORMATS[format] : undefined;
  if (typeof pattern === 'string') {
    const expression = new RegExp(pattern);
    return byFormat?.filter((text) => expression.test(text)) ?? fc.stringMatching(expression);
  }
  return byFormat ?? fc.string({ unit: 'grapheme', minLength: Number(minLength), maxLength: 30 });
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonObject,
  of: (part: unknown) => Arbitrary<unknown>,
  fields: JsonObject,
): Arbitrary<unknown> {
  const arbitraries = Object.fromEntries(
    Object.entries(Object(properties)).map(([name, part]) => [
      name,
      Object.hasOwn(fields, name) ? fc.oneof(of(part), fc.constant(fields[name])) : of(part),
    ]),
  );
  const record = fc.record(arbitraries, { requiredKeys: Array.isArray(required) ? required : [] });
  if (additionalProperties !== undefined && additionalProperties !== true) return record;
  const more = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 });
  return fc.tuple(more, record).map(([others, named]) => ({ ...others, ...named }));
}
