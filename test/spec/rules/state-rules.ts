import { field, isOfType, operation, type Rules, rule, tag } from './rule.ts';

const INFO = '/info/description';
const event = (type: string): string => `/webhooks/${type}/post/description`;

/** Specification, "States and transitions". */
export const STATES: Rules = {
  'States and transitions': [
    rule('Audiences and activations share a scale', field('KnownLifecycleStatusId'), { enum: [104, 105, 107, 400] }),
    rule('in the 1xx range with 4xx error statuses', field('LifecycleStatusId'), /4xx for errors/),
    rule('Names of other statuses: not shown', `${field('LifecycleStatusId')}/x-assumed`, /the job is running/),
    rule('Names of cohort statuses 1 to 3: not shown', `${field('CohortStatusId')}/x-assumed`, /1 to 3 of cohorts/),
    rule('Status ids are open', field('LifecycleStatusId'), isOfType('integer')),
    rule(
      'Cohorts use their own scale, 1 to 5',
      field('Cohort', 'status'),
      /Status ids differ from the ids of other resources/,
    ),
    rule('Audience: success ends at 104 Completed', INFO, /An audience.*ends at 104 Completed/),
    rule('Audience: 104 emits `audience.completed`', event('audience.completed'), /has reached 104 Completed/),
    rule('Audience: a definition that cannot be built ends at 107', INFO, /107 Additional Info \(it cannot be built/),
    rule('Audience: 107 emits `audience.failed`', event('audience.failed'), /ended at 107/),
    rule(
      'The reason is visible in the console only',
      event('audience.failed'),
      /the reason is visible in the console only/,
    ),
    rule('Audience: an error ends at a 4xx error status', INFO, /at a 4xx error status/),
    rule('Audience: 4xx emits `audience.failed`', event('audience.failed'), /or a 4xx status/),
    rule(
      'Lookalike: a cancel of a run ends at 400',
      `${operation('POST /api/v2/lookalikes/{id}/cancel')}/description`,
      /running lookalike, which then ends at 400/,
    ),
    rule('Lookalike: 400 emits `audience.failed`', event('audience.failed'), /a lookalike was cancelled \(400\)/),
    rule(
      'Lookalike: a cancel during publishing completes',
      `${operation('POST /api/v2/lookalikes/{id}/cancel')}/description`,
      /being published completes at 104/,
    ),
    rule(
      'Lookalike: it emits `audience.completed`',
      event('audience.completed'),
      /even if its cancel arrived while it was being published/,
    ),
    rule(
      'Activation: 105 DataStreaming precedes 104',
      field('Activation', 'status'),
      /105 DataStreaming, then 104 Completed/,
    ),
    rule(
      'Activation: 104 emits `activation.completed`',
      event('activation.completed'),
      /104 Completed, after 105 DataStreaming/,
    ),
    rule(
      'Activation: `results.uri` is then ready',
      event('activation.completed'),
      /`datastreams\[\]\.results\.uri` can be read/,
    ),
    rule('Activation: 107 if it cannot be processed as requested', INFO, /or processed as requested/),
    rule(
      'Activation: 107 emits `activation.failed`',
      event('activation.failed'),
      /ended at 107, whose reason is visible in the console/,
    ),
    rule('Activation: 4xx emits `activation.failed`', event('activation.failed'), /or a 4xx status/),
    rule('Cohort: 4 Completed', event('cohort.completed'), /4 Completed/),
    rule('Cohort: 5 Not Available', event('cohort.failed'), /5 Not Available/),
    rule('Cohort: 1 to 3 while the import runs', field('CohortStatusId'), /1 to 3 while the import runs/),
    rule(
      'Webhook endpoint: a manual pause makes it inactive',
      field('WebhookEndpoint', 'is_active'),
      /`false` after a manual pause/,
    ),
    rule('Webhook endpoint: deliveries stop', tag('webhooks'), /inactive endpoint receives nothing/),
    rule(
      'Webhook endpoint: off after 20 exhausted deliveries',
      tag('webhooks'),
      /After 20 consecutive deliveries that exhausted all attempts, the endpoint is disabled/,
    ),
    rule('Webhook endpoint: its creator is notified', tag('webhooks'), /its creator notified/),
  ],
};
