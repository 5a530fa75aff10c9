import { globSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { LazySchema, ResourceSchema } from '../../src/client/schemas/shared-schemas.ts';
import { LOOKALIKE_TARGET_SIZE, UPLOAD_SIZES } from '../../src/spec/limits.ts';
import { type AssumptionName, assumed } from '../assumptions.ts';
import type { DocComments } from './doc-comments.ts';
import { type JsonSchema, jsonSchemaOf } from './json-schema.ts';
import type { OperationDetails } from './operation-details.ts';
import { UNCHECKED, WIRE } from './wire-schemas.ts';

/** The schemas that are assumed, in part or as a whole. */
const ASSUMED: Readonly<Record<string, readonly AssumptionName[]>> = {
  Credentials: ['credentialExchange'],
  AudienceCreate: ['audienceBody'],
  ActivationCreate: ['activationBody'],
  CohortCreate: ['cohortBody'],
  LookalikeCreate: ['lookalikeBody'],
  ProjectCreate: ['projectBody'],
  ScheduleCreate: ['projectBody'],
  UploadRequest: ['uploads'],
  UploadReservation: ['uploads'],
  Activation: ['resultUris'],
  Estimate: ['estimates'],
  Project: ['projectBody'],
  Schedule: ['projectBody'],
  Usage: ['buildBudget'],
  LifecycleStatusId: ['runningStatuses'],
  CohortStatusId: ['runningStatuses'],
};

/** Bounds of numbers, by type and path (specification, "Rules known for creates", rule 5, and "Other limits"). */
const BOUNDS: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  'LookalikeCreate.config.target_size': LOOKALIKE_TARGET_SIZE,
  'UploadRequest.size': { min: 0, max: Math.max(...Object.values(UPLOAD_SIZES)) },
};

/** Returns the schemas of the objects that operations exchange, by the names of the public types. */
export async function componentSchemas(
  comments: DocComments,
  details: readonly OperationDetails[],
): Promise<Readonly<Record<string, JsonSchema>>> {
  const exported = await exportedSchemas();
  const names = new Set([...details.map(({ resource }) => resource), ...details.map(({ body }) => body)]);
  const schemas = [...names]
    .filter((name) => name !== undefined && !(name in WIRE))
    .map((name = '') => {
      const schema = comments.describe(name, UNCHECKED[name] ?? exportedSchema(name, exported));
      return [name, withBounds(schema, name)] as const;
    });
  // The enumerations are known once everything that has them is described.
  const all = [...schemas, ...Object.entries(comments.enumerations)];
  const marked = all.map(([name, schema]) => [name, { ...schema, ...(ASSUMED[name] && assumed(...ASSUMED[name])) }]);
  return { ...Object.fromEntries(marked), ...WIRE };
}

/** Returns what the files of schemas and resources export. */
async function exportedSchemas(): Promise<Readonly<Record<string, unknown>>> {
  const files = globSync('src/client/{schemas,resources}/*.ts');
  const modules: readonly object[] = await Promise.all(files.map((file) => import(pathToFileURL(file).href)));
  return Object.assign({}, ...modules);
}

/** Returns the JSON Schema of a type. Of `Tag`, it is that of `tagResource` or `tagSchema`. */
function exportedSchema(name: string, exported: Readonly<Record<string, unknown>>): JsonSchema {
  const camel = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
  // The suffixes stand for their types.
  const resource = exported[`${camel}Resource`] as ResourceSchema<unknown> | undefined;
  const schema = resource?.schema ?? (exported[`${camel}Schema`] as LazySchema | undefined);
  if (!schema)
    throw new Error(`src/client/schemas and src/client/resources export neither ${camel}Resource nor ${camel}Schema.`);
  return {
    ...jsonSchemaOf(schema.build(), resource?.flags),
    ...(name !== 'Credentials' && { additionalProperties: true }),
  };
}

/** Adds the bounds of the numbers below a path. */
function withBounds(schema: JsonSchema, path: string): JsonSchema {
  const bounds = BOUNDS[path];
  const { properties } = schema;
  const bounded = Object.entries(properties ?? {}).map(([name, part]) => [name, withBounds(part, `${path}.${name}`)]);
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(bounded) }),
    ...(bounds && { minimum: bounds.min, maximum: bounds.max }),
  };
}
