import { AudienceError } from './audience-error.ts';
import type { Details, DownloadedFile, FailedDownload } from './error-details.ts';

/** The data of an upload or a download, a token file or a journal could not be read or written on this machine. */
export class FileError extends AudienceError {
  static override readonly className: string = 'FileError';
  declare static readonly isInstance: (value: unknown) => value is FileError;
  declare readonly code: 'file-unreadable' | 'file-changed' | 'size-mismatch' | 'disk-full' | 'file-unwritable';
  /** Path of the file, or of its lock if the error is about the lock. Not set for data that is not from a file. */
  declare readonly path?: string;
  constructor(message: string, details: Details & { readonly code: FileError['code']; readonly path?: string }) {
    super(message, details);
  }
}

/**
 * Some or all of several results of an activation could not be saved. `cause` is the error of the first failed
 * download.
 */
export class DownloadError extends AudienceError {
  static override readonly className: string = 'DownloadError';
  declare static readonly isInstance: (value: unknown) => value is DownloadError;
  declare readonly code: 'download-incomplete';
  /** `activations.download`. */
  declare readonly operation: string;
  /** The saved files. */
  declare readonly saved: readonly DownloadedFile[];
  /** The results that were not saved, each with its reason. */
  declare readonly failed: readonly FailedDownload[];
  constructor(message: string, details: Details & Pick<DownloadError, 'saved' | 'failed'>) {
    super(message, Object.assign({ code: 'download-incomplete', operation: 'activations.download' } as const, details));
  }
}
