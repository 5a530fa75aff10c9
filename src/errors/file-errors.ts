import { AudienceError } from './audience-error.ts';
import type { Details } from './error-details.ts';

/** Data of an upload or a download, or a token file, could not be read or written on this machine. */
export class FileError extends AudienceError {
  static override readonly className: string = 'FileError';
  declare static readonly isInstance: (value: unknown) => value is FileError;
  declare readonly code: 'file-unreadable' | 'file-changed' | 'size-mismatch' | 'disk-full' | 'file-unwritable';
  /** Path of the file or its lock, if there is one. */
  declare readonly path?: string;
  constructor(message: string, details: Details & { readonly code: FileError['code']; readonly path?: string }) {
    super(message, details);
  }
}
