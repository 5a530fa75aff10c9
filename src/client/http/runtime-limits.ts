import { MAX_CAUSE_DEPTH } from '../../util/redact.ts';
import { isNode } from '../../util/runtime.ts';
import type { Settings } from './request-options.ts';
import { type FetchOptions, platformFetch } from './send.ts';

/** Default of the headers timeout and of the body timeout of Node's own `fetch`, in milliseconds. */
export const NODE_LIMIT_MS = 300_000;

/** Options of undici that limit the duration of a request, by error code. */
const RUNTIME_LIMITS: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_TIMEOUT: 'headersTimeout',
  UND_ERR_BODY_TIMEOUT: 'bodyTimeout',
};

/** Returns the option of Node's own `fetch` whose limit ended a request, if one did. */
export function runtimeLimit(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > MAX_CAUSE_DEPTH) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  return RUNTIME_LIMITS[code] ?? runtimeLimit(error.cause, depth + 1);
}

/** Returns the advice of an error about a limit of the runtime. */
export const limitAdvice = (limit: string): string =>
  `The default is 300 s. To wait longer, pass \`fetchOptions: { dispatcher: new Agent({ ${limit}: 0 }) }\` with the Agent of undici.`;

/** A request with a timeout from the user. */
interface TimedRequest {
  readonly settings: Pick<Settings, 'fetch' | 'logger'>;
  readonly state: { readonly loggedFields: Set<string> };
  readonly fetchOptions: FetchOptions;
}

/**
 * Warns, once per client and option, that Node's own `fetch` ends a request before a timeout longer than {@link
 * NODE_LIMIT_MS}.
 */
export function warnOfNodeLimit(option: 'timeout' | 'idleTimeout', ms: number, request: TimedRequest): void {
  const { settings, state, fetchOptions } = request;
  if (!isNode || settings.fetch !== platformFetch || 'dispatcher' in fetchOptions) return;
  if (state.loggedFields.has(option)) return;
  state.loggedFields.add(option);
  settings.logger.warn(
    `\`${option}\` is ${ms} ms, but by default Node's own \`fetch\` ends a request after ${NODE_LIMIT_MS} ms without response headers or a byte of the body. To allow more time, pass \`fetchOptions: { dispatcher: new Agent({ headersTimeout: 0, bodyTimeout: 0 }) }\` with the Agent of undici.`,
  );
}
