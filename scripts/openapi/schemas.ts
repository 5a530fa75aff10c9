import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import type { LazySchema, ResourceSchema } from '../../src/client/schemas/shared-schemas.ts';
import type { DocComments } from './doc-comments.ts';
import type { OperationDetails } from './operation-details.ts';
import { type JsonSchema, service } from './service.ts';

/** Returns the schemas of the objects that operations exchange, by the names of the public types. */
export async function componentSchemas(
  comments: DocComments,
  details: readonly OperationDetails[],
): Promise<Readonly<Record<string, JsonSchema>>> {
  const files = globSync('src/client/{schemas,resources}/*.ts');
  const exported = Object.assign({}, ...(await Promise.all(files.map((file) => import(pathToFileURL(file).href)))));
  const { schemas: wire = {} } = service.components;
  const names = new Set([...details.map(({ resource }) => resource), ...details.map(({ body }) => body)]);
  const schemas = [...names].flatMap((name) =>
    name === undefined || name in wire
      ? []
      : [
          [
            name,
            withBounds(comments.describe(name, service.unchecked[name] ?? schemaOf(name, exported)), name),
          ] as const,
        ],
  );
  // The enumerations are known only after all schemas that use them are described.
  const all = [...schemas, ...Object.entries(comments.enumerations)];
  const marked = all.map(([name, schema]) => {
    const { [name]: assumed } = service.assumed;
    return [name, { ...schema, ...(assumed !== undefined && { 'x-assumed': assumed }) }];
  });
  return { ...Object.fromEntries(marked), ...wire };
}

/** Returns the JSON Schema of a type. For `Tag`, it is the JSON Schema of `tagResource` or `tagSchema`. */
function schemaOf(name: string, exported: Readonly<Record<string, unknown>>): JsonSchema {
  const camel = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
  // The suffix of an export determines its type.
  const resource = exported[`${camel}Resource`] as ResourceSchema<unknown> | undefined;
  const schema = resource?.schema ?? (exported[`${camel}Schema`] as LazySchema | undefined);
  if (!schema)
    throw new Error(`src/client/schemas and src/client/resources export neither ${camel}Resource nor ${camel}Schema.`);
  const isOpen = name !== 'Credentials';
  return { ...jsonSchemaOf(schema.build(), resource?.flags), ...(isOpen && { additionalProperties: true }) };
}

/** Adds the bounds of the numbers below a path. */
function withBounds(schema: JsonSchema, path: string): JsonSchema {
  const { properties } = schema;
  const bounded = Object.entries(properties ?? {}).map(([name, part]) => [name, withBounds(part, `${path}.${name}`)]);
  return { ...schema, ...(properties && { properties: Object.fromEntries(bounded) }), ...service.bounds[path] };
}

/** A flag as the specification describes it: `1`, or `false`. */
const FLAG: JsonSchema = {
  description: '`1` when allowed, `false` when blocked.',
  anyOf: [{ type: 'boolean' }, { type: 'integer', enum: [0, 1] }],
};

/** Returns the JSON Schema of a schema of the client. `flags` are booleans that the service also writes as integers. */
function jsonSchemaOf(schema: z.ZodMiniType, flags: readonly string[] = []): JsonSchema {
  const json = z.toJSONSchema(schema, { unrepresentable: 'any', override: simplify }) as JsonSchema;
  const { $schema, '~standard': standard, properties = {}, ...rest } = json;
  const forbidden = Object.keys(properties).filter((name) => properties[name]?.not !== undefined);
  const wire = Object.entries(properties)
    .filter(([name]) => !forbidden.includes(name))
    .map(([name, property]) => [name, flags.includes(name) ? FLAG : property]);
  const propertyNames = { not: { enum: forbidden } };
  return { ...rest, properties: Object.fromEntries(wire), ...(forbidden.length > 0 && { propertyNames }) };
}

/** A part of a schema that zod has written. */
interface Part {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } };
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
  readonly path: readonly (string | number)[];
}

function simplify({ zodSchema, jsonSchema, path }: Part): void {
  const name = String(path.at(-1));
  // The type `undefined` means that the field must not be set.
  if (zodSchema._zod.def.type === 'undefined') Object.assign(jsonSchema, { not: {} });
  // Omit the bounds of safe integers, which are JavaScript's, not the service's.
  if (jsonSchema.type === 'integer') {
    delete jsonSchema.minimum;
    delete jsonSchema.maximum;
  }
  // Write `null` as a second type, which is shorter than `anyOf`.
  const [first, second] = jsonSchema.anyOf ?? [];
  if (first && typeof first.type === 'string' && second?.type === 'null') {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, first, service.formats[name], { type: [first.type, 'null'] });
  }
  // Where fields are described, generated types are stricter without an index signature.
  const isObject = [jsonSchema.type].flat().includes('object');
  if (isObject && Object.keys(jsonSchema.properties ?? {}).length > 0) delete jsonSchema.additionalProperties;
  else if (isObject) jsonSchema.additionalProperties = true;
  if (jsonSchema.type === 'string' && path.at(-2) === 'properties') Object.assign(jsonSchema, service.formats[name]);
}
