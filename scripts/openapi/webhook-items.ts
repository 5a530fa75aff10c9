import type { OperationName } from '../../src/spec/operations.ts';
import { objectOf } from './components.ts';
import type { DocComments } from './doc-comments.ts';
import type { Exchange } from './examples.ts';
import type { JsonSchema } from './json-schema.ts';

/** An event type. */
interface EventType {
  /** Schema of `data`. */
  readonly schema?: string;
  readonly summary: string;
  /** Operation whose response shows the resource of the example. */
  readonly operation?: OperationName;
  /** Status of the resource in the example, if it differs. */
  readonly status?: { readonly id: number; readonly name: string };
}

const NEEDS_INFO = { id: 107, name: 'Additional Info' };

const EVENTS: Readonly<Record<string, EventType>> = {
  'audience.completed': {
    schema: 'Audience',
    summary: 'An audience has reached 104 Completed; also a lookalike.',
    operation: 'audiences.get',
  },
  'audience.failed': {
    schema: 'Audience',
    summary: 'The build of an audience has ended at 107 or a 4xx status; 400 for a cancelled lookalike.',
    operation: 'lookalikes.get',
  },
  'activation.completed': {
    schema: 'Activation',
    summary: 'An activation has reached 104 Completed.',
    operation: 'activations.get',
  },
  'activation.failed': {
    schema: 'Activation',
    summary: 'An activation has ended at 107 or a 4xx status.',
    operation: 'activations.create',
    status: NEEDS_INFO,
  },
  'cohort.completed': { schema: 'Cohort', summary: 'A cohort has reached 4 Completed.', operation: 'cohorts.get' },
  'cohort.failed': {
    schema: 'Cohort',
    summary: 'A cohort has reached 5 Not Available.',
    operation: 'cohorts.create',
    status: { id: 5, name: 'Not Available' },
  },
  'webhook.test': { summary: 'The console has sent a test, regardless of subscriptions.' },
};

const RETRIES =
  'Respond with 2xx within 10 seconds. Otherwise the delivery is retried five times: after 1 minute, 5 minutes, 25 minutes, 2 hours and 6 hours.';

/** Returns the `webhooks` section: the deliveries that the service sends. */
export function webhookItems(
  comments: DocComments,
  examples: ReadonlyMap<OperationName, Exchange>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, event]) => {
      const { schema, summary, operation } = event;
      const envelope = comments.describe('EventEnvelope', envelopeOf(type, schema));
      const example = exampleOf(type, event, operation && examples.get(operation));
      const post = {
        operationId: type,
        summary,
        description: `${summary} ${RETRIES}`,
        tags: ['webhooks'],
        security: [],
        parameters: [{ $ref: '#/components/parameters/SignatureHeader' }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: envelope, example } },
        },
        responses: {
          '2XX': { description: 'The delivery is done.' },
          '4XX': { description: 'The delivery is retried.' },
          '5XX': { description: 'The delivery is retried.' },
        },
      };
      return [type, { post }];
    }),
  );
}

const envelopeOf = (type: string, schema: string | undefined): JsonSchema =>
  objectOf({
    schema_version: { type: 'integer', const: 1 },
    id: { type: 'string', pattern: '^evt_' },
    type: { type: 'string', const: type },
    created_at: { type: 'string', format: 'date-time' },
    company_id: { type: 'integer' },
    data:
      schema === undefined
        ? { type: 'object', additionalProperties: true, 'x-assumed': 'Its fields.' }
        : { $ref: `#/components/schemas/${schema}` },
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
