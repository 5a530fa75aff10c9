import * as z from 'zod/mini';
import type { UploadRequest, UploadReservation } from '../../spec/upload-reservation.ts';
import { lazily, type ResourceSchema } from './shared-schemas.ts';

/** Schema of {@link UploadRequest}. The service also accepts a request without `size` (assumed). */
export const uploadRequestSchema = lazily(() => z.looseObject({ kind: z.string(), size: z.optional(z.int()) }));

export const reservationSchema = lazily(() =>
  z.looseObject({
    reference: z.string().check(z.refine((text) => text !== '')),
    url: z.string().check(z.refine((text) => /^\s*https?:\/\//i.test(text) && URL.canParse(text))),
    expires_at: z.string(),
  }),
);

export const uploadReservationResource: ResourceSchema<UploadReservation> = {
  name: 'reservation',
  schema: reservationSchema,
  required: ['reference', 'url'],
};
