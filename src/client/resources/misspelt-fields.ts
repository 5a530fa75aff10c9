import type * as z from 'zod/mini';
import { type OperationName, operations } from '../../spec/operations.ts';
import { isObject } from '../../util/json.ts';
import type { Logger } from '../../util/log.ts';
import { differByOneLetter, lettersOf, similarName } from '../../util/similar-names.ts';
import { CREATE_OPTIONS } from '../http/request-options.ts';
import type { LazySchema } from '../schemas/shared-schemas.ts';

/** The parts of a transport that the check needs. */
interface FieldLogger {
  readonly settings: { readonly logger: Logger };
  readonly state: { readonly loggedFields: Set<string> };
}

/** Create requests whose fields the specification does not list, so that any field may be correct. */
const OPEN_BODIES: readonly OperationName[] = ['projects.create', 'schedules.create'];

/**
 * Logs each probable mistake once: undocumented fields of a body, misspelled fields of a query, misspelled values,
 * options of the call in its body, and dates in the wrong order. The client still sends the values, because the service
 * may accept them.
 */
export function warnOfMisspeltFields(
  operation: OperationName,
  value: unknown,
  schema: LazySchema,
  { settings, state: { loggedFields } }: FieldLogger,
): void {
  const isQuery = operations[operation].method === 'GET';
  const isOpen = isQuery || OPEN_BODIES.includes(operation);
  schema.built ??= schema.build();
  for (const { field, problem } of mistakesIn(value, schema.built, isOpen, isQuery ? [] : CREATE_OPTIONS)) {
    const message = `${operation}: \`${field}\` ${problem}`;
    if (loggedFields.has(message)) continue;
    loggedFields.add(message);
    settings.logger.warn(message, { operation, field });
  }
}

/** A field that the caller has probably misspelled. */
interface Mistake {
  readonly field: string;
  readonly problem: string;
}

/** Known values of fields that also accept other values. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  analysis_type: ['WebDomain', 'AffinityTransactions'],
};

const OPTION_IN_BODY = 'is an option of the call, not a field of the body: pass it in the second argument.';

/**
 * Yields the mistakes in a value. If `isOpen` is true, undocumented fields are not mistakes. `options` are the names of
 * options that the value may contain by mistake.
 */
function* mistakesIn(
  value: unknown,
  schema: z.ZodMiniType,
  isOpen: boolean,
  options: readonly string[],
  path = '',
): Generator<Mistake, void> {
  const { innerType, element, shape } = schema._zod.def as SchemaParts;
  if (innerType) yield* mistakesIn(value, innerType, isOpen, options, path);
  else if (element && Array.isArray(value))
    for (const item of value) yield* mistakesIn(item, element, isOpen, [], `${path}*.`);
  if (!shape || !isObject(value)) return;
  if (Date.parse(String(value.start_date)) > Date.parse(String(value.end_date)))
    yield { field: `${path}start_date`, problem: `is after \`${path}end_date\`. The client sends it unchanged.` };
  for (const [name, content] of Object.entries(value)) {
    const field = path + name;
    const documented = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (documented) {
      const meant = similarValue(name, content);
      if (meant) yield { field, problem: `is "${content}". Did you mean "${meant}"? The client sends it unchanged.` };
      yield* mistakesIn(content, documented, isOpen, [], `${field}.`);
    } else if (options.some((option) => lettersOf(option) === lettersOf(name))) {
      yield { field, problem: OPTION_IN_BODY };
    } else {
      const meant = similarName(name, Object.keys(shape));
      if (meant === undefined && isOpen) continue;
      const question = meant === undefined ? '' : ` Did you mean \`${path}${meant}\`?`;
      yield { field, problem: `is not a documented field.${question} The client sends it unchanged.` };
    }
  }
}

/** Returns the known value of a field that differs from `value` only in case, separators or one letter. */
function similarValue(name: string, value: unknown): string | undefined {
  const values = Object.hasOwn(KNOWN_VALUES, name) ? KNOWN_VALUES[name] : undefined;
  if (!values || typeof value !== 'string' || values.includes(value)) return undefined;
  return values.find((other) => differByOneLetter(lettersOf(other), lettersOf(value)));
}

/** The inner schemas of an optional or nullable schema, of an array, or of an object. */
interface SchemaParts {
  readonly innerType?: z.ZodMiniType;
  readonly element?: z.ZodMiniType;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
}
