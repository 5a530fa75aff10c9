import * as z from 'zod/mini';

/** A schema of JSON Schema 2020-12, as far as the document uses it. */
export interface JsonSchema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [keyword: string]: unknown;
}

/** Keywords of fields by their names, whose formats the schemas of the client do not check. */
const FORMATS: Readonly<Record<string, JsonSchema>> = {
  email: { format: 'email' },
  password: { format: 'password', minLength: 1 },
  start_date: { format: 'date' },
  end_date: { format: 'date' },
  created_at: timestamp(),
  updated_at: timestamp(),
  last_delivery_at: timestamp(),
  expires_at: { format: 'date-time' },
  url: { format: 'uri' },
};

function timestamp(): JsonSchema {
  return { pattern: String.raw`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$`, examples: ['2026-11-22 09:00:00'] };
}

/** Returns the JSON Schema of a schema of the client. `flags` are booleans that the service also writes as integers. */
export function jsonSchemaOf(schema: z.ZodMiniType, flags: readonly string[] = []): JsonSchema {
  const json = z.toJSONSchema(schema, { unrepresentable: 'any', override: simplify }) as JsonSchema;
  const { $schema, '~standard': standard, properties = {}, ...rest } = json;
  const names = Object.keys(properties);
  const forbidden = names.filter((name) => isForbidden(properties[name]));
  const wire = Object.entries(properties)
    .filter(([name]) => !forbidden.includes(name))
    .map(([name, property]) => [name, flags.includes(name) ? FLAG : property]);
  const propertyNames = { not: { enum: forbidden } };
  return { ...rest, properties: Object.fromEntries(wire), ...(forbidden.length > 0 && { propertyNames }) };
}

/** Returns whether a field must not be set. */
const isForbidden = (schema: JsonSchema | undefined): boolean => schema?.not !== undefined;

/** A flag as the specification describes it: `1`, or `false`. */
const FLAG: JsonSchema = {
  description: '`1` when allowed, `false` when blocked.',
  anyOf: [{ type: 'boolean' }, { type: 'integer', enum: [0, 1] }],
};

/** A part of a schema that zod has written. */
interface Part {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
  readonly path: readonly (string | number)[];
}

function simplify({ zodSchema, jsonSchema, path }: Part): void {
  const name = String(path.at(-1));
  if (zodSchema._zod.def.type === 'undefined') Object.assign(jsonSchema, { not: {} });
  // The bounds of safe integers are those of JavaScript.
  if (jsonSchema.type === 'integer') {
    delete jsonSchema.minimum;
    delete jsonSchema.maximum;
  }
  // Types of `null` are shorter as a second type.
  const [first, second] = jsonSchema.anyOf ?? [];
  if (first && typeof first.type === 'string' && second?.type === 'null') {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, first, FORMATS[name] ?? {}, { type: [first.type, 'null'] });
  }
  // Where fields are described, generated types are stricter without an index signature.
  const isObject = [jsonSchema.type].flat().includes('object');
  if (isObject && Object.keys(jsonSchema.properties ?? {}).length > 0) delete jsonSchema.additionalProperties;
  else if (isObject) jsonSchema.additionalProperties = true;
  if (jsonSchema.type === 'string' && path.at(-2) === 'properties') Object.assign(jsonSchema, FORMATS[name]);
}
