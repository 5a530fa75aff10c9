import * as z from 'zod/mini';
import { lazily } from './shared-schemas.ts';

export const listQuerySchema = lazily(() =>
  z.looseObject({ page: z.optional(z.int()), per_page: z.optional(z.int()) }),
);

export const usageQuerySchema = lazily(() => z.looseObject({ yearmonth: z.optional(z.string()) }));
