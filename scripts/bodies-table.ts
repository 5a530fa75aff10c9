import { readFileSync } from 'node:fs';
import { withTable } from './page-tables.ts';

/** A schema of the OpenAPI document, as far as the table shows it. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Methods of the client, by the schema of their body. */
const METHODS: Readonly<Record<string, string>> = {
  AudienceCreate: '`audiences.create`, `estimates.create`',
  LookalikeCreate: '`lookalikes.create`',
  ActivationCreate: '`activations.create`',
  CohortCreate: '`cohorts.create`',
  ProjectCreate: '`projects.create`',
  ScheduleCreate: '`schedules.create`',
  UploadRequest: '`uploads.reserve`',
};

/** Returns the page "From a list to an audience" with a table of the fields of these bodies. */
export function bodiesPage(): string {
  const document = JSON.parse(readFileSync('src/spec/generated/openapi.json', 'utf8'));
  const schemas: Readonly<Record<string, Schema>> = document.components.schemas;
  const resolve = (schema: Schema): Schema => {
    const target = schemas[schema.$ref?.split('/').at(-1) ?? ''];
    return target ? { ...resolve(target), ...schema } : schema;
  };
  const typeOf = (schema: Schema): string => {
    const { type, enum: values, anyOf, items } = resolve(schema);
    if (anyOf) return anyOf.map(typeOf).join(' or ');
    if (values) return values.map((value) => `\`${value}\``).join(' or ');
    if (items) return `array of ${typeOf(items)}`;
    return [type ?? 'any'].flat().join(' or ');
  };
  const fieldsOf = (schema: Schema, prefix = ''): string[][] => {
    const { properties = {}, required = [] } = resolve(schema);
    return Object.entries(properties).flatMap(([name, field]) => {
      const { description = '', items } = resolve(field);
      const path = `${prefix}${name}`;
      const row = [`\`${path}\``, typeOf(field), required.includes(name) ? 'yes' : '', description];
      return [row, ...fieldsOf(field, `${path}.`), ...(items ? fieldsOf(items, `${path}[].`) : [])];
    });
  };
  const rows = Object.entries(METHODS).flatMap(([name, methods]) => [
    [methods, '', '', '', `${resolve({ $ref: name }).description}`],
    ...fieldsOf({ $ref: name }).map((cells) => ['', ...cells]),
  ]);
  const columns = ['method', 'field', 'type', 'required', 'content'];
  return withTable(
    'docs/list-to-audience.md',
    'bodies',
    columns,
    rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|'))),
  );
}
