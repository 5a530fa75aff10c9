import { context, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { DeliveryHooks, DeliveryInfo } from '../webhooks/index.ts';
import { errorType } from './attributes.ts';

/** Spans of the handlers of webhook events (semantic conventions, "Messaging", operation `process`). */
export class HandlerSpans implements Pick<DeliveryHooks, 'aroundHandler'> {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  async aroundHandler({ eventId, eventType }: DeliveryInfo, next: () => Promise<void>): Promise<void> {
    const attributes = {
      'messaging.system': 'audience_activation',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      ...(eventType !== undefined && { 'messaging.destination.name': eventType }),
      ...(eventId !== undefined && { 'messaging.message.id': eventId }),
    };
    const span = this.#tracer.startSpan(`process ${eventType}`, { kind: SpanKind.CONSUMER, attributes });
    try {
      await context.with(trace.setSpan(context.active(), span), next);
    } catch (error) {
      span.setAttribute('error.type', errorType(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }
}
