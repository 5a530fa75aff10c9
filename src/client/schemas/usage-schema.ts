import * as z from 'zod/mini';
import type { Usage } from '../../spec/usage-report.ts';
import { lazily, type ResourceSchema } from './shared-schemas.ts';

const budgetWindow = () => z.looseObject({ limit: z.number(), used: z.number() });

export const usageSchema = lazily(() =>
  z.looseObject({
    build_budget: z.looseObject({
      hour: budgetWindow(),
      day: budgetWindow(),
      retry_after_seconds: z.optional(z.nullable(z.number())),
    }),
  }),
);

export const usageResource: ResourceSchema<Usage> = { name: 'usage', schema: usageSchema };
