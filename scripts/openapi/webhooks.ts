import type { OperationName } from '../../src/spec/operations.ts';
import type { DocComments } from './doc-comments.ts';
import type { Exchange } from './examples.ts';
import { type Json, type JsonSchema, refTo, service } from './service.ts';

const { delivery: anyEvent, ...EVENTS } = service.events;

/** Returns the name of the schema of an event: `audience.completed` is `AudienceCompletedEvent`. */
const schemaNameOf = (type: string): string =>
  `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const DATA_OF_JOB = 'The resource, as a GET of it returns it, without the array around it.';
const DATA_OF_TEST = 'A message and the id of the endpoint.';

/** Returns the schemas of all events, and `WebhookEvent`, which is any of them. */
export function eventSchemas(comments: DocComments): Readonly<Record<string, JsonSchema>> {
  const names = Object.keys(EVENTS).map((type) => [type, schemaNameOf(type)] as const);
  const events = Object.entries(EVENTS).map(([type, { schema, description }]) => {
    const only = { type: 'string', enum: [type] };
    const data = schema === undefined ? service.event.properties?.data : refTo(schema);
    const envelope = { ...service.event, properties: { ...service.event.properties, type: only, data: data ?? {} } };
    const described = comments.describe('EventEnvelope', envelope);
    const text = schema === undefined ? DATA_OF_TEST : DATA_OF_JOB;
    const properties = { ...described.properties, data: { ...described.properties?.data, description: text } };
    return [schemaNameOf(type), { ...described, properties, description }] as const;
  });
  return {
    ...Object.fromEntries(events),
    WebhookEvent: {
      description: 'The body of a delivery. `type` says which event it is.',
      oneOf: names.map(([, name]) => refTo(name)),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(names.map(([type, name]) => [type, refTo(name).$ref])),
      },
    },
  };
}

/** Returns the `webhooks` section: the deliveries that the service sends, by event type, and any of them. */
export function webhookItems(examples: ReadonlyMap<OperationName, Exchange>): Json {
  const items = Object.entries(service.events).map(([type, event]) => {
    const { title: summary, description, operation, status } = event;
    const { data }: { readonly data?: unknown } = Object(operation && examples.get(operation)?.response);
    const [resource]: readonly unknown[] = Array.isArray(data) ? data : [service.testData];
    const example = {
      schema_version: 1,
      id: 'evt_1f0c9a7e',
      type: event === anyEvent ? 'webhook.test' : type,
      created_at: '2026-11-22T10:00:00Z',
      company_id: 1,
      data: status ? { ...Object(resource), status } : resource,
    };
    const schema = refTo(event === anyEvent ? 'WebhookEvent' : schemaNameOf(type));
    const { responses, ...delivery } = service.delivery;
    const requestBody = { required: true, content: { 'application/json': { schema, example } } };
    return [type, { post: { operationId: type, summary, description, ...delivery, requestBody, responses } }];
  });
  return Object.fromEntries(items);
}
