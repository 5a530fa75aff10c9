import { ConfigurationError, check, textOf } from '../errors/audience-error.ts';
import { WebhookVerificationError } from '../errors/webhook-errors.ts';
import { safely } from '../util/callbacks.ts';
import { Heartbeat } from '../util/heartbeat.ts';
import { checkNumbers } from '../util/input-checks.ts';
import { type HookCaller, isHookSet, runAround } from '../util/run-hooks.ts';
import { type DedupeStore, memoryDedupe } from './dedupe.ts';
import { type DeliveryHooks, DeliveryReport } from './delivery-hooks.ts';
import {
  type EventData,
  type EventEnvelope,
  isKnownEvent,
  isKnownType,
  type KnownEventType,
  type KnownWebhookEvent,
  type WebhookEvent,
} from './events.ts';
import { checkOptions, checkSecrets, VERIFY_OPTIONS, type VerifyOptions, verifyDelivery } from './verify.ts';

/** Handlers by event type. If a handler throws or rejects, the service sends the event again. */
export type WebhookHandlers = {
  readonly [Type in KnownEventType]?: ((event: EventEnvelope<Type, EventData[Type]>) => unknown) | undefined;
};

/** Receives log lines. You can pass `console`. */
export interface ReceiverLogger {
  /** Logs a refused, late or concurrent delivery, or an event without a handler. */
  warn(message: string): void;
  /** Logs a failure, for example of a handler, a listener or the store, with its error. */
  error(message: string, cause?: unknown): void;
}

/** Options of {@link createWebhookReceiver}. */
export interface ReceiverOptions extends VerifyOptions, DeliveryHooks {
  /**
   * Signing secret of the endpoint, or an array of secrets during a rotation. The receiver reads the array at each
   * delivery, so you can change it. `undefined` throws a `ConfigurationError`.
   */
  readonly secrets: string | readonly string[] | undefined;
  /** Handlers of events, by event type. */
  readonly on?: WebhookHandlers | undefined;
  /**
   * Called for a verified event without a handler, except `webhook.test`, and for an event that `isKnownEvent` does not
   * recognize.
   *
   * @default acknowledges the event, and logs a warning unless the event is known and a listener is attached
   */
  readonly otherwise?: ((event: WebhookEvent) => unknown) | undefined;
  /**
   * Store with which the receiver handles each event only once. With `false`, the receiver handles every delivery.
   * @default a store in memory
   */
  readonly dedupe?: DedupeStore | false | undefined;
  /** Maximum size of a body in bytes. @default 1048576 bytes (1 MiB) */
  readonly maxBytes?: number | undefined;
  /**
   * Milliseconds after which another delivery can claim an event whose process has died.
   * @default 300000 ms (5 minutes)
   */
  readonly leaseMs?: number | undefined;
  /** Receives warnings and errors. @default console */
  readonly logger?: ReceiverLogger | undefined;
  /**
   * Additional hooks, such as `openTelemetry()` of `audience-activation/otel`. The receiver calls them before the other
   * hooks.
   */
  readonly telemetry?: DeliveryHooks | undefined;
}

/** Context of a request on an edge platform. */
export interface HandleContext {
  /** Keeps the runtime alive until a promise settles. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Receives every verified event before its handler, including repeated events. `client.waits` is a listener. */
export interface EventListener {
  /** Called with the event. If `notify` throws, the receiver logs the error, and the delivery continues. */
  notify(event: WebhookEvent): unknown;
}

/** Receives deliveries. */
export interface WebhookReceiver {
  /**
   * Responds to a delivery within 9 seconds, without a body. Rejects only if `waitUntil` throws. Status codes:
   * - 200: the event is handled;
   * - 400: the delivery cannot be verified;
   * - 405: the method is not POST;
   * - 413: the body is larger than `maxBytes`;
   * - 500: the handler failed, or the configuration is invalid;
   * - 503: the event is in progress, the handler takes too long, or another step failed.
   */
  handle(request: Request, context?: HandleContext): Promise<Response>;
  /** Passes verified events to a listener, before their handlers. Returns a function that detaches the listener. */
  attach(listener: EventListener): () => void;
  /** Logger of the receiver, which adapters such as `toNodeListener` also use. */
  readonly logger: ReceiverLogger;
}

/** Maximum milliseconds until the response. The service waits for 10 seconds (specification, "Delivery"). */
const MAX_RESPONSE_MS = 9_000;
const DEFAULT_MAX_BYTES = 2 ** 20;
const DEFAULT_LEASE_MS = 300_000;

/**
 * Creates a receiver for any platform with `Request` and `Response`. For `node:http`, Express and Fastify, pass it to
 * `toNodeListener` of `audience-activation/node`.
 *
 * @throws {ConfigurationError} for an invalid option.
 *
 * @example
 * const receiver = createWebhookReceiver({ secrets, on: { 'audience.completed': async ({ data }) => save(data) } });
 * export const POST = (request: Request) => receiver.handle(request);
 */
export const createWebhookReceiver = (options: ReceiverOptions): WebhookReceiver => new Receiver(options);

/** Prefix of each log line, because the log of a server contains lines of several packages. */
const LINE_PREFIX = 'audience-activation: ';

/** Ignores errors of a logger, so that they cannot make a delivery fail. */
const log = (write: () => void): void => void safely(write, () => {});

class Receiver implements WebhookReceiver {
  readonly logger: ReceiverLogger;
  /** Private, because the options contain the signing secrets, and inspection shows public fields. */
  readonly #caller: HookCaller<DeliveryHooks>;
  readonly #options: ReceiverOptions;
  readonly #store: DedupeStore | undefined;
  readonly #listeners = new Set<EventListener>();
  /** Heartbeats of the handlers that are running in this process, by event id. */
  readonly #running = new Map<string, Heartbeat>();

  constructor(options: ReceiverOptions) {
    checkReceiverOptions(options);
    // Bind `handle`, so that `createServer(receiver.handle)` logs what to use instead.
    this.handle = this.handle.bind(this);
    this.#options = options;
    const logger = options.logger ?? console;
    this.logger = {
      warn: (message) => log(() => logger.warn(`${LINE_PREFIX}${message}`)),
      // Pass only the given arguments: `console` would print a missing cause as `undefined`.
      error: (message, ...cause) => log(() => logger.error(`${LINE_PREFIX}${message}`, ...cause)),
    };
    this.#caller = { hooks: [options.telemetry ?? {}, options], logger: this.logger };
    this.#store = options.dedupe === false ? undefined : (options.dedupe ?? memoryDedupe());
  }

  async handle(request: Request, context?: HandleContext): Promise<Response> {
    if (request.method !== 'POST') {
      this.logger.warn('The receiver refused a request with 405, because deliveries are POST requests.');
      return new Response(null, { status: 405, headers: { allow: 'POST' } });
    }
    const work = this.#process(request);
    context?.waitUntil?.(work);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<number>((resolve) => {
      timer = setTimeout(() => {
        this.logger.warn(
          'A delivery has taken more than 9 s, so the receiver responds with 503, and the service sends the event again. Let the handler only store the event.',
        );
        resolve(503);
      }, MAX_RESPONSE_MS);
    });
    const status = await Promise.race([work, timeout]);
    clearTimeout(timer);
    return new Response(null, { status });
  }

  attach(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Processes a delivery, and returns the status of the response. Never throws. */
  async #process(request: Request): Promise<number> {
    const report = new DeliveryReport(this.#caller);
    try {
      return await this.#receive(request, report);
    } catch (error) {
      const isRefused = WebhookVerificationError.isInstance(error);
      if (isRefused) this.logger.warn(`The receiver refused a delivery: ${textOf(error)}`);
      else this.logger.error('A delivery failed.', error);
      report.step(isRefused ? { type: 'refused', reason: error.reason } : { type: 'failed', error });
      return isRefused ? 400 : ConfigurationError.isInstance(error) ? 500 : 503;
    }
  }

  async #receive(request: Request, report: DeliveryReport): Promise<number> {
    const { secrets, maxBytes = DEFAULT_MAX_BYTES } = this.#options;
    check(
      typeof request.headers?.get === 'function',
      '`handle` must be called with a `Request`.',
      'For node:http, Express and Fastify, use `toNodeListener(receiver)` of audience-activation/node.',
    );
    check(!request.bodyUsed, 'The body was already read: call `handle` first.');
    const body = await readBody(request, maxBytes);
    if (!body) {
      this.logger.warn(
        `The receiver refused a delivery with 413, because its body is larger than \`maxBytes\` (${maxBytes} bytes). To accept it, raise \`maxBytes\`.`,
      );
      report.step({ type: 'refused', reason: 'too-large' });
      return 413;
    }
    const event = await verifyDelivery(body, request.headers, secrets, this.#options);
    report.verify(event);
    for (const listener of this.#listeners) void this.#notify(listener, event);
    return this.#store ? this.#runOnce(event, report, this.#store) : this.#run(event, report);
  }

  async #notify(listener: EventListener, event: WebhookEvent): Promise<void> {
    try {
      await listener.notify(event);
    } catch (error) {
      this.#logError(event, 'a listener failed', error);
    }
  }

  /** Runs the handler, unless this or another process is handling or has handled the event. */
  async #runOnce(event: WebhookEvent, report: DeliveryReport, store: DedupeStore): Promise<number> {
    const { id } = event;
    const busy = (): number => {
      this.logger.warn(
        `${nameOf(event)}: a handler may still be processing another delivery of this event, so the receiver responds with 503, and the service sends the event again.`,
      );
      report.step({ type: 'busy' });
      return 503;
    };
    // Check the handlers of this process first: if a handler runs longer than its lease, the store accepts a second
    // claim. A handler without a heartbeat was dropped by the runtime of a Worker.
    if (this.#running.get(id)?.isSilent === false) return busy();
    const claim = await store.claim(id, this.#options.leaseMs ?? DEFAULT_LEASE_MS);
    if (claim === 'busy') return busy();
    if (claim === 'done') {
      report.step({ type: 'duplicate' });
      return 200;
    }
    const heartbeat = new Heartbeat();
    this.#running.set(id, heartbeat);
    try {
      const status = await this.#run(event, report);
      try {
        await store[status === 200 ? 'complete' : 'release'](id, claim.lease);
      } catch (error) {
        // Respond with the handler's status: after an error status, the service would send an event again that was
        // handled.
        this.#logError(event, 'the store could not be updated', error);
      }
      return status;
    } finally {
      heartbeat.stop();
      if (this.#running.get(id) === heartbeat) this.#running.delete(id);
    }
  }

  async #run(event: WebhookEvent, report: DeliveryReport): Promise<number> {
    try {
      const delivery = report.info;
      await runAround(this.#caller, 'aroundHandler', { event: () => delivery, work: () => this.#dispatch(event) });
      report.step({ type: 'handled' });
      return 200;
    } catch (error) {
      this.#logError(event, 'the handler failed', error);
      report.step({ type: 'failed', error });
      return 500;
    }
  }

  async #dispatch(event: WebhookEvent): Promise<void> {
    const { on = {}, otherwise } = this.#options;
    const isKnown = isKnownEvent(event);
    if (isKnown) {
      // TypeScript cannot infer that the handler accepts this type of event.
      const handler = on[event.type] as ((event: KnownWebhookEvent) => unknown) | undefined;
      if (handler) return void (await handler.call(on, event));
      if (event.type === 'webhook.test') return;
    }
    if (otherwise) return void (await otherwise(event));
    if (isKnown && this.#listeners.size > 0) return;
    const problem = isKnown ? 'no handler' : `an unknown type, version (${event.schema_version}) or data`;
    const message = `${nameOf(event)} has ${problem}, so the receiver ignored it.`;
    this.logger.warn(message);
  }

  #logError(event: WebhookEvent, problem: string, error: unknown): void {
    this.logger.error(`${nameOf(event)}: ${problem}.`, error);
  }
}

const nameOf = ({ id, type }: WebhookEvent): string => `Event ${id} (${type})`;

async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > maxBytes) return undefined;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  // Firefox has no `Request.body`.
  const reader = (request.body ?? (await request.blob()).stream()).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    chunks.push(read.value);
    if (size > maxBytes) return void (await reader.cancel());
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

const HOOKS = ['onDelivery', 'aroundHandler'] as const satisfies readonly (keyof DeliveryHooks)[];

const RECEIVER_OPTIONS: readonly string[] = [
  'secrets',
  'on',
  'otherwise',
  'dedupe',
  'maxBytes',
  'leaseMs',
  'logger',
  'telemetry',
  ...HOOKS,
  ...VERIFY_OPTIONS,
];

/** Refuses options with which the receiver would lose events, or would fail only at the first delivery. */
function checkReceiverOptions(options: ReceiverOptions): void {
  checkOptions(options, 'createWebhookReceiver', RECEIVER_OPTIONS);
  const { secrets, on = {}, dedupe, telemetry = {} } = options;
  // The receiver reads an array at each delivery, so the array may be empty now.
  if (!Array.isArray(secrets) || secrets.length > 0) checkSecrets(secrets);
  checkNumbers(options, ['tolerance', 'leaseMs', 'maxBytes']);
  for (const [type, handler = check] of Object.entries(on)) {
    check(isKnownType(type) && isFunction(handler), `\`on["${type}"]\` must be a handler of a known event type.`);
  }
  for (const name of HOOKS) check(isHookSet(options, [name]), `\`${name}\` must be a function.`);
  check(isHookSet(telemetry, HOOKS), '`telemetry` must be `openTelemetry()`, or another object of hooks.');
  const isStore = !dedupe || [dedupe.claim, dedupe.complete, dedupe.release].every(isFunction);
  check(isStore, '`dedupe` must be a store such as `memoryDedupe()`.');
}

const isFunction = (value: unknown): boolean => typeof value === 'function';
