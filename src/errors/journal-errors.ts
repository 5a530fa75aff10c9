import { AudienceError } from './audience-error.ts';
import type { Details, JournalFields } from './error-details.ts';

/**
 * A journal cannot be used, or its entry for a key does not allow the create request. No create request was sent,
 * unless the journal became unusable (`journal-locked`) during a create request.
 */
export class JournalError extends AudienceError {
  static override readonly className: string = 'JournalError';
  declare static readonly isInstance: (value: unknown) => value is JournalError;
  declare readonly code: 'account-changed' | 'body-changed' | 'outcome-expired' | 'journal-invalid' | 'journal-locked';
  /** Path of the journal. */
  declare readonly path: string;
  /** Key of the create request, if the error is about a single key. */
  declare readonly key?: string;
  constructor(message: string, details: Details & JournalFields & { readonly code: JournalError['code'] }) {
    super(message, details);
  }
}
