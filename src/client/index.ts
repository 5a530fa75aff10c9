// Internal exports for the other folders of `src`. `src/index.ts` exports the public names.
export { readStoredToken } from './auth/token-source.ts';
export { CLIENT_OPTIONS } from './client-options.ts';
export { newTransport } from './client-tokens.ts';
export { PassedCall } from './http/passed-call.ts';
export { CONFLICT_ADVICE, DEFAULTS } from './http/request-options.ts';
export type { Failure } from './http/retry-policy.ts';
export { retryDelay, statusFailureOf } from './http/retry-policy.ts';
export { fetchOf, readResponse } from './http/send.ts';
export type { Transport } from './http/transport.ts';
export type { PermitLog } from './rate-limit/permits.ts';
export { limiterOf, SlidingWindowLog } from './rate-limit/rate-limiter.ts';
