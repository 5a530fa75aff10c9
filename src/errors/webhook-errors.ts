import { AudienceError } from './audience-error.ts';
import type { WebhookRefusal } from './error-details.ts';

/** A webhook delivery that could not be verified. */
export class WebhookVerificationError extends AudienceError {
  static override readonly className: string = 'WebhookVerificationError';
  declare static readonly isInstance: (value: unknown) => value is WebhookVerificationError;
  declare readonly code: 'webhook-invalid';
  declare readonly reason: WebhookRefusal;
  constructor(message: string, details: { readonly reason: WebhookRefusal; readonly cause?: unknown }) {
    super(message, { code: 'webhook-invalid', ...details });
  }
}
