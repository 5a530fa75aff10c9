/** `Y-m-d H:i:s`, as the service writes it inside resources. */
const TIMESTAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/**
 * Whether a state of a resource is from before another one, by their `updated_at`. The service's own text
 * is read as UTC beside a `Date`, milliseconds or another text of a time; without two times, it is not.
 */
export const isOlder = (state: unknown, than: unknown): boolean => updatedAt(state) < updatedAt(than);

/** Milliseconds; `NaN`, which compares as false, where there is no time. */
function updatedAt(resource: unknown): number {
  const time: unknown = Object(resource).updated_at;
  if (typeof time === 'string') return Date.parse(TIMESTAMP.test(time) ? `${time.replace(' ', 'T')}Z` : time);
  return time instanceof Date || typeof time === 'number' ? Number(time) : Number.NaN;
}
