import type * as z from 'zod/mini';
import { isObject } from '../util/json.ts';
import type { Logger } from '../util/log.ts';
import { similarField } from '../util/spelling.ts';

/** The parts of a transport that the check needs. */
interface FieldLogger {
  readonly settings: { readonly logger: Logger };
  readonly state: { readonly loggedFields: Set<string> };
}

/**
 * Logs, once each, the fields of a body or a query that seem to be misspelt. They are sent as they are: the service may
 * know them.
 */
export function warnOfMisspeltFields(
  operation: string,
  value: unknown,
  schema: z.ZodMiniType,
  { settings, state: { loggedFields } }: FieldLogger,
): void {
  for (const [field, documented] of misspeltFields(value, schema)) {
    const key = `${operation}.${field}`;
    if (loggedFields.has(key)) continue;
    loggedFields.add(key);
    const message = `${operation}: \`${field}\` is not a documented field. Did you mean \`${documented}\`? It is sent as it is.`;
    settings.logger.warn(message, { operation, field });
  }
}

/** Yields the path of each misspelt field, with the name of the documented one. */
function* misspeltFields(value: unknown, schema: z.ZodMiniType, path = ''): Generator<readonly [string, string]> {
  const { innerType, element, shape } = schema._zod.def as SchemaParts;
  if (innerType) yield* misspeltFields(value, innerType, path);
  else if (element && Array.isArray(value)) for (const item of value) yield* misspeltFields(item, element, `${path}*.`);
  if (!shape || !isObject(value)) return;
  for (const [name, field] of Object.entries(value)) {
    const documented = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (documented) {
      yield* misspeltFields(field, documented, `${path}${name}.`);
      continue;
    }
    const similar = similarField(name, Object.keys(shape));
    if (similar !== undefined) yield [path + name, path + similar];
  }
}

/** The parts of a schema that consists of others: of an optional or nullable one, of an array, of an object. */
interface SchemaParts {
  readonly innerType?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
}
