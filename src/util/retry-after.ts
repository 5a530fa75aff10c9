/** The latest valid time of a `Date`, in milliseconds since 1970. */
export const LAST_MOMENT = 8.64e15;

/** Maximum `Retry-After` in milliseconds, ten years. After that, the time might exceed the range of `Date`. */
export const MAX_RETRY_AFTER_MS = 10 * 365 * 24 * 3_600_000;

/**
 * Returns the delay that a `Retry-After` header asks for (RFC 9110, section 10.2.3) in milliseconds, or `undefined` if
 * the header is absent or malformed. Compares an HTTP date with the response's `Date` header, because the local clock
 * may be wrong.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) {
    return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
  }
  const at = httpDate(value);
  if (at === undefined) return undefined;
  const ms = at - (httpDate(headers.get('date') ?? '') ?? now);
  return Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** The three date formats of RFC 9110, section 5.6.7. `Date.parse` alone would also accept `-5`. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

function httpDate(value: string): number | undefined {
  if (!HTTP_DATE.test(value)) return undefined;
  const at = Date.parse(value.endsWith('GMT') ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : at;
}
