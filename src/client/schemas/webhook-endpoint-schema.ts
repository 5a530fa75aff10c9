import * as z from 'zod/mini';
import type { WebhookEndpoint } from '../../spec/webhook-endpoint.ts';
import { lazily, type ResourceSchema } from './shared-schemas.ts';

export const webhookEndpointSchema = lazily(() =>
  z.looseObject({
    id: z.int(),
    name: z.string(),
    url: z.string(),
    events: z.array(z.string()),
    schema_version: z.int(),
    is_active: z.boolean(),
    last_delivery_at: z.nullable(z.string()),
    created_at: z.string(),
    updated_at: z.string(),
  }),
);

export const webhookEndpointResource: ResourceSchema<WebhookEndpoint> = {
  name: 'webhookEndpoint',
  schema: webhookEndpointSchema,
};
