export { OAuthError, ReauthorizationRequiredError } from '../errors/oauth.ts';
export { type BrowserTokenStoreOptions, browserTokenStore, type TextStorage } from './browser-store.ts';
export { createOAuthClient } from './client.ts';
export type {
  Authorization,
  AuthorizeOptions,
  OAuthClient,
  OAuthClientOptions,
  OAuthStepOptions,
  RegisteredClient,
} from './types.ts';
