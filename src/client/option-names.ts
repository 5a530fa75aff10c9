import { ConfigurationError } from '../errors/audience-error.ts';
import type { ClientOptions, TunableOptions } from './client-options.ts';

/** Options that `withOptions` may change. */
const TUNABLE: Readonly<Record<keyof TunableOptions, true>> = {
  timeout: true,
  maxRetries: true,
  backoff: true,
  maxRetryWait: true,
  operations: true,
  validation: true,
  serverTimeZone: true,
  requestIdHeader: true,
  headers: true,
  logger: true,
  logLevel: true,
  fetch: true,
  fetchOptions: true,
  maxResponseBytes: true,
  onRequest: true,
  onResponse: true,
  onRetry: true,
};

/** Options that belong to a client for life. */
const FOR_LIFE: Readonly<Record<Exclude<keyof ClientOptions, keyof TunableOptions>, true>> = {
  baseUrl: true,
  allowInsecure: true,
  token: true,
  credentials: true,
  mcpToken: true,
  rateLimits: true,
  limiter: true,
  retryBudget: true,
  waits: true,
};

/** Refuses a name that is no option of the client: JavaScript callers would never learn of a typo. */
export function checkOptionNames(options: object): void {
  checkNames(options, { ...TUNABLE, ...FOR_LIFE }, 'the client');
}

/** Refuses a name that is not among those `known` as options `of` something. */
export function checkNames(options: object, known: Readonly<Record<string, true>>, of: string): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue;
    const meant = Object.keys(known).find((one) => one.toLowerCase() === name.toLowerCase());
    throw new ConfigurationError(`\`${name}\` is no option of ${of}${meant ? `: it is spelled \`${meant}\`` : ''}.`);
  }
}

/** Refuses what `withOptions` may not change. */
export function checkTunable(options: object): void {
  checkOptionNames(options);
  const fixed = Object.keys(options).find((name) => name in FOR_LIFE);
  if (fixed === undefined) return;
  throw new ConfigurationError(`\`${fixed}\` cannot be changed by \`withOptions\`: create another client.`);
}
