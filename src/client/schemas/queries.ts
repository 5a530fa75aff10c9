import * as z from 'zod/mini';

/** Schema of the paging fields of a list's query. */
export const listQuerySchema = z.looseObject({ page: z.optional(z.int()), per_page: z.optional(z.int()) });

/** Schema of the query of a usage report. */
export const usageQuerySchema = z.looseObject({ yearmonth: z.optional(z.string()) });
