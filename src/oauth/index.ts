export { OAuthError, ReauthorizationRequiredError } from '../errors/oauth.ts';
export { createOAuthClient } from './client.ts';
export type {
  Authorization,
  AuthorizeOptions,
  OAuthClient,
  OAuthClientOptions,
  OAuthStepOptions,
  RegisteredClient,
} from './types.ts';
