import type { Clock } from './clock.ts';
import { letExit, wireTime } from './clock.ts';
import type { JobKind } from './jobs.ts';
import type { Random } from './random.ts';
import { DELIVERY_WAITS, EXHAUSTED_IN_A_ROW, SECRET_OVERLAP } from './service-limits.ts';
import type { Company, Endpoint } from './state.ts';
import { Log } from './traffic-log.ts';

/** One attempt to deliver an event to an endpoint. */
export interface Delivery {
  readonly endpointId: number;
  readonly eventId: string;
  readonly type: string;
  /** From 1. */
  readonly attempt: number;
  /** Sandbox time in milliseconds since 1970. */
  readonly at: number;
  /** The receiver's answer; none where there was no answer in time. */
  readonly status?: number;
}

/** What deliveries are made with. */
export interface WebhookParts {
  readonly clock: Clock;
  readonly random: Random;
  /** The time that signatures hold. Milliseconds. */
  readonly signingTime: () => number;
  /** Sends a delivery to its receiver. */
  readonly send: (request: Request) => Promise<Response>;
  /** How long a receiver may take. Milliseconds of the machine. */
  readonly timeout: number;
  /** How many attempts are remembered. */
  readonly logLength: number;
  readonly onDelivery: (delivery: Delivery) => void;
}

/** An event on its way to one endpoint. */
interface Parcel {
  readonly endpoint: Endpoint;
  readonly id: string;
  readonly type: string;
  /** The same bytes in every attempt. */
  readonly body: string;
  /** Its place among attempts due at the same time, whichever answer came first. */
  readonly order: number;
}

/** An attempt from its beginning on. */
interface Attempt {
  /** Known when it has ended. */
  delivery: Delivery | undefined;
}

/** Event families by kind of job; estimates have none ("Events"). */
const FAMILIES: Readonly<Partial<Record<JobKind, string>>> = {
  audience: 'audience',
  lookalike: 'audience',
  activation: 'activation',
  cohort: 'cohort',
};

const SCHEMA_VERSION = 1;

/** The service's sender of events ("Delivery", "Signature"). */
export class Webhooks {
  readonly #parts: WebhookParts;
  readonly #attempts: Log<Attempt>;
  readonly #underWay = new Map<Promise<void>, AbortController>();
  #stopped = false;

  constructor(parts: WebhookParts) {
    this.#parts = parts;
    this.#attempts = new Log(parts.logLength);
  }

  /** Attempts that have ended, in the order they began. */
  get deliveries(): Delivery[] {
    return this.#attempts.entries.flatMap(({ delivery }) => delivery ?? []);
  }

  /** A job has ended: every endpoint that subscribes to its event is told. */
  tell(company: Company, kind: JobKind, succeeded: boolean, data: unknown): void {
    const family = FAMILIES[kind];
    if (family === undefined) return;
    const type = `${family}.${succeeded ? 'completed' : 'failed'}`;
    this.#send(
      company,
      type,
      data,
      company.endpoints.filter(({ events }) => events.includes(type)),
    );
  }

  /** The console's send-test action: regardless of subscriptions. */
  test(endpoint: Endpoint): void {
    const data = { message: 'This is a test.', endpoint_id: endpoint.id };
    this.#send(endpoint.creator.company, 'webhook.test', data, [endpoint]);
  }

  /** Resolves when every attempt that has begun has ended. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.keys());
  }

  /** Gives up on attempts under way, and makes no more. */
  stop(): void {
    this.#stopped = true;
    for (const controller of this.#underWay.values()) controller.abort();
  }

  #send(company: Company, type: string, data: unknown, endpoints: readonly Endpoint[]): void {
    const { clock, random } = this.#parts;
    const id = `evt_${random.text(24)}`;
    const created_at = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ schema_version: SCHEMA_VERSION, id, type, created_at, company_id: company.id, data });
    for (const endpoint of endpoints) {
      if (endpoint.is_active) this.#attempt({ endpoint, id, type, body, order: clock.order() }, 1);
    }
  }

  #attempt(parcel: Parcel, attempt: number): void {
    const { endpoint } = parcel;
    // Paused, switched off or deleted meanwhile: deliveries stop.
    if (this.#stopped || !endpoint.is_active || !endpoint.creator.company.endpoints.includes(endpoint)) return;
    const controller = new AbortController();
    const work = this.#deliver(parcel, attempt, controller).finally(() => this.#underWay.delete(work));
    this.#underWay.set(work, controller);
  }

  async #deliver(parcel: Parcel, attempt: number, controller: AbortController): Promise<void> {
    const { clock, onDelivery } = this.#parts;
    const { endpoint, id, type } = parcel;
    const at = clock.now();
    const entry: Attempt = { delivery: undefined };
    this.#attempts.add(entry);
    const status = await this.#post(parcel, controller);
    entry.delivery = {
      endpointId: endpoint.id,
      eventId: id,
      type,
      attempt,
      at,
      ...(status !== undefined && { status }),
    };
    onDelivery(entry.delivery);
    endpoint.last_delivery_at = wireTime(clock.now());
    if (status !== undefined && status >= 200 && status < 300) {
      endpoint.exhausted = 0;
      return;
    }
    const wait = DELIVERY_WAITS[attempt - 1];
    if (wait !== undefined) clock.at(at + wait, () => this.#attempt(parcel, attempt + 1), parcel.order);
    else if (++endpoint.exhausted === EXHAUSTED_IN_A_ROW) switchOff(endpoint, wireTime(clock.now()));
  }

  /** The receiver's status, or nothing. */
  async #post({ endpoint, body }: Parcel, controller: AbortController): Promise<number | undefined> {
    const { clock, signingTime, send, timeout } = this.#parts;
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), timeout);
    letExit(timer);
    try {
      const headers = { 'content-type': 'application/json' };
      const request = new Request(endpoint.url, { method: 'POST', headers, body, signal, redirect: 'manual' });
      const late = new Promise<never>((_, reject) => {
        // Holds the request: `fetch` does not abort one that was garbage collected, and its socket keeps the process alive.
        signal.addEventListener('abort', () => reject(new Error(`${request.url} did not respond.`)), { once: true });
      });
      const signature = signatureOf(body, signingSecrets(endpoint, clock.now()), signingTime());
      const sending = signature.then((value) => {
        request.headers.set('service-signature', value);
        return send(request);
      });
      const response = await Promise.race([sending, late]);
      response.body?.cancel().catch(() => {});
      return response.status;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** "the endpoint is disabled and its creator notified" ("Delivery"). */
function switchOff(endpoint: Endpoint, now: string): void {
  endpoint.is_active = false;
  endpoint.updated_at = now;
  endpoint.creator.notifications.push(
    `Webhook endpoint ${endpoint.id} "${endpoint.name}" was switched off: ${EXHAUSTED_IN_A_ROW} deliveries in a row failed.`,
  );
}

/** The secret, and the old one for 24 hours after a rotation, the new one first ("Signature"). */
function signingSecrets({ secret, previous }: Endpoint, now: number): string[] {
  return previous && previous.until > now ? [secret, previous.secret] : [secret];
}

/** `t=…,v1=…`, a `v1` for each secret ("Signature"). */
async function signatureOf(body: string, secrets: readonly string[], time: number): Promise<string> {
  const seconds = Math.floor(time / 1000);
  const signatures = await Promise.all(secrets.map((one) => sign(`${seconds}.${body}`, one)));
  return [`t=${seconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(',');
}

/** A new secret; the old one signs, too, for 24 hours. */
export function rotateSecret(endpoint: Endpoint, secret: string, now: number): void {
  endpoint.previous = { secret: endpoint.secret, until: now + SECRET_OVERLAP };
  endpoint.secret = secret;
  endpoint.updated_at = wireTime(now);
}

/** HMAC-SHA256 as hexadecimal digits. */
async function sign(text: string, secret: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), algorithm, false, ['sign']);
  const mac = await crypto.subtle.sign('HMAC', key, bytes.encode(text));
  return [...new Uint8Array(mac)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
