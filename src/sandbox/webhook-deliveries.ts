import { type Clock, formatTimestamp, unref } from './clock.ts';
import type { JobKind } from './jobs.ts';
import type { Random } from './random.ts';
import {
  DELIVERY_RETRY_WAITS_MS,
  MAX_CONSECUTIVE_FAILURES,
  type SandboxLimits,
  SECRET_OVERLAP_MS,
} from './service-limits.ts';
import { appendBounded, type Company, type Endpoint } from './state.ts';

/** One attempt to deliver a webhook event to an endpoint. */
export interface Delivery {
  /** Id of the receiving endpoint, as `webhooks.create` returned it. */
  readonly endpointId: number;
  /** Id of the event, `evt_…`, the same in all attempts. */
  readonly eventId: string;
  /** Event type, such as `audience.completed`. */
  readonly type: string;
  /** Number of the attempt, 1 to 6. A redelivery starts again with 1. */
  readonly attempt: number;
  /** `true` for every attempt of a redelivery, also for its retries. */
  readonly manual?: boolean;
  /** Start of the attempt, in milliseconds of the sandbox's clock since 1970. */
  readonly at: number;
  /** HTTP status of the receiver. Not set if the receiver could not be reached or timed out. */
  readonly status?: number;
  /** Time of the next attempt, if there is one, in milliseconds of the sandbox's clock since 1970. */
  readonly retryAt?: number;
}

interface SenderOptions {
  readonly clock: Pick<Clock<DeliveryTask>, 'now' | 'schedule' | 'nextOrder'> & {
    cancel(isMatch: (task: { readonly type: string; readonly event?: EndpointEvent }) => boolean): void;
  };
  readonly random: Random;
  /** Returns the time for a signature, in milliseconds since 1970. */
  readonly signingTime: () => number;
  readonly send: (request: Request) => Promise<Response>;
  readonly limits: Readonly<Pick<SandboxLimits, 'deliveryTimeout' | 'logLength'>>;
  readonly onDelivery: (delivery: Delivery, attempt: DeliveryAttempt) => void;
}

/** An event to deliver to one endpoint. */
interface EndpointEvent {
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly type: string;
  /** The body, identical in every attempt. */
  readonly body: string;
  /** Rank among attempts due at the same time, so that their order does not depend on when responses arrive. */
  readonly order: number;
  /** `true` for a redelivery and its retries. */
  readonly manual?: boolean;
}

/** Why an attempt got no response: a timeout, a refused connection, or another network error. */
type DeliveryFailure = 'timeout' | 'refused' | 'unreachable';

/** An attempt with the request and the response. */
export interface DeliveryAttempt {
  readonly event: EndpointEvent;
  /** `undefined` until the attempt has ended. */
  delivery: Delivery | undefined;
  signature: string;
  /** The start of the receiver's response, or the reason why there was none. */
  response: string;
  /** Set if there was no response. */
  failure?: DeliveryFailure;
}

export interface DeliveryTask {
  readonly type: 'delivery';
  readonly event: EndpointEvent;
  readonly attempt: number;
}

/** Prefixes of event types by kind of job. Estimates have no events (specification, "Events"). */
const EVENT_FAMILIES: Readonly<Partial<Record<JobKind, string>>> = {
  audience: 'audience',
  lookalike: 'audience',
  activation: 'activation',
  cohort: 'cohort',
};

const SCHEMA_VERSION = 1;

/** Sends webhook events (specification, "Delivery" and "Signature"). */
export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #log: DeliveryAttempt[] = [];
  readonly #inFlight = new Map<Promise<void>, { readonly task: DeliveryTask; readonly controller: AbortController }>();
  /** Number of states that this sender has had before. Each `restore` increments it. */
  #generation = 0;
  #isStopped = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  get random(): Random {
    return this.#options.random;
  }

  get inFlight(): DeliveryTask[] {
    return [...this.#inFlight.values()].map(({ task }) => task);
  }

  /** Aborts the attempts in flight, and continues with the log of a saved state. */
  restore(attempts: readonly DeliveryAttempt[]): void {
    this.#abort();
    this.#generation++;
    this.#log.splice(0, this.#log.length, ...attempts);
  }

  /** Ended attempts with their requests and responses, in the order of their starts. */
  get attempts(): DeliveryAttempt[] {
    return this.#log.filter(({ delivery }) => delivery !== undefined);
  }

  /** Ended attempts, in the order of their starts. */
  get deliveries(): Delivery[] {
    return this.#log.flatMap(({ delivery }) => delivery ?? []);
  }

  /** Sends the event of an ended job to every active endpoint of the organization that subscribes to it. */
  sendJobEvent(company: Company, kind: JobKind, succeeded: boolean, data: unknown): void {
    const family = EVENT_FAMILIES[kind];
    if (family === undefined) return;
    const type = `${family}.${succeeded ? 'completed' : 'failed'}`;
    const subscribed = company.endpoints.filter(({ events }) => events.includes(type));
    this.#send(company, type, data, subscribed);
  }

  /** Sends a `webhook.test` event, regardless of subscriptions. */
  sendTest(endpoint: Endpoint): void {
    const data = { message: 'This is a test.', endpoint_id: endpoint.id };
    this.#send(endpoint.creator.company, 'webhook.test', data, [endpoint]);
  }

  /**
   * Sends an event of the log again, with the same id and body, to every active endpoint that it was sent to. Replaces
   * the pending attempts. Returns the number of endpoints.
   *
   * @throws if the event is not in the log, or none of its endpoints is active
   */
  redeliver(eventId: string): number {
    const events = this.#log.map(({ event }) => event).filter(({ id }) => id === eventId);
    if (events.length === 0) throw new Error(`The log of deliveries has no event "${eventId}".`);
    const byEndpoint = new Map(events.map((event) => [event.endpoint, event]));
    const active = [...byEndpoint.values()].filter(({ endpoint }) => isReachable(endpoint));
    if (active.length === 0)
      throw new Error(`No endpoint of the event ${eventId} is active. Resume an endpoint first.`);
    for (const event of active) {
      this.#endSeries(event);
      this.run({
        type: 'delivery',
        event: { ...event, order: this.#options.clock.nextOrder(), manual: true },
        attempt: 1,
      });
    }
    return active.length;
  }

  /** Cancels the pending attempts to deliver an event to an endpoint. */
  #endSeries({ endpoint, id }: EndpointEvent): void {
    const { clock } = this.#options;
    clock.cancel((task) => task.event?.endpoint === endpoint && task.event.id === id);
    for (const entry of this.#log) {
      if (entry.event.endpoint !== endpoint || entry.event.id !== id || !entry.delivery) continue;
      const { retryAt, ...delivery } = entry.delivery;
      // Cancel only future attempts. An attempt in the past took place at its due time.
      if (retryAt !== undefined && retryAt > clock.now()) entry.delivery = delivery;
    }
  }

  /** Returns whether a redelivery has replaced the attempt. */
  #isReplaced({ endpoint, id, order }: EndpointEvent): boolean {
    const latest = this.#log.findLast(({ event }) => event.endpoint === endpoint && event.id === id);
    return latest !== undefined && latest.event.order !== order;
  }

  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.keys());
  }

  stop(): void {
    this.#isStopped = true;
    this.#abort();
  }

  #abort(): void {
    for (const { controller } of this.#inFlight.values()) controller.abort();
  }

  #send(company: Company, type: string, data: unknown, endpoints: readonly Endpoint[]): void {
    const { clock, random } = this.#options;
    const id = `evt_${random.string(24)}`;
    const created_at = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ schema_version: SCHEMA_VERSION, id, type, created_at, company_id: company.id, data });
    for (const endpoint of endpoints) {
      const event = { endpoint, id, type, body, order: clock.nextOrder() };
      if (endpoint.is_active) this.run({ type: 'delivery', event, attempt: 1 });
    }
  }

  run(task: DeliveryTask): void {
    // The endpoint may have been paused, disabled or deleted since the last attempt.
    if (this.#isStopped || !isReachable(task.event.endpoint)) return;
    const controller = new AbortController();
    const work = this.#deliver(task, controller).finally(() => this.#inFlight.delete(work));
    this.#inFlight.set(work, { task, controller });
  }

  async #deliver({ event, attempt }: DeliveryTask, controller: AbortController): Promise<void> {
    const { clock, onDelivery, limits } = this.#options;
    const { endpoint, id, type, manual } = event;
    const at = clock.now();
    const entry: DeliveryAttempt = { event, delivery: undefined, signature: '', response: '' };
    appendBounded(this.#log, entry, limits.logLength);
    const generation = this.#generation;
    const status = await this.#post(entry, controller);
    // A restored state has replaced the state of this attempt.
    if (generation !== this.#generation) return;
    endpoint.last_delivery_at = formatTimestamp(clock.now());
    const isDelivered = status !== undefined && status >= 200 && status < 300;
    const isReplaced = this.#isReplaced(event);
    const wait = isDelivered || isReplaced ? undefined : DELIVERY_RETRY_WAITS_MS[attempt - 1];
    const retryAt = wait === undefined ? undefined : at + wait;
    entry.delivery = {
      endpointId: endpoint.id,
      eventId: id,
      type,
      attempt,
      ...(manual && { manual }),
      at,
      ...(status !== undefined && { status }),
      ...(retryAt !== undefined && { retryAt }),
    };
    if (isDelivered) endpoint.consecutiveFailures = 0;
    else if (retryAt !== undefined)
      clock.schedule(retryAt, { type: 'delivery', event, attempt: attempt + 1 }, event.order);
    else if (!isReplaced && ++endpoint.consecutiveFailures === MAX_CONSECUTIVE_FAILURES) disable(endpoint, clock.now());
    onDelivery(entry.delivery, entry);
  }

  /** Returns the receiver's status, or `undefined` if the receiver could not be reached or did not respond in time. */
  async #post(entry: DeliveryAttempt, controller: AbortController): Promise<number | undefined> {
    const { clock, signingTime, send, limits } = this.#options;
    const { endpoint, body } = entry.event;
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), limits.deliveryTimeout);
    unref(timer);
    try {
      const headers = { 'content-type': 'application/json' };
      const request = new Request(endpoint.url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      const aborted = new Promise<never>((_, reject) => {
        // Keep a reference to the request: `fetch` cannot abort a garbage-collected request, and its socket would keep
        // the process alive.
        signal.addEventListener(
          'abort',
          () => reject(new Error(`${request.url} did not respond within ${limits.deliveryTimeout} ms.`)),
          {
            once: true,
          },
        );
      });
      const signature = createSignature(body, signingSecrets(endpoint, clock.now()), signingTime());
      const sent = signature.then((value) => {
        entry.signature = value;
        request.headers.set('service-signature', value);
        return send(request);
      });
      const response = await Promise.race([sent, aborted]);
      // If the body was already read, log an empty response.
      entry.response = await readStart(response).catch(() => '');
      return response.status;
    } catch (error) {
      entry.response = describeFailure(error);
      entry.failure = signal.aborted ? 'timeout' : isRefused(error) ? 'refused' : 'unreachable';
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Returns whether the service, not the owner, has deactivated an endpoint. */
export const isDisabled = ({ is_active, consecutiveFailures }: Endpoint): boolean =>
  !is_active && consecutiveFailures >= MAX_CONSECUTIVE_FAILURES;

/** Returns whether an endpoint is active and has not been deleted. */
const isReachable = (endpoint: Endpoint): boolean =>
  endpoint.is_active && endpoint.creator.company.endpoints.includes(endpoint);

/** Maximum number of characters of a response in the log. */
const MAX_RESPONSE = 1_000;

/** Maximum wait for the first bytes of a response's body, in milliseconds of the machine's clock. */
const BODY_TIMEOUT_MS = 1_000;

/** Returns the start of a response's body, or an empty string if nothing arrives in time. */
async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, BODY_TIMEOUT_MS, undefined);
    unref(timer);
  });
  const chunk = await Promise.race([reader.read(), late]);
  clearTimeout(timer);
  reader.cancel().catch(() => {});
  return new TextDecoder().decode(chunk?.value).slice(0, MAX_RESPONSE);
}

/** Returns why a receiver could not be reached, from the cause of the error of `fetch`. */
function describeFailure(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

/** Returns whether the receiver refused the connection: the cause of the error contains the code of the system. */
function isRefused(error: unknown): boolean {
  const { cause }: { readonly cause?: unknown } = Object(error);
  const { code }: { readonly code?: unknown } = Object(cause);
  return code === 'ECONNREFUSED';
}

/** Disables an endpoint and notifies its creator (specification, "Delivery"). */
function disable(endpoint: Endpoint, now: number): void {
  endpoint.is_active = false;
  endpoint.updated_at = formatTimestamp(now);
  endpoint.creator.notifications.push(
    `Webhook endpoint ${endpoint.id} "${endpoint.name}" was disabled: ${MAX_CONSECUTIVE_FAILURES} deliveries or redeliveries in a row failed all six attempts.`,
  );
}

/** Replaces the secret. The previous secret also signs deliveries for 24 hours. */
export function rotateSecret(endpoint: Endpoint, secret: string, now: number): void {
  endpoint.previous = { secret: endpoint.secret, until: now + SECRET_OVERLAP_MS };
  endpoint.secret = secret;
  endpoint.updated_at = formatTimestamp(now);
}

/** Returns the secrets with which to sign, the newest first (specification, "Signature"). */
function signingSecrets({ secret, previous }: Endpoint, now: number): string[] {
  return previous && previous.until > now ? [secret, previous.secret] : [secret];
}

/** Creates the `Service-Signature` header: `t=…`, and a `v1=…` for each secret (specification, "Signature"). */
async function createSignature(body: string, secrets: readonly string[], time: number): Promise<string> {
  const seconds = Math.floor(time / 1000);
  const signatures = await Promise.all(secrets.map((secret) => hmacHex(`${seconds}.${body}`, secret)));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(',');
}

async function hmacHex(message: string, secret: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  const mac = await crypto.subtle.sign('HMAC', key, encoder.encode(message));
  return [...new Uint8Array(mac)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
