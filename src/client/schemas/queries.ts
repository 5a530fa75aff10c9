import * as z from 'zod/mini';
import { lazily } from './shared-schemas.ts';

/** Schema of the paging fields of a list's query. */
export const listQuerySchema = lazily(() =>
  z.looseObject({ page: z.optional(z.int()), per_page: z.optional(z.int()) }),
);

/** Schema of the query of a usage report. */
export const usageQuerySchema = lazily(() => z.looseObject({ yearmonth: z.optional(z.string()) }));
