import { AudienceError } from './audience-error.ts';

/**
 * The authorization server refused (RFC 6749, section 5.2; RFC 7591, section 3.2.2), or its response was refused by this
 * package.
 */
export class OAuthError extends AudienceError {
  static override readonly className: string = 'OAuthError';
  declare static readonly isInstance: (value: unknown) => value is OAuthError;
  declare readonly code: 'oauth-failed' | 'reauthorization-required';
  /**
   * The server's `error`, such as `invalid_grant`, or one of this package: `state_mismatch` and `issuer_mismatch` (the
   * callback belongs to another sign-in or server), `issuer_not_allowed`, `pkce_unsupported`, `invalid_target` (metadata
   * of another resource), `invalid_response`, `registration_not_supported`, `revocation_not_supported`,
   * `unsupported_client_authentication`, `temporarily_unavailable` and `server_error` (429 and 5xx without a reason),
   * `no_grant`.
   */
  declare readonly error: string;
  /** HTTP status, if the server responded. */
  declare readonly status?: number;
  constructor(
    message: string,
    details: {
      readonly error: string;
      readonly status?: number;
      readonly cause?: unknown;
      readonly code?: OAuthError['code'];
    },
  ) {
    super(message, { code: 'oauth-failed', ...details });
  }
}

/** There is no grant any more, so the user must sign in: `authorize()`, then `callback()`. */
export class ReauthorizationRequiredError extends OAuthError {
  static override readonly className: string = 'ReauthorizationRequiredError';
  declare static readonly isInstance: (value: unknown) => value is ReauthorizationRequiredError;
  declare readonly code: 'reauthorization-required';
  constructor(
    message: string,
    details: { readonly error: string; readonly status?: number; readonly cause?: unknown },
  ) {
    super(message, { ...details, code: 'reauthorization-required' });
  }
}
