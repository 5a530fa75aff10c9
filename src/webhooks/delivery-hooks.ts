import type { WebhookRefusal } from '../errors/error-details.ts';
import { emit, type HookCaller } from '../util/run-hooks.ts';
import type { WebhookEvent } from './events.ts';

/** A delivery of an event, as hooks see it. */
export interface DeliveryInfo {
  /** The same in all events of one delivery; unique in the process. */
  readonly deliveryId: string;
  /** Id of the event, once it is verified. */
  readonly eventId?: string;
  /** Type of the event, once it is verified. */
  readonly eventType?: string;
}

/** A step of a delivery. `received` is first; `verified` may follow; exactly one of the others is last. */
export type DeliveryStep =
  | {
      /** The request has arrived. */
      readonly type: 'received';
    }
  | {
      /** Signature and age are right. */
      readonly type: 'verified';
    }
  | {
      /** Not genuine, or larger than `maxBytes`. */
      readonly type: 'refused';
      /** `too-large`, or the reason of the `WebhookVerificationError`. */
      readonly reason: WebhookRefusal | 'too-large';
    }
  | {
      /** The event has been handled before. */
      readonly type: 'duplicate';
    }
  | {
      /** The event is being handled; the service sends it again. */
      readonly type: 'busy';
    }
  | {
      /** The handler has succeeded, or there is none. */
      readonly type: 'handled';
    }
  | {
      /** The handler or the store failed; the service sends the event again. */
      readonly type: 'failed';
      /** The error that was thrown. */
      readonly error: unknown;
    };

/** An event of a delivery. */
export type DeliveryEvent = DeliveryInfo & {
  /** Milliseconds since the delivery was received. */
  readonly duration: number;
} & DeliveryStep;

/** Callbacks that observe deliveries. An error that one throws is logged and does not affect the delivery. */
export interface DeliveryHooks {
  /** Called with each step of a delivery. */
  readonly onDelivery?: ((event: DeliveryEvent) => void) | undefined;
  /**
   * Runs the handler of an event: `next` begins it, resolves at its end, and rejects with its error. The handler runs in
   * the context of `next`.
   */
  readonly aroundHandler?: ((delivery: DeliveryInfo, next: () => Promise<void>) => unknown) | undefined;
}

let deliveries = 0;

/** Passes the steps of one delivery to the hooks. */
export class DeliveryReport {
  readonly #caller: HookCaller<DeliveryHooks>;
  readonly #startedAt = performance.now();
  /** The delivery, as far as it is known. */
  info: DeliveryInfo = { deliveryId: `delivery_${++deliveries}` };

  constructor(caller: HookCaller<DeliveryHooks>) {
    this.#caller = caller;
    this.step({ type: 'received' });
  }

  verify({ id, type }: WebhookEvent): void {
    this.info = { ...this.info, eventId: id, eventType: type };
    this.step({ type: 'verified' });
  }

  step(step: DeliveryStep): void {
    emit(this.#caller, 'onDelivery', () => ({
      ...this.info,
      duration: performance.now() - this.#startedAt,
      ...step,
    }));
  }
}
