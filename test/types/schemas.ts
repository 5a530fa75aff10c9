/** Schemas and the public interfaces written by hand say the same; checked with the sources, not the package. */
import type * as z from 'zod/mini';
import type { Credentials } from '../../src/client/auth/token-source.ts';
import type { ListParams, UsageParams } from '../../src/client/resources/namespaces.ts';
import type { activationCreateSchema, activationSchema } from '../../src/client/schemas/activation-schema.ts';
import type { audienceCreateSchema, audienceSchema } from '../../src/client/schemas/audience-schema.ts';
import type { cohortCreateSchema, cohortSchema } from '../../src/client/schemas/cohort-schema.ts';
import type { credentialsSchema } from '../../src/client/schemas/credentials.ts';
import type {
  estimateSchema,
  identifiedSchema,
  lookalikeCreateSchema,
  projectCreateSchema,
  scheduleCreateSchema,
} from '../../src/client/schemas/open-resource-schemas.ts';
import type { listQuerySchema, usageQuerySchema } from '../../src/client/schemas/queries.ts';
import type { LazySchema } from '../../src/client/schemas/shared-schemas.ts';
import type { reservationSchema, uploadRequestSchema } from '../../src/client/schemas/upload-schemas.ts';
import type { usageSchema } from '../../src/client/schemas/usage-schema.ts';
import type { webhookEndpointSchema } from '../../src/client/schemas/webhook-endpoint-schema.ts';
import type { JobResources } from '../../src/errors/error-details.ts';
import type { Activation, ActivationCreate } from '../../src/spec/activation.ts';
import type { Audience, AudienceCreate } from '../../src/spec/audience.ts';
import type { Cohort, CohortCreate } from '../../src/spec/cohort.ts';
import type { JobKind } from '../../src/spec/job-status.ts';
import type {
  Estimate,
  LookalikeCreate,
  Project,
  ProjectCreate,
  Schedule,
  ScheduleCreate,
} from '../../src/spec/open-resources.ts';
import type { UploadRequest, UploadReservation } from '../../src/spec/upload-reservation.ts';
import type { Usage } from '../../src/spec/usage-report.ts';
import type { WebhookEndpoint } from '../../src/spec/webhook-endpoint.ts';

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

type Both<Interface, Schema extends LazySchema> = [Plain<Interface>] extends [
  Plain<z.infer<ReturnType<Schema['build']>>>,
]
  ? [Plain<z.infer<ReturnType<Schema['build']>>>] extends [Plain<Interface>]
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
