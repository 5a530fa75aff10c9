import { html } from 'hono/html';
import document from '../../../spec/openapi.json' with { type: 'json' };
import { isObject, type JsonObject } from '../../http/request-body.ts';
import { codeBlock } from '../highlight.ts';
import { badge, type Content, facts, type Html, head, httpBadge, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, filterForm, hasWords, noMatch, row, table, twoLines, wordsOf } from '../lists.ts';

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
export function referencePage(query: URLSearchParams): Page {
  const words = wordsOf(query);
  const groups = document.tags.map(({ name, description }) => {
    const operations = OPERATIONS.filter(
      (operation) => isIn(name, operation) && hasWords(words, searchText(operation)),
    );
    if (operations.length === 0) return '';
    const rows = operations.map(({ id, method, path, description: { summary, ...more } }) =>
      row([
        twoLines(
          html`<a class="row" href="/reference/${id}">${formatted(String(summary))}</a>`,
          html`<code>${method} ${path}</code>`,
          'main',
        ),
        cell(String(more['x-rate-limit-bucket'] ?? ''), 'side2'),
        cell(more['x-assumed'] === undefined ? '' : badge('', 'assumed')),
      ]),
    );
    const events = name === 'webhooks' ? EVENT_TYPES : [];
    return html`<h2>${name}</h2><p class="soft">${formatted(firstSentence(description))}</p>
${table(name, [['Operation'], ['Bucket', 'w6'], ['Assumed', 'w7']], rows, '')}
${events.length === 0 ? '' : html`<p>Events: ${events.map((event) => html`<code>${event}</code> `)}</p>`}`;
  });
  const content = html`${head('Reference')}<p class="lead">The contract of the service. For tools it is an OpenAPI document, <code>/openapi.json</code> of the API's address.</p>
${filterForm('/reference', query, { label: 'Filter of operations', placeholder: 'Operation, method, path, field or description' })}
${live('operations', groups.every((group) => group === '') ? noMatch('/reference', 'operations', OPERATIONS.length) : groups)}`;
  return { title: 'Reference', content };
}

const isIn = (tag: string, { description: { tags } }: Operation): boolean => Array.isArray(tags) && tags.includes(tag);

const searchText = ({ id, method, path, description }: Operation): string =>
  `${id} ${method} ${path} ${JSON.stringify(description)}`;

/** Shows one operation: its parameters, body, responses and examples. */
export function operationPage(id: string): Page | undefined {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (!operation) return undefined;
  const { method, path, description } = operation;
  const { parameters, requestBody, responses } = description;
  const body = jsonOf(requestBody);
  const rows = asArray(parameters).map(parameterRow);
  const isAssumed = description['x-assumed'] !== undefined;
  const content = html`<p class="crumb"><span><a href="/reference">Reference</a> / ${id}</span><a href="/requests?q=${encodeURIComponent(path.replace(/\{.*/, ''))}">Its requests</a></p>
${head(formatted(text(description.summary)), isAssumed ? badge('', 'assumed') : '')}
<p class="lead">${formatted(text(description.description))}</p>
${facts([
  ['Request', html`<code>${method} ${path}</code>`],
  ['Bucket', text(description['x-rate-limit-bucket'] ?? 'none')],
  ['Repeated', text(description['x-retry'] ?? 'as the RFC says')],
  ['Starts a job', description['x-starts-job'] === true ? 'yes, which the build budget counts' : 'no'],
  ['Assumed', formatted(text(description['x-assumed'] ?? 'nothing: the specification shows method and path'))],
])}
<h2>Parameters</h2>
${table('Parameters', [['Name'], ['Type', 'w14'], ['Description', 'half']], rows, html`<p class="soft">It has none.</p>`)}
${body ? html`<h2>Body</h2>${schemaTable('Body', body.schema)}${example('body', body.example)}` : ''}
<h2>Responses</h2>
${Object.entries(asObject(responses)).map(([status, response]) => responsePart(status, resolve(response)))}`;
  return { title: text(description.summary), content };
}

function responsePart(status: string, response: JsonObject): Html {
  const json = jsonOf(response);
  const headers = Object.keys(asObject(response.headers));
  return html`<h3>${httpBadge(Number(status) || undefined)} ${formatted(text(response.description))}</h3>${headers.length === 0 ? '' : html`<p class="soft">Headers: ${headers.map((name) => html`<code>${name}</code> `)}</p>`}
${json && status.startsWith('2') ? html`${schemaTable(`Response ${status}`, json.schema)}${example(`response-${status}`, json.example)}` : ''}`;
}

function parameterRow(value: unknown): Html {
  const { name, in: place, required, schema, description } = resolve(value);
  return row([
    cell(
      html`<code>${text(name)}</code> <span class="soft">in ${text(place)}${required === true ? ', required' : ''}</span>`,
      'main wrap',
    ),
    cell(typeOf(asObject(schema)), 'wrap'),
    cell(formatted(text(description ?? '')), 'wrap note2'),
  ]);
}

/** The fields of a schema, at any depth, one a row. */
function schemaTable(caption: string, schema: unknown): Html {
  const rows = fieldsOf(resolve(schema), '').map(({ path, type, description }) =>
    row([
      cell(html`<code>${path}</code>`, 'main wrap'),
      cell(html`<span class="soft">${type}</span>`, 'wrap'),
      cell(formatted(description), 'wrap note2'),
    ]),
  );
  return table(
    caption,
    [['Field'], ['Type', 'w14'], ['Description', 'half']],
    rows,
    html`<p class="soft">Any value.</p>`,
  );
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

const example = (id: string, value: unknown): Html | string =>
  value === undefined
    ? ''
    : html`<details><summary>Example</summary>${codeBlock(`example-${id}`, 'JSON', JSON.stringify(value, null, 2))}</details>`;

const firstSentence = (description: string): string => /^.*?\.(?= |$)/s.exec(description)?.[0] ?? description;

/** Returns a description with its code and its links: \`…\`, [text](https://…). */
const formatted = (description: string): Content =>
  description.split(/(`[^`]+`|\[[^\]]+\]\(https?:[^)\s]+\))/).map((piece) => {
    if (piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`;
    const [, label = '', href = ''] = /^\[([^\]]+)\]\((https?:[^)\s]+)\)$/.exec(piece) ?? [];
    return href === '' ? piece : html`<a href="${href}">${label}</a>`;
  });

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
