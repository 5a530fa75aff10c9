import type { UploadKind } from './wire-values.ts';

/** The file that a slot is reserved for. The specification shows kinds and maximum sizes only. */
export interface UploadRequest {
  /** Purpose of the file, which also decides its maximum size. */
  readonly kind: UploadKind;
  /** Bytes. At most 50 MiB (52,428,800) for `poi_submission`, 1 GiB (1,073,741,824) for `cohort`. */
  readonly size: number;
}

/** A reserved slot (assumed shape). Its `url` is a secret: whoever has it can write the file. */
export interface UploadReservation {
  /** The `upload_reference` to set in the create request that claims the file, within 15 minutes. */
  readonly reference: string;
  /** Presigned URL that accepts the file by `PUT`. */
  readonly url: string;
  /** Time after which the URL accepts no file and the reference cannot be claimed, 15 minutes after the request. */
  readonly expires_at: string;
}
