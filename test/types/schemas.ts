/** Schemas and the public interfaces written by hand say the same; checked with the sources, not the package. */
import type * as z from 'zod/mini';
import type { Credentials } from '../../src/client/auth/index.ts';
import type { ListParams, UsageParams } from '../../src/client/resources/index.ts';
import type {
  Activation,
  ActivationCreate,
  activationCreateSchema,
  activationSchema,
} from '../../src/client/schemas/activation.ts';
import type {
  Audience,
  AudienceCreate,
  audienceCreateSchema,
  audienceSchema,
} from '../../src/client/schemas/audience.ts';
import type { Cohort, CohortCreate, cohortCreateSchema, cohortSchema } from '../../src/client/schemas/cohort.ts';
import type { credentialsSchema } from '../../src/client/schemas/credentials.ts';
import type {
  Estimate,
  estimateSchema,
  identifiedSchema,
  LookalikeCreate,
  lookalikeCreateSchema,
  Project,
  ProjectCreate,
  projectCreateSchema,
  Schedule,
  ScheduleCreate,
  scheduleCreateSchema,
} from '../../src/client/schemas/open-resources.ts';
import type { listQuerySchema, usageQuerySchema } from '../../src/client/schemas/queries.ts';
import type {
  reservationSchema,
  UploadRequest,
  UploadReservation,
  uploadRequestSchema,
} from '../../src/client/schemas/upload-reservation.ts';
import type { Usage, usageSchema } from '../../src/client/schemas/usage-report.ts';
import type { WebhookEndpoint, webhookEndpointSchema } from '../../src/client/schemas/webhook-endpoint.ts';
import type { JobResources } from '../../src/errors/error-details.ts';
import type { JobKind } from '../../src/spec/job-status.ts';

/**
 * The named fields of a type: unknown further fields, known literals and `readonly` aside, and whether they are required:
 * callers may add the rest of a body by `extraBody` or an override.
 */
type Plain<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean | null | undefined
      ? T
      : T extends readonly (infer I)[]
        ? Plain<I>[]
        : T extends object
          ? { -readonly [K in keyof T as string extends K ? never : K]-?: Plain<Exclude<T[K], undefined>> }
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
  Both<UploadReservation, typeof reservationSchema>,
  Both<AudienceCreate, typeof audienceCreateSchema>,
  Both<ActivationCreate, typeof activationCreateSchema>,
  Both<CohortCreate, typeof cohortCreateSchema>,
  Both<LookalikeCreate, typeof lookalikeCreateSchema>,
  Both<ProjectCreate, typeof projectCreateSchema>,
  Both<ScheduleCreate, typeof scheduleCreateSchema>,
  Both<UploadRequest, typeof uploadRequestSchema>,
  Both<Credentials, typeof credentialsSchema>,
  Both<ListParams, typeof listQuerySchema>,
  Both<UsageParams, typeof usageQuerySchema>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true];
