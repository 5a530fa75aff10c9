import { html } from 'hono/html';
import document from '../../../spec/openapi.json' with { type: 'json' };
import { isObject, type JsonObject } from '../../http/request-body.ts';
import { badge, type Content, facts, type Html, table } from '../html.ts';
import type { Page } from '../layout.ts';

/** An operation of the document. */
interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly description: JsonObject;
}

const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries<JsonObject>(item).map(([method, description]) => ({
    id: String(description.operationId),
    method: method.toUpperCase(),
    path,
    description,
  })),
);

const EVENT_TYPES = Object.keys(document.components.schemas.WebhookEvent.discriminator.mapping);

/** Lists the operations of the service. */
export function referencePage(): Page {
  const groups = document.tags.map(({ name, description }) => {
    const operations = OPERATIONS.filter(({ description: { tags } }) => Array.isArray(tags) && tags.includes(name));
    const rows = operations.map(({ id, method, path, description: { summary, ...more } }) => [
      html`<a href="/reference/${id}">${String(summary)}</a>`,
      html`<code class="path">${method} ${path}</code>`,
      String(more['x-rate-limit-bucket'] ?? ''),
      more['x-assumed'] === undefined ? '' : badge('quiet', 'assumed'),
    ]);
    const events = name === 'webhooks' ? EVENT_TYPES : [];
    return html`<h2>${name}</h2><p>${description}</p>
${table(name, ['Operation', 'Request', 'Bucket', 'Specification'], rows, 'No operations.')}
${events.length === 0 ? '' : html`<p>Events: ${events.map((event) => html`<code>${event}</code> `)}</p>`}`;
  });
  const content = html`<p>The contract of the service. For tools it is an OpenAPI document, <code>/openapi.json</code> of the API's address.</p>${groups}`;
  return { title: 'Reference', content };
}

/** Shows one operation: its parameters, body, responses and examples. */
export function operationPage(id: string): Page | undefined {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (!operation) return undefined;
  const { method, path, description } = operation;
  const { parameters, requestBody, responses } = description;
  const body = jsonOf(requestBody);
  const content = html`<p>${text(description.description)}</p>
${facts([
  ['Request', html`<code class="path">${method} ${path}</code>`],
  ['Bucket', text(description['x-rate-limit-bucket'] ?? 'none')],
  ['Repeated', text(description['x-retry'] ?? 'as the RFC says')],
  ['Starts a job', description['x-starts-job'] === true ? 'yes, which the build budget counts' : 'no'],
  ['Assumed', text(description['x-assumed'] ?? 'nothing: the specification shows method and path')],
])}
<h2>Parameters</h2>
${table('Parameters', ['Name', 'Type', 'Description'], asArray(parameters).map(parameterRow), 'It has none.')}
${body ? html`<h2>Body</h2>${schemaTable('Body', body.schema)}${example(body.example)}` : ''}
<h2>Responses</h2>
${Object.entries(asObject(responses)).map(([status, response]) => responsePart(status, resolve(response)))}`;
  return { title: text(description.summary), content };
}

function responsePart(status: string, response: JsonObject): Html {
  const json = jsonOf(response);
  const headers = Object.keys(asObject(response.headers)).join(', ');
  return html`<h3>${status}</h3><p>${text(response.description)}${headers === '' ? '' : html` Headers: <code>${headers}</code>`}</p>
${json && status.startsWith('2') ? html`${schemaTable(`Response ${status}`, json.schema)}${example(json.example)}` : ''}`;
}

function parameterRow(value: unknown): readonly Content[] {
  const { name, in: place, required, schema, description } = resolve(value);
  return [
    html`<code>${text(name)}</code> in ${text(place)}${required === true ? ', required' : ''}`,
    typeOf(asObject(schema)),
    text(description ?? ''),
  ];
}

/** The fields of a schema, at any depth, one a row. */
function schemaTable(caption: string, schema: unknown): Html {
  const rows = fieldsOf(resolve(schema), '').map(({ path, type, description }) => [
    html`<code>${path}</code>`,
    type,
    description,
  ]);
  return table(caption, ['Field', 'Type', 'Description'], rows, 'Any value.');
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly description: string;
}

function fieldsOf(schema: JsonObject, path: string): readonly Field[] {
  if (schema.items !== undefined) return fieldsOf(resolve(schema.items), `${path}[]`);
  const required = asArray(schema.required);
  return Object.entries(asObject(schema.properties)).flatMap(([name, value]) => {
    const field = resolve(value);
    const at = path === '' ? name : `${path}.${name}`;
    const type = `${typeOf(field)}${required.includes(name) ? '' : ', optional'}`;
    return [{ path: at, type, description: text(field.description ?? '') }, ...fieldsOf(field, at)];
  });
}

function typeOf({ type, const: constant, enum: values, anyOf, format, minimum, maximum, items }: JsonObject): string {
  if (Array.isArray(anyOf)) return anyOf.map((choice) => typeOf(resolve(choice))).join(' or ');
  if (constant !== undefined) return JSON.stringify(constant);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' or ');
  const name =
    items === undefined ? asArray(type).join(' or ') || text(type ?? 'any') : `array of ${typeOf(resolve(items))}`;
  return `${name}${part(' (', format, ')')}${part(' from ', minimum)}${part(' to ', maximum)}`;
}

const part = (before: string, value: unknown, after = ''): string =>
  value === undefined ? '' : `${before}${text(value)}${after}`;

const example = (value: unknown): Html | string =>
  value === undefined
    ? ''
    : html`<details><summary>Example</summary><pre>${JSON.stringify(value, null, 2)}</pre></details>`;

/** Returns schema and example of the JSON that a body or a response has. */
function jsonOf(value: unknown): { readonly schema: unknown; readonly example: unknown } | undefined {
  const [media] = Object.values(asObject(asObject(value).content));
  return isObject(media) ? { schema: media.schema, example: media.example } : undefined;
}

/** Follows a reference within the document. */
function resolve(value: unknown): JsonObject {
  const object = asObject(value);
  if (typeof object.$ref !== 'string') return object;
  const { $ref, ...rest } = object;
  const target = object.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => asObject(at)[key], document);
  // A description beside the reference is more specific.
  return { ...resolve(target), ...rest };
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
