import type { OpenUnion } from './wire-values.ts';

/** Event types that the specification names. */
export type EventType = OpenUnion<
  | 'audience.completed'
  | 'audience.failed'
  | 'activation.completed'
  | 'activation.failed'
  | 'cohort.completed'
  | 'cohort.failed'
  | 'webhook.test'
>;

/** A webhook endpoint registered in the console (specification, "Webhook endpoint"). Timestamps are `Y-m-d H:i:s`. */
export interface WebhookEndpoint {
  /** Id of the endpoint. The data of a `webhook.test` event contain it. */
  readonly id: number;
  /** Label set in the console. */
  readonly name: string;
  /** Receiver URL that deliveries are POSTed to. */
  readonly url: string;
  /** Subscribed event types. The service sends `webhook.test` regardless of subscriptions. */
  readonly events: readonly EventType[];
  /** Envelope version that the endpoint receives; currently `1`. */
  readonly schema_version: number;
  /** `false` after a manual pause or an automatic disable. */
  readonly is_active: boolean;
  /**
   * Time at which the latest delivery attempt ended, successful or not, `Y-m-d H:i:s`; `null` before the first attempt.
   */
  readonly last_delivery_at: string | null;
  /** Time of registration, `Y-m-d H:i:s`. */
  readonly created_at: string;
  /** Time of the last change, `Y-m-d H:i:s`. */
  readonly updated_at: string;
}
