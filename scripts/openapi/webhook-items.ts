import type { OperationName } from '../../src/spec/operations.ts';
import { objectOf } from './components.ts';
import type { DocComments } from './doc-comments.ts';
import type { Exchange } from './examples.ts';
import type { JsonSchema } from './json-schema.ts';

/** The event types, with the schema of their `data` and the operation whose response shows an example. */
const EVENTS = {
  'audience.completed': ['Audience', 'An audience has reached 104 Completed; also a lookalike.', 'audiences.get'],
  'audience.failed': ['Audience', 'The build of an audience has ended at 107 or a 4xx status.', 'lookalikes.get'],
  'activation.completed': ['Activation', 'An activation has reached 104 Completed.', 'activations.get'],
  'activation.failed': ['Activation', 'An activation has ended at 107 or a 4xx status.', undefined],
  'cohort.completed': ['Cohort', 'A cohort has reached 4 Completed.', 'cohorts.get'],
  'cohort.failed': ['Cohort', 'A cohort has reached 5 Not Available.', undefined],
  'webhook.test': [undefined, 'The console has sent a test, regardless of subscriptions.', undefined],
} as const satisfies Record<string, readonly [string | undefined, string, OperationName | undefined]>;

const RETRIES =
  'Answer with 2xx within 10 seconds. Otherwise the delivery is retried five times: after 1 minute, 5 minutes, 25 minutes, 2 hours and 6 hours.';

/** Returns the `webhooks` section: the deliveries that the service sends. */
export function webhookItems(
  comments: DocComments,
  examples: ReadonlyMap<OperationName, Exchange>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, [schema, summary, operation]]) => {
      const envelope = comments.describe('EventEnvelope', envelopeOf(type, schema));
      const example = operation === undefined ? undefined : exampleOf(type, examples.get(operation));
      const post = {
        operationId: type,
        summary,
        description: `${summary} ${RETRIES}`,
        tags: ['webhooks'],
        security: [],
        parameters: [{ $ref: '#/components/parameters/SignatureHeader' }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: envelope, ...(example !== undefined && { example }) } },
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

function exampleOf(type: string, exchange: Exchange | undefined): unknown {
  const { data }: { readonly data?: unknown } = Object(exchange?.response);
  const [resource]: readonly unknown[] = Array.isArray(data) ? data : [];
  const created_at = '2026-11-22T10:00:00Z';
  return { schema_version: 1, id: 'evt_1f0c9a7e', type, created_at, company_id: 1, data: resource };
}
