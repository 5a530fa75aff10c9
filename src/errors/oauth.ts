import { AudienceError } from './base.ts';

/** The authorization server refused (RFC 6749, section 5.2; RFC 7591, section 3.2.2). */
export class OAuthError extends AudienceError {
  static override readonly className: string = 'OAuthError';
  declare readonly code: 'oauth-failed' | 'reauthorization-required';
  /** The server's `error`, such as `invalid_grant`. */
  declare readonly error: string;
  constructor(
    message: string,
    details: { readonly error: string; readonly cause?: unknown; readonly code?: OAuthError['code'] },
  ) {
    super(message, { code: 'oauth-failed', ...details });
  }
}

/** The grant is gone; the user has to sign in again. */
export class ReauthorizationRequiredError extends OAuthError {
  static override readonly className: string = 'ReauthorizationRequiredError';
  declare readonly code: 'reauthorization-required';
  constructor(message: string, details: { readonly error: string; readonly cause?: unknown }) {
    super(message, { ...details, code: 'reauthorization-required' });
  }
}
