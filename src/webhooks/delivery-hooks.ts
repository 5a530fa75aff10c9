import type { WebhookRefusal } from '../errors/error-details.ts';
import { emit, type HookCaller } from '../util/run-hooks.ts';
import type { WebhookEvent } from './events.ts';

/** A delivery of an event, as hooks see it. */
export interface DeliveryInfo {
  /** Id of the delivery, the same in all its events and unique in the process. */
  readonly deliveryId: string;
  /** Id of the event, set once the event is verified. */
  readonly eventId?: string;
  /** Type of the event, set once the event is verified. */
  readonly eventType?: string;
}

/**
 * A step of a delivery. The first step is `received`, `verified` may follow, and the last step is exactly one of the
 * others.
 */
export type DeliveryStep =
  | {
      /** The request has arrived. */
      readonly type: 'received';
    }
  | {
      /** The signature is valid and not too old. */
      readonly type: 'verified';
    }
  | {
      /** The receiver could not verify the delivery, or its body is larger than `maxBytes`. */
      readonly type: 'refused';
      /** `too-large`, or the reason of the `WebhookVerificationError`. */
      readonly reason: WebhookRefusal | 'too-large';
    }
  | {
      /** The event has been handled before. */
      readonly type: 'duplicate';
    }
  | {
      /** Another delivery of the event is in progress; the service sends the event again. */
      readonly type: 'busy';
    }
  | {
      /** The handler has succeeded, or the event has no handler. */
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

/** Callbacks that observe deliveries. If a callback throws, the receiver logs the error, and the delivery continues. */
export interface DeliveryHooks {
  /** Called with each step of a delivery. */
  readonly onDelivery?: ((event: DeliveryEvent) => void) | undefined;
  /**
   * Runs the handler of an event: `next` starts the handler, resolves when the handler ends, and rejects with its
   * error. The handler runs in the async context of `next`.
   */
  readonly aroundHandler?: ((delivery: DeliveryInfo, next: () => Promise<void>) => unknown) | undefined;
}

let deliveries = 0;

/** Passes the steps of one delivery to the hooks. */
export class DeliveryReport {
  readonly #caller: HookCaller<DeliveryHooks>;
  readonly #startedAt = performance.now();
  /** The known facts about the delivery. */
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
