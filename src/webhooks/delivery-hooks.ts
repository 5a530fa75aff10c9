import type { WebhookRefusal } from '../errors/error-details.ts';
import { emit, type HookCaller } from '../util/run-hooks.ts';
import type { WebhookEvent } from './events.ts';

/** A delivery of an event, as hooks see it. */
export interface DeliveryInfo {
  /** Id of the delivery, the same in all steps of the delivery and unique in the process. */
  readonly deliveryId: string;
  /** Id of the event. Set after the verification. */
  readonly eventId?: string;
  /** Type of the event. Set after the verification. */
  readonly eventType?: string;
}

/**
 * A step of a delivery. The first step is `received`, the second may be `verified`, and the last is one of the others.
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
      /** Another delivery of the event is in progress. The service sends the event again. */
      readonly type: 'busy';
    }
  | {
      /** The handler has succeeded, or the event has no handler. */
      readonly type: 'handled';
    }
  | {
      /** The handler, the store or another step failed. The service sends the event again. */
      readonly type: 'failed';
      /** The error that was thrown. */
      readonly error: unknown;
    };

/** A step of a delivery, as hooks see it. */
export type DeliveryEvent = DeliveryInfo & {
  /** Milliseconds since the delivery was received. */
  readonly duration: number;
} & DeliveryStep;

/** Callbacks that observe deliveries. If a callback throws, the receiver logs the error, and the delivery continues. */
export interface DeliveryHooks {
  /** Called with each step of a delivery. */
  readonly onDelivery?: ((event: DeliveryEvent) => void) | undefined;
  /**
   * Runs the handler of an event. `next` starts the handler, resolves when the handler succeeds, and rejects with its
   * error. The handler runs in the async context of `next`.
   */
  readonly aroundHandler?: ((delivery: DeliveryInfo, next: () => Promise<void>) => unknown) | undefined;
}

let deliveries = 0;

/** Passes the steps of one delivery to the hooks. */
export class DeliveryReport {
  readonly #caller: HookCaller<DeliveryHooks>;
  readonly #startedAt = performance.now();
  /** The known data of the delivery. */
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
