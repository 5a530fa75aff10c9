import { isOlder } from '../util/timestamps.ts';
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
export const isOutdated = ({ data }: WebhookEvent, stored: Stored | undefined): boolean => isOlder(data, stored);
