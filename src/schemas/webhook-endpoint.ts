import * as z from 'zod/mini';
import type { OpenUnion, ResourceSchema } from './common.ts';

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
  readonly id: number;
  readonly name: string;
  readonly url: string;
  readonly events: readonly EventType[];
  readonly schema_version: number;
  /** `false` after a manual pause or an automatic disable. */
  readonly is_active: boolean;
  /** When the latest delivery attempt finished; `null` before the first one. */
  readonly last_delivery_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly [more: string]: unknown;
}

/** Schema of {@link WebhookEndpoint}. */
export const webhookEndpointSchema = z.looseObject({
  id: z.int(),
  name: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  schema_version: z.int(),
  is_active: z.boolean(),
  last_delivery_at: z.nullable(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});

/** Webhook endpoints as responses hold them. */
export const webhookEndpointResource: ResourceSchema<WebhookEndpoint> = {
  name: 'webhookEndpoint',
  schema: webhookEndpointSchema,
};
