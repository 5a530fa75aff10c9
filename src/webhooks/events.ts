import type { Activation } from '../spec/activation.ts';
import type { Audience } from '../spec/audience.ts';
import type { Cohort } from '../spec/cohort.ts';
import { isObject } from '../util/json.ts';
import { isOlder } from '../util/timestamps.ts';

/** The body of a delivery (specification, "Webhook delivery envelope"). */
export interface EventEnvelope<Type extends string, Data> {
  /** Version of the envelope; currently `1`. */
  readonly schema_version: number;
  /** Id of the event, the same in every delivery to every endpoint. */
  readonly id: string;
  /** Event type, such as `audience.completed`. */
  readonly type: Type;
  /** Time at which the event was recorded, RFC 3339 UTC. */
  readonly created_at: string;
  /** Id of the organization. */
  readonly company_id: number;
  /**
   * The resource, exactly as in the response to a GET request, without the array. For `webhook.test`, a message and the
   * endpoint id.
   */
  readonly data: Data;
}

/** The `data` of each event type (specification, "Events"). */
export interface EventData {
  /** Includes lookalikes, whose `is_lookalike` is `true`. */
  readonly 'audience.completed': Audience;
  /** Status 107 or a 4xx status; 400 for a cancelled lookalike. */
  readonly 'audience.failed': Audience;
  /** Status 104: `datastreams[].results.uri` is ready. */
  readonly 'activation.completed': Activation;
  /** Status 107 or a 4xx status. */
  readonly 'activation.failed': Activation;
  /** Status 4 Completed. */
  readonly 'cohort.completed': Cohort;
  /** Status 5 Not Available. */
  readonly 'cohort.failed': Cohort;
  /** The test event of the console. The specification does not list its fields. */
  readonly 'webhook.test': Readonly<Record<string, unknown>>;
}

/** Event types in the specification. */
export type KnownEventType = keyof EventData;

/** An event of a known type: `switch (event.type)` narrows the type of `data`. */
export type KnownWebhookEvent = { [Type in KnownEventType]: EventEnvelope<Type, EventData[Type]> }[KnownEventType];

/** A verified event whose type or version this package does not know, or whose `data` lacks the id or the status. */
export interface UnknownWebhookEvent extends EventEnvelope<string, unknown> {
  readonly [more: string]: unknown;
}

/** A verified event. {@link isKnownEvent} narrows it. */
export type WebhookEvent = KnownWebhookEvent | UnknownWebhookEvent;

/** The `schema_version` that this package supports. */
const SCHEMA_VERSION = 1;

const KNOWN_TYPE = /^(?:(?:audience|activation|cohort)\.(?:completed|failed)|webhook\.test)$/;

export const isKnownType = (type: string): boolean => KNOWN_TYPE.test(type);

/** Returns whether a parsed body is an event: an object with an id and a type. */
export function isEvent(value: unknown): value is WebhookEvent {
  return isObject(value) && [value.id, value.type].every((field) => typeof field === 'string' && field !== '');
}

/**
 * Returns whether an event has a known type and version, and its `data` contain the id and the status of a resource.
 * The `data` of `webhook.test` may be any object.
 */
export function isKnownEvent(event: WebhookEvent): event is KnownWebhookEvent {
  const { type, schema_version, data }: { type: string; schema_version: number; data: unknown } = event;
  if (schema_version !== SCHEMA_VERSION || !isKnownType(type) || !isObject(data)) return false;
  if (type === 'webhook.test') return true;
  return Number.isSafeInteger(data.id) && isObject(data.status) && Number.isSafeInteger(data.status.id);
}

/** A stored resource, or a database row with its `updated_at`: a date string, a `Date`, or milliseconds since 1970. */
export interface Stored {
  /** Time of the last stored change. Without it, no event counts as older. */
  readonly updated_at?: string | number | Date | null | undefined;
}

/**
 * Returns whether an event is older than the stored state of its resource, by `updated_at`. Events can arrive in any
 * order and more than once. Reads `Y-m-d H:i:s` as UTC. Returns `false` if the event or the stored state has no valid
 * `updated_at`.
 *
 * @param event The received event.
 *
 * @example
 * if (isOutdated(event, await db.find(event.data.id))) return;
 */
export const isOutdated = ({ data }: WebhookEvent, stored: Stored | undefined): boolean => isOlder(data, stored);
