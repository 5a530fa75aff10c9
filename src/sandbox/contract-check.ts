import type { ServiceContract } from '../spec/contract.ts';
import schema from '../spec/generated/contract.schema.json' with { type: 'json' };

/** The keywords of JSON Schema in the schema of contracts. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly patternProperties?: { readonly [pattern: string]: Schema };
  readonly required?: readonly string[];
  readonly if?: { readonly properties: { readonly [name: string]: { readonly const: string } } };
  readonly then?: { readonly required: readonly string[] };
}

const { ContractOperation: operation }: Readonly<Record<string, Schema>> = schema.$defs;

/**
 * Checks a contract against its JSON schema.
 *
 * @throws {Error} with the path of the invalid field
 */
export function checkContract(contract: ServiceContract): void {
  const problem = problemOf(contract, schema, '`contract`');
  if (problem !== undefined) throw new Error(`${problem}.`);
  const { serverTimeZone = 'UTC' } = contract;
  try {
    new Intl.DateTimeFormat('en', { timeZone: serverTimeZone });
  } catch {
    throw new Error(
      `\`contract.serverTimeZone\` must be a time zone such as "Europe/Berlin", not "${serverTimeZone}".`,
    );
  }
}

function problemOf(value: unknown, schema: Schema, place: string): string | undefined {
  if (schema.$ref && operation) return problemOf(value, operation, place);
  const { enum: choices, pattern, minLength = 0, minimum = 0, items } = schema;
  const not = `, not ${JSON.stringify(value)}`;
  if (choices)
    return choices.includes(String(value)) ? undefined : `${place} must be one of ${choices.join(', ')}${not}`;
  if (schema.type === 'string') {
    if (typeof value !== 'string' || value.length < minLength) return `${place} must be a non-empty string${not}`;
    return pattern === undefined || new RegExp(pattern).test(value)
      ? undefined
      : `${place} must match ${pattern}${not}`;
  }
  if (schema.type === 'integer') {
    const isRight = Number.isInteger(value) && Number(value) >= minimum;
    return isRight ? undefined : `${place} must be an integer of ${minimum} or more${not}`;
  }
  if (schema.type === 'boolean') return typeof value === 'boolean' ? undefined : `${place} must be true or false${not}`;
  if (items) {
    if (!Array.isArray(value)) return `${place} must be an array${not}`;
    return value.map((item, index) => problemOf(item, items, `${place}[${index}]`)).find(Boolean);
  }
  return objectProblem(value, schema, place);
}

function objectProblem(value: unknown, schema: Schema, place: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${place} must be an object`;
  const { properties = {}, patternProperties = {}, required = [], if: condition, then } = schema;
  const fields = new Map(Object.entries(value).filter(([, field]) => field !== undefined));
  const isMet = Object.entries(condition?.properties ?? {}).every(
    ([name, { const: only }]) => fields.get(name) === only,
  );
  const missing = [...required, ...(condition && isMet ? (then?.required ?? []) : [])].find(
    (name) => !fields.has(name),
  );
  if (missing !== undefined) return `${within(place, missing)} is missing`;
  for (const [name, field] of fields) {
    const pattern = Object.keys(patternProperties).find((pattern) => new RegExp(pattern).test(name));
    const inner = Object.hasOwn(properties, name) ? properties[name] : patternProperties[pattern ?? ''];
    const at = within(place, name);
    const names = [...Object.keys(properties), ...Object.keys(patternProperties)].slice(0, 9).join(', ');
    const problem = inner ? problemOf(field, inner, at) : `${at} is unknown: use ${names}`;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns the path of a field, such as `contract.paging` or `contract.operations["audiences.get"]`. */
function within(place: string, name: string): string {
  const inner = place.slice(1, -1);
  return /^\w+$/.test(name) ? `\`${inner}.${name}\`` : `\`${inner}["${name}"]\``;
}
