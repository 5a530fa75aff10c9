import type { Activation } from '../schemas/activation.ts';
import type { Audience } from '../schemas/audience.ts';
import type { Cohort } from '../schemas/cohort.ts';

/** The envelope of a delivery ("Webhook delivery envelope"). */
export interface EventEnvelope<Type extends string, Data> {
  readonly schema_version: number;
  /** The same for every delivery of one event, to every endpoint. */
  readonly id: string;
  readonly type: Type;
  /** When the event was recorded, RFC 3339 UTC. */
  readonly created_at: string;
  readonly company_id: number;
  readonly data: Data;
}

/** The data of each type that the specification names ("Events"). */
export interface EventData {
  /** Lookalikes, too: `is_lookalike`. */
  readonly 'audience.completed': Audience;
  /** 107, a 4xx status, or 400 for a cancelled lookalike. */
  readonly 'audience.failed': Audience;
  readonly 'activation.completed': Activation;
  readonly 'activation.failed': Activation;
  readonly 'cohort.completed': Cohort;
  readonly 'cohort.failed': Cohort;
  /** Of the console's send-test action; its fields are not specified. */
  readonly 'webhook.test': Readonly<Record<string, unknown>>;
}

/** Types of event that the specification names. */
export type KnownEventType = keyof EventData;

/** An event of a known type: `switch (event.type)` tells the type of `data`. */
export type KnownWebhookEvent = { [Type in KnownEventType]: EventEnvelope<Type, EventData[Type]> }[KnownEventType];

/** A genuine event of a type, a version or with data that this package does not know. */
export interface UnknownWebhookEvent extends EventEnvelope<string, unknown> {
  readonly [more: string]: unknown;
}

/** A verified event. {@link isKnownEvent} tells which. */
export type WebhookEvent = KnownWebhookEvent | UnknownWebhookEvent;

/** The version of the envelope that this package knows. */
const SCHEMA_VERSION = 1;

/** The types that the specification names, as a pattern. */
const KNOWN = /^(?:(?:audience|activation|cohort)\.(?:completed|failed)|webhook\.test)$/;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a type of event is one that the specification names. */
export const isKnownType = (type: string): boolean => KNOWN.test(type);

/** Whether a parsed body is an event at all: an object with an id and a type. */
export function isEvent(value: unknown): value is WebhookEvent {
  return isObject(value) && isText(value.id) && isText(value.type);
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Whether an event is of a known type and version, and its data what belongs to them. */
export function isKnownEvent(event: WebhookEvent): event is KnownWebhookEvent {
  const { type, schema_version, data }: { type: string; schema_version: number; data: unknown } = event;
  if (schema_version !== SCHEMA_VERSION || !isKnownType(type) || !isObject(data)) return false;
  if (type === 'webhook.test') return true;
  return Number.isSafeInteger(data.id) && isObject(data.status) && Number.isSafeInteger(data.status.id);
}
