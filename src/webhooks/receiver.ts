import { ConfigurationError, check } from '../errors/audience-error.ts';
import { WebhookVerificationError } from '../errors/webhook-errors.ts';
import { type DedupeStore, memoryDedupe } from './dedupe.ts';
import {
  type EventData,
  type EventEnvelope,
  isKnownEvent,
  isKnownType,
  type KnownEventType,
  type WebhookEvent,
} from './events.ts';
import { readBody } from './read-body.ts';
import { checkNumbers, checkSecrets, type VerifyOptions, verifyWebhook } from './verify.ts';

/** Handlers by type of event; each is done when its promise is. One that throws has the event sent again. */
export type WebhookHandlers = {
  readonly [Type in KnownEventType]?: ((event: EventEnvelope<Type, EventData[Type]>) => unknown) | undefined;
};

/** Where a receiver reports; `console` will do. */
export interface ReceiverLogger {
  warn(message: string): void;
  error(message: string, cause?: unknown): void;
}

/** Options of {@link createWebhookReceiver}. */
export interface ReceiverOptions extends VerifyOptions {
  /** Signing secrets of the endpoint; two while one is rotated. A list is read at each delivery. */
  readonly secrets: string | readonly string[];
  readonly on?: WebhookHandlers | undefined;
  /** Genuine events that have no handler, or are of an unknown type, version or shape. @default acknowledged, with a warning */
  readonly otherwise?: ((event: WebhookEvent) => unknown) | undefined;
  /** Has each event handled once; `false` hands on every delivery. @default a memory of this process */
  readonly dedupe?: DedupeStore | false | undefined;
  /** The largest body. Bytes. @default 1048576 */
  readonly maxBytes?: number | undefined;
  /** How long an event is kept from others if this process dies over it. Milliseconds. @default 300000 */
  readonly leaseMs?: number | undefined;
  /** @default console */
  readonly logger?: ReceiverLogger | undefined;
}

/** What an edge platform gives besides the request. */
export interface HandleContext {
  /** Keeps the platform alive until a promise settles. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** What hears of every genuine event at once, such as `client.waits`. */
export interface EventListener {
  notify(event: WebhookEvent): unknown;
}

/** Receives deliveries. */
export interface WebhookReceiver {
  /**
   * Answers one delivery: 200 done, 400 not genuine, 405 not POST, 413 too large, 500 the handler failed,
   * 503 busy or late, 9 s after it came. Rejects only with what `waitUntil` throws; no answer holds any text.
   */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** Hands genuine events to waits, too, before any handler. Returns what ends that. */
  attach(listener: EventListener): () => void;
  /** Where it reports. */
  readonly logger: ReceiverLogger;
}

/** The sender waits 10 s ("Delivery"): who is not done by then says so in time. Milliseconds. */
const PATIENCE = 9_000;
const MEBIBYTE = 1 << 20;
const LEASE = 300_000;

/**
 * A receiver for any platform with `Request` and `Response`; `toNodeListener` of
 * `audience-activation/node` takes it to `node:http`, Express and Fastify.
 *
 * @throws {ConfigurationError} for options that would lose events, or refuse them all.
 *
 * @example
 * const receiver = createWebhookReceiver({ secrets, on: { 'audience.completed': async ({ data }) => save(data) } });
 * export const POST = (request: Request) => receiver.handle(request);
 */
export const createWebhookReceiver = (options: ReceiverOptions): WebhookReceiver => new Receiver(options);

class Receiver implements WebhookReceiver {
  readonly logger: ReceiverLogger;
  readonly #options: ReceiverOptions;
  readonly #store: DedupeStore | undefined;
  readonly #listeners = new Set<EventListener>();
  /** Ids of events whose handlers are alive. */
  readonly #running = new Set<string>();

  constructor(options: ReceiverOptions) {
    checkOptions(options);
    this.#options = options;
    this.logger = options.logger ?? console;
    this.#store = options.dedupe === false ? undefined : (options.dedupe ?? memoryDedupe());
  }

  async handle(request: Request, context?: HandleContext): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } });
    const work = this.#statusOf(request);
    context?.waitUntil?.(work);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<number>((resolve) => {
      timer = setTimeout(() => {
        this.logger.warn('A delivery takes longer than 9 s, and comes again.');
        resolve(503);
      }, PATIENCE);
    });
    const status = await Promise.race([work, late]);
    clearTimeout(timer);
    return new Response(null, { status });
  }

  attach(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The status of an answer; never rejects. */
  async #statusOf(request: Request): Promise<number> {
    try {
      return await this.#receive(request);
    } catch (error) {
      const refused = WebhookVerificationError.isInstance(error);
      if (refused) this.logger.warn(`A delivery was refused: ${error.message}`);
      else this.logger.error('A delivery failed.', error);
      return refused ? 400 : ConfigurationError.isInstance(error) ? 500 : 503;
    }
  }

  async #receive(request: Request): Promise<number> {
    const { secrets, maxBytes = MEBIBYTE } = this.#options;
    if (request.bodyUsed) throw new ConfigurationError('The body was read already');
    const body = await readBody(request, maxBytes);
    if (!body) return 413;
    const event = await verifyWebhook(body, request.headers, secrets, this.#options);
    for (const listener of this.#listeners) void this.#tell(listener, event);
    return this.#store ? this.#once(event, this.#store) : this.#run(event);
  }

  async #tell(listener: EventListener, event: WebhookEvent): Promise<void> {
    try {
      await listener.notify(event);
    } catch (error) {
      this.#report(event, 'failed in a listener', error);
    }
  }

  /** Runs the handler unless another delivery of the event does, or did. */
  async #once(event: WebhookEvent, store: DedupeStore): Promise<number> {
    const { id } = event;
    // A handler may take longer than its lease: as long as it is alive, it has the event.
    if (this.#running.has(id)) return 503;
    this.#running.add(id);
    try {
      const claimed = await store.claim(id, this.#options.leaseMs ?? LEASE);
      if (claimed === 'done') return 200;
      if (claimed === 'busy') return 503;
      const status = await this.#run(event);
      try {
        await store[status === 200 ? 'complete' : 'release'](id, claimed.lease);
      } catch (error) {
        // What is done is done, whatever becomes of the note: the sender need not repeat it.
        this.#report(event, 'could not be noted', error);
      }
      return status;
    } finally {
      this.#running.delete(id);
    }
  }

  async #run(event: WebhookEvent): Promise<number> {
    try {
      await this.#handOn(event);
      return 200;
    } catch (error) {
      this.#report(event, 'failed in its handler, and comes again', error);
      return 500;
    }
  }

  async #handOn(event: WebhookEvent): Promise<void> {
    const { on = {}, otherwise } = this.#options;
    if (isKnownEvent(event)) {
      const handler: ((event: never) => unknown) | undefined = on[event.type];
      // The handler of a type takes the events of that type, which TypeScript does not follow through a union.
      if (handler) return void (await Reflect.apply(handler, on, [event]));
      if (event.type === 'webhook.test') return;
    }
    if (otherwise) await otherwise(event);
    else if (!isKnownEvent(event)) {
      const { schema_version: version } = event;
      this.logger.warn(`${named(event)}, version ${version}, is of an unknown type, version or shape: acknowledged.`);
    } else if (this.#listeners.size === 0) {
      this.logger.warn(`${named(event)} has no handler: acknowledged.`);
    }
  }

  #report(event: WebhookEvent, what: string, error: unknown): void {
    this.logger.error(`${named(event)} ${what}.`, error);
  }
}

const named = ({ id, type }: WebhookEvent): string => `Event ${id} (${type})`;

/** Refuses what would lose events, or shows with the first delivery only. */
function checkOptions({ secrets, on = {}, dedupe, tolerance, leaseMs, maxBytes }: ReceiverOptions): void {
  if (!Array.isArray(secrets)) checkSecrets(secrets);
  checkNumbers({ tolerance, leaseMs, maxBytes });
  for (const [type, handler = check] of Object.entries(on)) {
    check(isKnownType(type) && isCallable(handler), `\`on["${type}"]\` is no handler of a known type.`);
  }
  const isStore = !dedupe || [dedupe.claim, dedupe.complete, dedupe.release].every(isCallable);
  check(isStore, '`dedupe` is no store.');
}

const isCallable = (value: unknown): boolean => typeof value === 'function';
