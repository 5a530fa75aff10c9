import { activationSchema } from './activation.ts';
import { audienceSchema } from './audience.ts';
import { cohortSchema } from './cohort.ts';
import { openObject } from './common.ts';
import { estimateSchema, identifiedSchema } from './open-resources.ts';
import { reservationSchema } from './upload-reservation.ts';
import { usageSchema } from './usage-report.ts';
import { webhookEndpointSchema } from './webhook-endpoint.ts';

/** What checks the objects of the service, by the names that shapes give; with zod, it is a part by itself. */
export const checkers = {
  activation: activationSchema,
  audience: audienceSchema,
  cohort: cohortSchema,
  estimate: estimateSchema,
  identified: identifiedSchema,
  open: openObject,
  reservation: reservationSchema,
  usage: usageSchema,
  webhookEndpoint: webhookEndpointSchema,
};
