import { AudienceError } from './audience-error.ts';
import type { Details, OAuthFields } from './error-details.ts';

/**
 * A step of OAuth failed: the authorization server (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2) or
 * this package refused it.
 */
export class OAuthError extends AudienceError {
  static override readonly className: string = 'OAuthError';
  declare static readonly isInstance: (value: unknown) => value is OAuthError;
  declare readonly code: 'oauth-failed' | 'reauthorization-required';
  /**
   * The server's `error`, such as `invalid_grant`, or an `error` of this package:
   * - `state_mismatch`, `issuer_mismatch`: the callback belongs to another sign-in or server;
   * - `temporarily_unavailable`, `server_error`: the server returned an error status without a reason;
   * - `invalid_target`: the metadata describe another resource;
   * - `no_grant`: no user is signed in;
   * - `issuer_not_allowed`, `pkce_unsupported`, `invalid_request`, `invalid_response`, `registration_not_supported`,
   *   `revocation_not_supported`, `unsupported_client_authentication`.
   */
  declare readonly error: string;
  /** HTTP status, if the server refused the request. Not set for `invalid_response`. */
  declare readonly status?: number;
  constructor(message: string, details: Details & OAuthFields & { readonly code?: OAuthError['code'] }) {
    super(message, { code: 'oauth-failed', ...details });
  }
}

/**
 * The store contains no grant, or the grant has ended. The user must sign in: call `authorize()`, then `callback()`.
 */
export class ReauthorizationRequiredError extends OAuthError {
  static override readonly className: string = 'ReauthorizationRequiredError';
  declare static readonly isInstance: (value: unknown) => value is ReauthorizationRequiredError;
  declare readonly code: 'reauthorization-required';
  constructor(message: string, details: Details & OAuthFields) {
    super(message, { ...details, code: 'reauthorization-required' });
  }
}
