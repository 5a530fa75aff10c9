import type { OperationName } from '../../src/spec/operations.ts';
import { assumed } from '../assumptions.ts';
import type { DocComments } from './doc-comments.ts';
import type { Exchange } from './examples.ts';
import type { JsonSchema } from './json-schema.ts';
import { objectOf, only } from './wire-schemas.ts';

/** An event type. */
interface EventType {
  /** Schema of `data`. */
  readonly schema?: string;
  readonly title: string;
  readonly description: string;
  /** Operation whose response shows the resource of the example. */
  readonly operation?: OperationName;
  /** Status of the resource in the example, if it differs. */
  readonly status?: { readonly id: number; readonly name: string };
}

const NEEDS_INFO = { id: 107, name: 'Additional Info' };

const EVENTS: Readonly<Record<string, EventType>> = {
  'audience.completed': {
    schema: 'Audience',
    title: 'An audience is completed',
    description:
      'An audience has reached 104 Completed; also a lookalike, whose `is_lookalike` is `true`, even if its cancel arrived while it was being published.',
    operation: 'audiences.get',
  },
  'audience.failed': {
    schema: 'Audience',
    title: 'An audience has failed',
    description:
      'The build of an audience has ended at 107 or a 4xx status, or a lookalike was cancelled (400). `data.status.id` distinguishes them; the reason is visible in the console only.',
    operation: 'lookalikes.get',
  },
  'activation.completed': {
    schema: 'Activation',
    title: 'An activation is completed',
    description:
      'An activation has reached 104 Completed, after 105 DataStreaming: `datastreams[].results.uri` can be read.',
    operation: 'activations.get',
  },
  'activation.failed': {
    schema: 'Activation',
    title: 'An activation has failed',
    description: 'An activation has ended at 107, whose reason is visible in the console, or a 4xx status.',
    operation: 'activations.create',
    status: NEEDS_INFO,
  },
  'cohort.completed': {
    schema: 'Cohort',
    title: 'A cohort is completed',
    description: 'A cohort has reached 4 Completed.',
    operation: 'cohorts.get',
  },
  'cohort.failed': {
    schema: 'Cohort',
    title: 'A cohort is not available',
    description: 'A cohort has reached 5 Not Available: its import failed.',
    operation: 'cohorts.create',
    status: { id: 5, name: 'Not Available' },
  },
  'webhook.test': {
    title: 'A test from the console',
    description:
      'The console has sent a test, regardless of the subscriptions of the endpoint. `data` holds a message and the id of the endpoint.',
  },
};

/** How webhooks are delivered (specification, "Delivery"). */
export const DELIVERY_RULES =
  'Endpoints are registered and managed in the console only, and receive the events that they subscribe to, and `webhook.test`; an inactive endpoint receives nothing. Respond with 2xx within 10 seconds: otherwise the delivery is retried, in 6 attempts in all, the first immediately, the others after 1 minute, 5 minutes, 25 minutes, 2 hours and 6 hours, which takes about 8.5 hours. After 20 consecutive deliveries that exhausted all attempts, the endpoint is disabled and its creator notified. The `id` of an event is the same in every retry and at every endpoint: deduplicate by it.';

/** The header by which a receiver verifies a delivery (specification, "Signature"). */
export const SIGNATURE_HEADER = {
  name: 'Service-Signature',
  in: 'header',
  required: true,
  description:
    '`t=<unix_seconds>,v1=<hex>[,v1=<hex>]`: each `v1` is the HMAC-SHA256, as hex, of `<t>.<raw_body>` with the signing secret of the endpoint. Verify the raw bytes of the body, compare in constant time, accept if any `v1` matches, and reject if `t` differs from the current time by more than 5 minutes. For 24 hours after a rotation of the secret there are two `v1`, that of the new secret first. The name of the header stands for that of the operator.',
  schema: { type: 'string', pattern: '^t=\\d+(,v1=[0-9a-f]{64})+$' },
} as const;

/** Returns the name of the schema of an event: `audience.completed` is `AudienceCompletedEvent`. */
const schemaNameOf = (type: string): string =>
  `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

const refTo = (name: string): string => `#/components/schemas/${name}`;

const DATA_OF_JOB = 'The resource itself, exactly as its GET returns it, without the array.';
const DATA_OF_TEST = 'A message and the id of the endpoint.';

/** Returns the schemas of all events, and `WebhookEvent`, which is any of them. */
export function eventSchemas(comments: DocComments): Readonly<Record<string, JsonSchema>> {
  const types = Object.entries(EVENTS);
  const events = types.map(([type, { schema, description }]) => {
    const { properties, ...described } = comments.describe('EventEnvelope', envelopeOf(type, schema));
    const data = { ...Object(properties).data, description: schema === undefined ? DATA_OF_TEST : DATA_OF_JOB };
    return [schemaNameOf(type), { ...described, properties: { ...Object(properties), data }, description }] as const;
  });
  return {
    ...Object.fromEntries(events),
    WebhookEvent: {
      description: 'The body of a delivery. `type` says which event it is.',
      oneOf: events.map(([name]) => ({ $ref: refTo(name) })),
      discriminator: {
        propertyName: 'type',
        mapping: Object.fromEntries(types.map(([type]) => [type, refTo(schemaNameOf(type))])),
      },
    },
  };
}

/** Returns the `webhooks` section: the deliveries that the service sends, by event type, and any of them. */
export function webhookItems(examples: ReadonlyMap<OperationName, Exchange>): Readonly<Record<string, unknown>> {
  const events = Object.entries(EVENTS).map(([type, event]) => {
    const example = exampleOf(type, event, event.operation && examples.get(event.operation));
    return [type, itemOf(type, event, schemaNameOf(type), example)] as const;
  });
  const any = {
    title: 'A delivery',
    description: 'A delivery of any event: an endpoint receives all of its events at one address.',
  };
  const example = exampleOf('webhook.test', any, undefined);
  return { ...Object.fromEntries(events), delivery: itemOf('delivery', any, 'WebhookEvent', example) };
}

const itemOf = (id: string, { title, description }: EventType, schema: string, example: unknown): unknown => ({
  post: {
    operationId: id,
    summary: title,
    description,
    tags: ['webhooks'],
    security: [],
    parameters: [{ $ref: '#/components/parameters/SignatureHeader' }],
    requestBody: { required: true, content: { 'application/json': { schema: { $ref: refTo(schema) }, example } } },
    responses: {
      200: { description: 'The delivery is done, as with any other 2xx.' },
      default: { description: 'The delivery has failed, and is retried.' },
    },
  },
});

const envelopeOf = (type: string, schema: string | undefined): JsonSchema =>
  objectOf({
    schema_version: only(1),
    id: { type: 'string', pattern: '^evt_' },
    type: only(type),
    created_at: { type: 'string', format: 'date-time' },
    company_id: { type: 'integer' },
    data:
      schema === undefined
        ? { type: 'object', additionalProperties: true, ...assumed('testEvent') }
        : { $ref: refTo(schema) },
  });

function exampleOf(type: string, { status }: EventType, exchange: Exchange | undefined): unknown {
  const { data }: { readonly data?: unknown } = Object(exchange?.response);
  const [resource]: readonly unknown[] = Array.isArray(data) ? data : [TEST_DATA];
  const created_at = '2026-11-22T10:00:00Z';
  const shown = status ? { ...Object(resource), status } : resource;
  return { schema_version: 1, id: 'evt_1f0c9a7e', type, created_at, company_id: 1, data: shown };
}

/** The specification mentions a message and the endpoint's id; the names of the fields are assumed. */
const TEST_DATA = { message: 'This is a test delivery.', endpoint_id: 1 };
