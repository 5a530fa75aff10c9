/** The latest moment a `Date` can hold; a wait past it is absurd, not obeyable. */
const LAST_MOMENT = 8.64e15;

/**
 * Milliseconds that a `Retry-After` header asks to wait (RFC 9110, section 10.2.3): seconds, or an
 * HTTP date, which is compared with the answer's own `Date` so that a wrong local clock does no
 * harm. `undefined` when absent or malformed.
 */
export function parseRetryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) {
    const ms = Number(value) * 1000;
    return now + ms <= LAST_MOMENT ? ms : undefined;
  }
  const at = httpDate(value);
  if (at === undefined) return undefined;
  return Math.max(0, at - (httpDate(headers.get('date') ?? '') ?? now));
}

/** IMF-fixdate, as every current server sends it; `Date.parse` alone would accept `-5`. */
function httpDate(value: string): number | undefined {
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value)) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at;
}
