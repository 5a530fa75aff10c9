/**
 * OAuth 2.1: users sign in, and their tokens are refreshed.
 *
 * @module audience-activation/oauth
 */

export { OAuthError, ReauthorizationRequiredError } from '../errors/oauth-errors.ts';
export { type BrowserTokenStoreOptions, browserTokenStore } from './browser-store.ts';
export { createOAuthClient } from './oauth-client.ts';
export type {
  Authorization,
  AuthorizeOptions,
  OAuthClient,
  OAuthClientOptions,
  OAuthStepOptions,
  RegisteredClient,
} from './oauth-types.ts';
export type { TextStorage } from './text-storage.ts';
