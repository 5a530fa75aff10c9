import type { UploadKind } from './wire-values.ts';

/** The file to reserve an upload slot for. The specification shows only the kinds and maximum sizes. */
export interface UploadRequest {
  /** Purpose of the file, which also decides its maximum size. */
  readonly kind: UploadKind;
  /** Size in bytes. At most 50 MiB (52,428,800) for `poi_submission`, 1 GiB (1,073,741,824) for `cohort`. */
  readonly size: number;
}

/** A reserved upload slot (assumed fields). Keep its `url` secret: anyone who has the URL can write the file. */
export interface UploadReservation {
  /** The `upload_reference` to set in the create request that claims the file, within 15 minutes. */
  readonly reference: string;
  /** Presigned URL that accepts the file by `PUT`. */
  readonly url: string;
  /** Expiry of the URL and of the reference, 15 minutes after the reservation. */
  readonly expires_at: string;
}
