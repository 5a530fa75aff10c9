/** Schemas and the public interfaces written by hand say the same; checked with the sources, not the package. */
import type * as z from 'zod/mini';
import type { JobResources } from '../../src/errors/error-details.ts';
import type { Activation, activationSchema } from '../../src/schemas/activation.ts';
import type { Audience, audienceSchema } from '../../src/schemas/audience.ts';
import type { Cohort, cohortSchema } from '../../src/schemas/cohort.ts';
import type {
  Estimate,
  estimateSchema,
  identifiedSchema,
  Project,
  Schedule,
} from '../../src/schemas/open-resources.ts';
import type { Usage, usageSchema } from '../../src/schemas/usage-report.ts';
import type { WebhookEndpoint, webhookEndpointSchema } from '../../src/schemas/webhook-endpoint.ts';
import type { JobKind } from '../../src/spec/job-status.ts';

/** The named fields of a type: unknown further fields, known literals and `readonly` aside. */
type Plain<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean | null | undefined
      ? T
      : T extends readonly (infer I)[]
        ? Plain<I>[]
        : T extends object
          ? { -readonly [K in keyof T as string extends K ? never : K]: Plain<T[K]> }
          : T;

type Both<Interface, Schema extends z.ZodMiniType> = [Plain<Interface>] extends [Plain<z.infer<Schema>>]
  ? [Plain<z.infer<Schema>>] extends [Plain<Interface>]
    ? true
    : false
  : false;

/** Every kind of job has a resource, and no other kind has one. */
export const kindOfResource = (kind: keyof JobResources): JobKind => kind;
export const resourceOfKind = (kind: JobKind): keyof JobResources => kind;

export const agreed: readonly [
  Both<Audience, typeof audienceSchema>,
  Both<Activation, typeof activationSchema>,
  Both<Cohort, typeof cohortSchema>,
  Both<Estimate, typeof estimateSchema>,
  Both<Project, typeof identifiedSchema>,
  Both<Schedule, typeof identifiedSchema>,
  Both<Usage, typeof usageSchema>,
  Both<WebhookEndpoint, typeof webhookEndpointSchema>,
] = [true, true, true, true, true, true, true, true];
