export { AudienceClient, type FreeRequestOptions } from './client.ts';
export {
  type AppInfo,
  CLIENT_OPTIONS,
  type ClientOptions,
  type SharedWaits,
  type TunableOptions,
  type WaitsOptions,
} from './client-options.ts';
export { readTokens } from './client-tokens.ts';
export { createTransport } from './create-transport.ts';
export { type OpenApiDocument, type OpenApiOptions, openApiDocument } from './openapi-document.ts';
export type { OperationOverrides } from './operation-overrides.ts';
export { apiToken, type LoginTokenOptions, loginToken, mcpToken, type TokenSourceOptions } from './token-sources.ts';
