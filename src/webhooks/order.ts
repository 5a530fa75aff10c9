import type { WebhookEvent } from './events.ts';

/** What is kept of a resource: the resource itself, or a row with its `updated_at`. */
export interface Stored {
  readonly updated_at?: unknown;
}

/**
 * Whether an event shows an older state of its resource than the one stored. Events come out of order and
 * more than once: what is outdated has nothing to say. Timestamps of the service sort as texts.
 *
 * @example
 * if (isOutdated(event, await db.find(event.data.id))) return;
 */
export function isOutdated(event: WebhookEvent, stored: Stored | undefined): boolean {
  const told = updatedAt(event.data);
  const known = updatedAt(stored);
  return told !== undefined && known !== undefined && told < known;
}

function updatedAt(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('updated_at' in value)) return undefined;
  return typeof value.updated_at === 'string' ? value.updated_at : undefined;
}
