import { contains, delivery, field, isLike, operation, type Rules, rule, says, tag } from './rule.ts';

const DELIVERY = tag('webhooks');
const SIGNATURE = '/components/parameters/SignatureHeader';
const RESPONSES = '/components/responses';
const INFO = '/info/description';

const DATA = {
  'audience.completed': 'Audience',
  'audience.failed': 'Audience',
  'activation.completed': 'Activation',
  'activation.failed': 'Activation',
  'cohort.completed': 'Cohort',
  'cohort.failed': 'Cohort',
} as const;

/** Specification, "Events" and "Errors". */
export const ERRORS_AND_EVENTS: Rules = {
  Events: [
    rule('The service POSTs the delivery envelope', '/webhooks/audience.completed', /"post"/),
    ...Object.entries(DATA).flatMap(([type, schema]) => [
      rule(`${type} is of its type`, `${delivery(type)}/properties/type`, { enum: [type] }),
      rule(`${type} has the object ${schema}`, `${delivery(type)}/properties/data`, isLike(schema)),
      rule(`${type} is one of \`WebhookEvent\``, `${field('WebhookEvent')}/discriminator/mapping`, contains(type)),
    ]),
    rule('webhook.test is of its type', `${delivery('webhook.test')}/properties/type`, { enum: ['webhook.test'] }),
    rule(
      'webhook.test: its fields are not shown',
      `${delivery('webhook.test')}/properties/data/x-assumed`,
      /webhook\.test/,
    ),
    rule('The types are known values', field('KnownEventType'), {
      enum: [
        'activation.completed',
        'activation.failed',
        'audience.completed',
        'audience.failed',
        'cohort.completed',
        'cohort.failed',
        'webhook.test',
      ],
    }),
    rule(
      'Events are delivered only to subscribed endpoints',
      DELIVERY,
      /receive the events that they subscribe to, and `webhook\.test`/,
    ),
    rule(
      '`audience.completed` is also sent for lookalikes',
      '/webhooks/audience.completed/post/description',
      /also a lookalike, whose `is_lookalike` is `true`/,
    ),
    rule(
      '`data.status.id` distinguishes failures',
      '/webhooks/audience.failed/post/description',
      /`data\.status\.id` distinguishes/,
    ),
    rule('`WebhookEvent` has a discriminator', `${field('WebhookEvent')}/discriminator/propertyName`, 'type'),
  ],
  Signature: [
    ...says(SIGNATURE, {
      'The header is `Service-Signature`': { name: 'Service-Signature', in: 'header', required: true },
      '`t=<unix_seconds>,v1=<hex>[,v1=<hex>]`': /t=<unix_seconds>,v1=<hex>\[,v1=<hex>\]/,
      '`v1` is HMAC-SHA256, as hex': /HMAC-SHA256, as hex/,
      'over `<t>.<raw_body>`': /`<t>\.<raw_body>`/,
      'Accept when any `v1` matches': /accept if any `v1` matches/,
      'Reject when `t` differs by more than 5 minutes': /more than 5 minutes/,
      'For 24 hours after a rotation there are two `v1`':
        /For 24 hours after a rotation of the secret there are two `v1`/,
    }),
    rule('Each delivery carries it', '/webhooks/cohort.failed/post/parameters/0', { name: 'Service-Signature' }),
  ],
  Delivery: [
    ...says(DELIVERY, {
      'Answer 2xx within 10 seconds': /2xx within 10 seconds/,
      '6 attempts in all, the first immediate': /6 attempts in all, the first immediately/,
      'Waits of 1, 5, 25 minutes, 2 and 6 hours': /1 minute, 5 minutes, 25 minutes, 2 hours and 6 hours/,
      'about 8.5 hours': /about 8\.5 hours/,
      'Disabled after 20 consecutive exhausted deliveries':
        /After 20 consecutive deliveries that exhausted all attempts/,
    }),
    rule('A 2xx is described', '/webhooks/cohort.failed/post/responses/200/description', /any other 2xx/),
  ],
  Errors: [
    rule('Errors use the envelope with `status` `error`', field('ErrorEnvelope', 'status'), { enum: ['error'] }),
    rule('403: `insufficient_scope`', `${RESPONSES}/Forbidden/description`, /`insufficient_scope`/),
    rule('429: `Retry-After`', `${RESPONSES}/TooManyRequests/headers/Retry-After`, { required: true }),
    rule(
      '429: resend the same `Idempotency-Key`',
      `${RESPONSES}/TooManyRequests/description`,
      /under the same `Idempotency-Key`/,
    ),
    rule(
      'OAuth registration: `invalid_scope`',
      `${operation('POST /oauth/register')}/responses/400/description`,
      /`invalid_scope`/,
    ),
    ...says(INFO, {
      'On 422 surface `errors`': /On 422, show `errors`/,
      'On 401 refresh and retry once': /on 401, refresh the token and retry once/,
    }),
    rule('Bodies of 404, 406, 409 and 429: not shown', `${field('ErrorEnvelope')}/x-assumed`, /404, 406, 409 and 429/),
    rule('Bodies of server errors: not shown', `${RESPONSES}/ServerError/x-assumed`, /server errors/),
  ],
};
