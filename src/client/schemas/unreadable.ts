import type { Envelope } from '../../spec/wire-values.ts';
import { activationResource } from './activation-schema.ts';
import { audienceResource } from './audience-schema.ts';
import { cohortResource } from './cohort-schema.ts';
import { decodeList, decodeOne } from './decode.ts';
import { projectResource, scheduleResource } from './open-resource-schemas.ts';
import type { ResourceSchema } from './shared-schemas.ts';
import { webhookEndpointResource } from './webhook-endpoint-schema.ts';

const SCHEMAS = {
  audiences: audienceResource,
  activations: activationResource,
  cohorts: cohortResource,
  projects: projectResource,
  schedules: scheduleResource,
  webhooks: webhookEndpointResource,
} as const;

/** Problem that prevents decoding. */
class Unreadable extends Error {}

/** Returns why the client cannot read the `data` of a response; `undefined` if it can. */
export function unreadable(
  namespace: keyof typeof SCHEMAS,
  verb: 'list' | 'get',
  envelope: Envelope,
): string | undefined {
  const decode = verb === 'list' ? decodeList : decodeOne;
  const schema: ResourceSchema<unknown> = SCHEMAS[namespace];
  try {
    decode(schema)(envelope.data, {
      envelope,
      validation: 'lenient',
      fail: (problem) => new Unreadable(problem.replace('`data` is not as documented: ', '')),
      warn: () => {},
    });
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    throw error;
  }
}
