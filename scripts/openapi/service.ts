import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as limits from '../../src/spec/limits.ts';
import type { OperationName } from '../../src/spec/operations.ts';

/** An object of the document. */
export type Json = Readonly<Record<string, unknown>>;

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

type Named<T = Json> = Readonly<Record<string, T>>;

/** An event type. */
interface EventType {
  readonly schema?: string;
  readonly title: string;
  readonly description: string;
  readonly operation?: OperationName;
  readonly status?: Json;
}

/** The fixed parts of the document, as the file has them. */
interface Service {
  readonly info: Json;
  readonly servers: readonly Json[];
  readonly tags: readonly Json[];
  readonly 'x-build-budget': Json;
  readonly paths: Named;
  readonly components: Named<Named>;
  readonly mcp: Named;
  readonly parameters: Named;
  readonly pagination: Named;
  readonly formats: Named;
  readonly bounds: Named;
  readonly unchecked: Named<JsonSchema>;
  readonly assumed: Named<string | readonly string[]>;
  readonly events: Named<EventType>;
  readonly delivery: Json;
  readonly event: JsonSchema;
  readonly testData: Json;
}

const FILE = 'scripts/openapi/service.yaml';
const constants: Json = { ...limits };

/** The fixed parts of the document. */
export const service: Service = parse(
  readFileSync(FILE, 'utf8').replace(/\$([A-Z][A-Z_]+)/g, (_, name: string) => {
    if (constants[name] === undefined) throw new Error(`src/spec/limits.ts exports no ${name}, which ${FILE} uses.`);
    return String(constants[name]);
  }),
  { merge: true },
);

/** Returns a reference to a schema of the document. */
export const refTo = (name: string): { readonly $ref: string } => ({ $ref: `#/components/schemas/${name}` });
