/**
 * Verifies, receives and signs webhook events.
 *
 * @module audience-activation/webhooks
 */

export type { WebhookRefusal } from '../errors/error-details.ts';
export { WebhookVerificationError } from '../errors/webhook-errors.ts';
export { type DedupeStore, type MemoryDedupeOptions, memoryDedupe } from './dedupe.ts';
export type { DeliveryEvent, DeliveryHooks, DeliveryInfo, DeliveryStep } from './delivery-hooks.ts';
export {
  type EventData,
  type EventEnvelope,
  isKnownEvent,
  isOutdated,
  type KnownEventType,
  type KnownWebhookEvent,
  type Stored,
  type UnknownWebhookEvent,
  type WebhookEvent,
} from './events.ts';
export {
  createWebhookReceiver,
  type EventListener,
  type HandleContext,
  type ReceiverLogger,
  type ReceiverOptions,
  type WebhookHandlers,
  type WebhookReceiver,
} from './receiver.ts';
export {
  type RawBody,
  SIGNATURE_HEADER,
  type SignOptions,
  signWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from './verify.ts';
