import { AudienceError } from './audience-error.ts';
import type { Details, WebhookRefusal } from './error-details.ts';

/** A webhook delivery that could not be verified. */
export class WebhookVerificationError extends AudienceError {
  static override readonly className: string = 'WebhookVerificationError';
  declare static readonly isInstance: (value: unknown) => value is WebhookVerificationError;
  declare readonly code: 'webhook-invalid';
  /** Why the delivery could not be verified, such as `no-match` for a wrong signature or secret. */
  declare readonly reason: WebhookRefusal;
  constructor(message: string, details: Details & { readonly reason: WebhookRefusal }) {
    super(message, { code: 'webhook-invalid', ...details });
  }
}
