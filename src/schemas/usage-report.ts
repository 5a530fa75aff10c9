import * as z from 'zod/mini';
import type { ResourceSchema } from './common.ts';

/** One window of the build budget. The specification names limits and live counts; the field names are assumed. */
export interface BudgetWindow {
  readonly limit: number;
  readonly used: number;
  readonly [more: string]: unknown;
}

/** The organization's build budget: how many job-starting creates it has left. */
export interface BuildBudget {
  readonly hour: BudgetWindow;
  readonly day: BudgetWindow;
  /** Seconds until a build is accepted again; `null` or absent while no window is exhausted. */
  readonly retry_after_seconds?: number | null | undefined;
  readonly [more: string]: unknown;
}

/** The usage report of a month; only `build_budget` is specified. */
export interface Usage {
  readonly build_budget: BuildBudget;
  readonly [more: string]: unknown;
}

const budgetWindow = z.looseObject({ limit: z.number(), used: z.number() });

/** Schema of {@link Usage}. */
export const usageSchema = z.looseObject({
  build_budget: z.looseObject({
    hour: budgetWindow,
    day: budgetWindow,
    retry_after_seconds: z.optional(z.nullable(z.number())),
  }),
});

/** Usage reports as responses hold them. */
export const usageResource: ResourceSchema<Usage> = { name: 'usage', schema: usageSchema };
