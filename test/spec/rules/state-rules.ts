import { field, isOfType, operation, type Rules, rule, says, tag } from './rule.ts';

const INFO = '/info/description';
const event = (type: string): string => `/webhooks/${type}/post/description`;

/** Specification, "States and transitions". */
export const STATES: Rules = {
  'States and transitions': [
    rule('Audiences and activations share a scale', field('KnownLifecycleStatusId'), { enum: [104, 105, 107, 400] }),
    ...says(field('LifecycleStatusId'), {
      'in the 1xx range with 4xx error statuses': /4xx errors/,
      'Status ids are open': isOfType('integer'),
    }),
    rule('Names of other statuses: not shown', `${field('LifecycleStatusId')}/x-assumed`, /the job is running/),
    rule(
      'Names of cohort statuses 1 to 3: not shown',
      `${field('CohortStatusId')}/x-assumed`,
      /statuses 1 to 3 of cohorts/,
    ),
    ...says(INFO, {
      'Audience: success ends at 104 Completed': /An audience.*ends at 104 Completed/,
      'Audience: a definition that cannot be built ends at 107': /107 Additional Info \(it cannot be built/,
      'Audience: an error ends at a 4xx error status': /at a 4xx error status/,
    }),
    rule('Audience: 104 emits `audience.completed`', event('audience.completed'), /has reached 104 Completed/),
    ...says(event('audience.failed'), {
      'Audience: 107 emits `audience.failed`': /ended at 107/,
      'Audience: 4xx emits `audience.failed`': /or a 4xx status/,
      'Lookalike: 400 emits `audience.failed`': /a lookalike was cancelled \(400\)/,
    }),
    ...says(`${operation('POST /api/v2/lookalikes/{id}/cancel')}/description`, {
      'Lookalike: a cancel of a run ends at 400': /running lookalike, whose job then ends with status 400/,
      'Lookalike: a cancel during publishing completes': /being published completes with\s+status 104/,
    }),
    rule(
      'Activation: 105 DataStreaming precedes 104',
      field('Activation', 'status'),
      /105 DataStreaming, then 104 Completed/,
    ),
    ...says(event('activation.completed'), {
      'Activation: 104 emits `activation.completed`': /104 Completed, after 105 DataStreaming/,
      'Activation: `results.uri` is then ready': /`datastreams\[\]\.results\.uri` can be read/,
    }),
    ...says(event('activation.failed'), {
      'Activation: 107 emits `activation.failed`': /ended at 107, whose reason is visible in the console/,
      'Activation: 4xx emits `activation.failed`': /or a 4xx status/,
    }),
    rule('Cohort: 4 Completed', event('cohort.completed'), /4 Completed/),
    rule('Cohort: 5 Not Available', event('cohort.failed'), /5 Not Available/),
    rule('Cohort: 1 to 3 while the import runs', field('CohortStatusId'), /1 to 3 while the import runs/),
    rule(
      'Webhook endpoint: a manual pause makes it inactive',
      field('WebhookEndpoint', 'is_active'),
      /`false` after a manual pause/,
    ),
    rule(
      'Webhook endpoint: off after 20 exhausted deliveries',
      tag('webhooks'),
      /After 20 consecutive deliveries that exhausted all attempts, the endpoint is disabled/,
    ),
  ],
};
