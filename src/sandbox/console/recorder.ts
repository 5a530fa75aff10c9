import { callSource, expression } from '../admin/call-source.ts';
import type { ActiveFault } from '../faults.ts';
import { MAX_KEPT_BODY } from '../http/request-body.ts';
import { saveState } from '../saved-state.ts';
import type { AdminCall, HandledRequest, Moment, Service } from '../service.ts';
import type { SandboxLimits } from '../service-limits.ts';
import type { SandboxState } from '../state.ts';
import type { DeliveryAttempt } from '../webhook-deliveries.ts';

/** Names and values of headers: they need half as much memory as a `Headers` object. */
type HeaderEntries = [name: string, value: string][];

export interface KeptRequest extends Omit<HandledRequest, 'headers' | 'responseHeaders'> {
  readonly headers: HeaderEntries;
  readonly responseHeaders: HeaderEntries | undefined;
  /** `true` if the request's body was too long, or if the recorder has dropped the response body of a read. */
  readonly isBodyDropped: boolean;
}

/** A request or a call of a method of the sandbox, with the number of its start and, for a request, of its end. */
export type Step =
  | { readonly started: Moment; readonly ended: Moment; readonly request: KeptRequest }
  | { readonly started: Moment; readonly call: string };

export interface Recording {
  readonly state: SandboxState;
  readonly startedAt: number;
  readonly limits: SandboxLimits;
  readonly faults: readonly ActiveFault[];
  /** The steps, in the order of their starts. */
  readonly steps: readonly Step[];
  /** Response statuses of webhook receivers, by URL and event id, in the order in which the attempts ended; 0 for no response. */
  readonly receivers: ReadonlyMap<string, readonly number[]>;
  readonly isFull: boolean;
}

const MAX_STEPS = 10_000;
/** Maximum approximate size in bytes of the recorded steps, and of the requests with details. */
const MAX_BYTES = 2 ** 24;

export class Recorder {
  readonly #service: Service;
  readonly #seed: number;
  /** The latest requests, oldest first, up to `MAX_BYTES`. */
  readonly #requests = new Map<string, KeptRequest>();
  #requestBytes = 0;
  /** Reads with a response body. The recorder drops these bodies first, because another read can return the data. */
  readonly #reads = new Set<string>();
  #recording: Recording & { readonly steps: Step[]; readonly receivers: Map<string, number[]>; isFull: boolean };
  #bytes = 0;

  constructor(service: Service, seed: number) {
    this.#service = service;
    this.#seed = seed;
    this.#recording = this.#begin();
    service.observers.add({
      onRequest: (handled) => this.#addRequest(handled),
      onDelivery: (attempt) => this.#addDelivery(attempt),
      onCall: (call) => this.#addCall(call),
    });
  }

  restart(): void {
    this.#bytes = 0;
    this.#recording = this.#begin();
  }

  #begin() {
    const { clock, limits, faults } = this.#service;
    faults.renumber();
    const startedAt = clock.now();
    return {
      state: saveState(this.#service, this.#seed, startedAt, []),
      startedAt,
      limits: { ...limits },
      faults: faults.active,
      steps: [],
      receivers: new Map<string, number[]>(),
      isFull: false,
    };
  }

  get recording(): Recording {
    const { steps } = this.#recording;
    // Requests and calls are added when they end.
    return { ...this.#recording, steps: steps.toSorted((a, b) => a.started.order - b.started.order) };
  }

  /** Returns the recording up to a request. If the request is not one of the steps, returns the whole recording. */
  recordingUntil(id: string | undefined): Recording {
    const { recording } = this;
    const last = recording.steps.findLastIndex((step) => 'request' in step && step.request.entry.id === id);
    return last === -1 ? recording : { ...recording, steps: recording.steps.slice(0, last + 1) };
  }

  get stepCount(): number {
    return this.#recording.steps.length;
  }

  /** Returns the details of a logged request; `undefined` if the recorder has dropped them. */
  find(entry: HandledRequest['entry']): KeptRequest | undefined {
    const handled = this.#requests.get(entry.id);
    // After a restore, the service issues the same ids again.
    return handled?.entry === entry ? handled : undefined;
  }

  #addCall({ method, args, started }: AdminCall): void {
    const { state } = this.#recording;
    const call = callSource(
      method,
      args.map((arg) => (arg === state ? expression('state') : arg)),
    );
    // The times of the steps reflect the speed of the clock.
    if (method !== 'sandbox.setClock') this.#add({ started, call }, call.length);
  }

  #addDelivery({ event, delivery }: DeliveryAttempt): void {
    const { receivers, isFull } = this.#recording;
    const key = `${event.endpoint.url} ${event.id}`;
    if (!isFull && receivers.size < MAX_STEPS)
      receivers.set(key, [...(receivers.get(key) ?? []), delivery?.status ?? 0]);
  }

  #addRequest(handled: HandledRequest): void {
    const { entry, isRoot, started } = handled;
    const request = keep(handled);
    const bytes = sizeOf(request);
    this.#requests.delete(entry.id);
    this.#requests.set(entry.id, request);
    this.#requestBytes += bytes;
    if (entry.method === 'GET' && request.response !== undefined) this.#reads.add(entry.id);
    for (const id of this.#reads) {
      if (this.#requestBytes <= MAX_BYTES) break;
      this.#dropBody(id);
    }
    for (const id of this.#requests.keys()) {
      if (this.#requestBytes <= MAX_BYTES) break;
      this.#drop(id);
    }
    if (isRoot) this.#add({ started, ended: this.#service.moment(), request }, bytes);
  }

  #dropBody(id: string): void {
    const read = this.#requests.get(id);
    this.#reads.delete(id);
    if (!read) return;
    this.#requestBytes -= read.response?.length ?? 0;
    this.#requests.set(id, { ...read, response: undefined, isBodyDropped: true });
  }

  #drop(id: string): void {
    const oldest = this.#requests.get(id);
    if (!oldest) return;
    this.#requests.delete(id);
    this.#reads.delete(id);
    this.#requestBytes -= sizeOf(oldest);
  }

  #add(step: Step, bytes: number): void {
    const recording = this.#recording;
    this.#bytes += bytes;
    if (recording.steps.length >= MAX_STEPS || this.#bytes > MAX_BYTES) recording.isFull = true;
    if (!recording.isFull) recording.steps.push(step);
  }
}

function keep({ body, headers, responseHeaders, ...handled }: HandledRequest): KeptRequest {
  const isBodyDropped = body !== undefined && body.length > MAX_KEPT_BODY;
  return {
    ...handled,
    headers: [...headers],
    responseHeaders: responseHeaders && [...responseHeaders],
    body: isBodyDropped ? undefined : body,
    isBodyDropped,
  };
}

/** Approximate size in bytes of a request without its texts. */
const OVERHEAD = 1_000;

function sizeOf({ url, headers, responseHeaders, body, response = '' }: KeptRequest): number {
  let size = OVERHEAD + url.length + (body?.length ?? 0) + response.length;
  for (const [name, value] of [...headers, ...(responseHeaders ?? [])]) size += name.length + value.length;
  return size;
}
