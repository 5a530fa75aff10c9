import { contains, delivery, field, isLike, operation, type Rules, rule, tag } from './rule.ts';

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
      'webhook.test holds a message and the endpoint id',
      '/webhooks/webhook.test/post/description',
      /a message and the id of the endpoint/,
    ),
    rule(
      'webhook.test: its fields are not shown',
      `${delivery('webhook.test')}/properties/data/x-assumed`,
      /webhook\.test/,
    ),
    rule(
      'webhook.test is sent regardless of subscriptions',
      '/webhooks/webhook.test/post/description',
      /regardless of the subscriptions/,
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
    rule('The header is `Service-Signature`', SIGNATURE, { name: 'Service-Signature', in: 'header', required: true }),
    rule('Each delivery carries it', '/webhooks/cohort.failed/post/parameters/0', { name: 'Service-Signature' }),
    rule('`t=<unix_seconds>,v1=<hex>[,v1=<hex>]`', SIGNATURE, /t=<unix_seconds>,v1=<hex>\[,v1=<hex>\]/),
    rule('Its name is a neutral word', SIGNATURE, /another name for the header/),
    rule('`v1` is HMAC-SHA256, as hex', SIGNATURE, /HMAC-SHA256, as hex/),
    rule('over `<t>.<raw_body>`', SIGNATURE, /`<t>\.<raw_body>`/),
    rule("keyed with the endpoint's signing secret", SIGNATURE, /with the signing secret of the endpoint/),
    rule('Verify against the raw bytes', SIGNATURE, /Verify the raw bytes/),
    rule('Compare in constant time', SIGNATURE, /constant time/),
    rule('Accept when any `v1` matches', SIGNATURE, /accept if any `v1` matches/),
    rule('Reject when `t` differs by more than 5 minutes', SIGNATURE, /more than 5 minutes/),
    rule(
      'For 24 hours after a rotation there are two `v1`',
      SIGNATURE,
      /For 24 hours after a rotation of the secret there are two `v1`/,
    ),
    rule("the new secret's first", SIGNATURE, /the first belongs to the new secret/),
  ],
  Delivery: [
    rule('Answer 2xx within 10 seconds', DELIVERY, /2xx within 10 seconds/),
    rule('6 attempts in all, the first immediate', DELIVERY, /6 attempts in all, the first immediately/),
    rule('Waits of 1, 5, 25 minutes, 2 and 6 hours', DELIVERY, /1 minute, 5 minutes, 25 minutes, 2 hours and 6 hours/),
    rule('about 8.5 hours', DELIVERY, /about 8\.5 hours/),
    rule(
      'Disabled after 20 consecutive exhausted deliveries',
      DELIVERY,
      /After 20 consecutive deliveries that exhausted all attempts/,
    ),
    rule('and its creator notified', DELIVERY, /its creator notified/),
    rule('`id` is the same on every retry and endpoint', DELIVERY, /same in every retry and at every endpoint/),
    rule('A 2xx is described', '/webhooks/cohort.failed/post/responses/200/description', /any other 2xx/),
    rule('A failure is described', '/webhooks/cohort.failed/post/responses/default/description', /retried/),
  ],
  Errors: [
    rule('Errors use the envelope with `status` `error`', field('ErrorEnvelope', 'status'), { enum: ['error'] }),
    rule(
      '400: `invalid_grant`, discard tokens and restart',
      `${operation('POST /oauth/token')}/responses/400/description`,
      /discard the stored tokens and restart the authorization/,
    ),
    rule(
      '401: token missing, invalid or expired',
      `${RESPONSES}/Unauthorized/description`,
      /missing, invalid or expired/,
    ),
    rule(
      '401: refresh the token and retry once',
      `${RESPONSES}/Unauthorized/description`,
      /Refresh the token and retry once/,
    ),
    rule(
      '401: also an unauthenticated MCP request',
      `${RESPONSES}/McpUnauthorized/description`,
      /missing, invalid or expired/,
    ),
    rule('403: `insufficient_scope`', `${RESPONSES}/Forbidden/description`, /`insufficient_scope`/),
    rule(
      '404: the id does not exist for the account',
      `${RESPONSES}/NotFound/description`,
      /does not exist for the account/,
    ),
    rule('406: Accept not sent', `${RESPONSES}/NotAcceptable/description`, /was not sent/),
    rule('409: key reused with a different body', `${RESPONSES}/Conflict/description`, /used with a different body/),
    rule('409: duplicate of an in-flight create', `${RESPONSES}/Conflict/description`, /still in flight/),
    rule(
      '409: use a fresh key for a new create',
      `${RESPONSES}/Conflict/description`,
      /Use a fresh key for a new create/,
    ),
    rule('422: body fails validation', `${RESPONSES}/ValidationFailed/description`, /fails validation/),
    rule(
      '429: rate limit or build budget',
      `${RESPONSES}/TooManyRequests/description`,
      /rate limit is exceeded, or the build budget/,
    ),
    rule('429: `Retry-After`', `${RESPONSES}/TooManyRequests/headers/Retry-After`, { required: true }),
    rule('429: in seconds', `${RESPONSES}/TooManyRequests/headers/Retry-After`, /Seconds to wait/),
    rule(
      '429: resend the same `Idempotency-Key`',
      `${RESPONSES}/TooManyRequests/description`,
      /under the same `Idempotency-Key`/,
    ),
    rule(
      '429: nothing is created when the build budget refuses',
      `${RESPONSES}/TooManyRequests/description`,
      /nothing has been created/,
    ),
    rule(
      'OAuth registration: `invalid_scope`',
      `${operation('POST /oauth/register')}/responses/400/description`,
      /`invalid_scope`/,
    ),
    rule('Check the status code first', INFO, /Check the status code first/),
    rule('On 422 surface `errors`', INFO, /On 422, show `errors`/),
    rule('On 401 refresh and retry once', INFO, /on 401, refresh the token and retry once/),
    rule('Bodies of 404, 406, 409 and 429: not shown', `${field('ErrorEnvelope')}/x-assumed`, /404, 406, 409 and 429/),
    rule('Bodies of server errors: not shown', `${RESPONSES}/ServerError/x-assumed`, /server errors/),
  ],
};
