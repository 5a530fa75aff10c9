import type { WebhookEvent } from './events.ts';

/** What is kept of a resource: the resource itself, or a row with its `updated_at`, as a text of the service or a time. */
export interface Stored {
  readonly updated_at?: string | number | Date | null | undefined;
}

/**
 * Whether an event shows an older state of its resource than the one stored. Events come out of order and
 * more than once: what is outdated has nothing to say. The service's `Y-m-d H:i:s` is read as UTC beside
 * a `Date`, milliseconds or another text of a time.
 *
 * @example
 * if (isOutdated(event, await db.find(event.data.id))) return;
 */
export function isOutdated({ data }: WebhookEvent, stored: Stored | undefined): boolean {
  const told = typeof data === 'object' && data !== null && 'updated_at' in data ? data.updated_at : undefined;
  // A comparison with what is no time is false.
  return timeOf(told) < timeOf(stored?.updated_at);
}

function timeOf(value: unknown): number {
  if (typeof value !== 'string') return value instanceof Date || typeof value === 'number' ? Number(value) : Number.NaN;
  return Date.parse(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) ? `${value.replace(' ', 'T')}Z` : value);
}
