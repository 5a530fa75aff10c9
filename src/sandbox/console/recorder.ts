import { callSource, expression } from '../admin/call-source.ts';
import type { AdminCall, HandledRequest, Service } from '../service.ts';
import type { LogEntry, SandboxState } from '../state.ts';
import type { Delivery, DeliveryAttempt } from '../webhook-deliveries.ts';

/** A request with what the log leaves out. Credentials in headers are not kept. */
export interface RecordedRequest {
  readonly entry: LogEntry;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Text of the body, if a route has read it; `undefined` also if it is too long to be kept. */
  readonly body: string | undefined;
  /** Value of the token that was sent. */
  readonly token: string | undefined;
  /** Milliseconds of the machine's clock. */
  readonly duration: number;
}

/** A step of a recording: a request, or the call that an action has made. */
export interface Step {
  /** Time of the sandbox's clock. */
  readonly time: number;
  readonly request?: RecordedRequest;
  readonly call?: string;
}

/** The steps since a state. */
export interface Recording {
  readonly state: SandboxState;
  readonly startedAt: number;
  readonly steps: readonly Step[];
  readonly deliveries: readonly Delivery[];
  /** `true` if there was more than fits. */
  readonly isFull: boolean;
}

/** Longest body that is kept, in bytes. */
const MAX_BODY = 65_536;

/** Bounds of a recording: number of steps, and bytes of their bodies. */
const MAX_STEPS = 10_000;
const MAX_BYTES = 2 ** 24;

/** Headers that hold credentials. */
const CREDENTIALS: readonly string[] = ['authorization', 'cookie', 'proxy-authorization'];

/** Records requests and actions while a console is open. */
export class Recorder {
  readonly #service: Service;
  readonly #save: () => SandboxState;
  /** By id, the latest ones: as many as the log has. */
  readonly #requests = new Map<string, RecordedRequest>();
  #recording: { state: SandboxState; startedAt: number; steps: Step[]; attempts: DeliveryAttempt[]; isFull: boolean };
  #bytes = 0;
  #lastCall = '';

  constructor(service: Service, save: () => SandboxState) {
    this.#service = service;
    this.#save = save;
    this.#recording = this.#begin();
    service.observers.add({
      onRequest: (handled) => this.#addRequest(handled),
      onDelivery: (attempt) => void this.#recording.attempts.push(attempt),
      onCall: (call) => this.#addCall(call),
    });
  }

  /** Starts again, with the present state. */
  restart(): void {
    this.#bytes = 0;
    this.#recording = this.#begin();
  }

  #begin() {
    const state = this.#save();
    return { state, startedAt: this.#service.clock.now(), steps: [], attempts: [], isFull: false };
  }

  get recording(): Recording {
    const { attempts, ...recording } = this.#recording;
    return { ...recording, deliveries: attempts.flatMap(({ delivery }) => delivery ?? []) };
  }

  /** Returns a request of the log. */
  find(id: string): RecordedRequest | undefined {
    return this.#requests.get(id);
  }

  /** The latest call, in TypeScript. */
  get lastCall(): string {
    return this.#lastCall;
  }

  #addCall({ method, args, time }: AdminCall): void {
    const { state } = this.#recording;
    const shown = args.map((arg) => (arg === state ? expression('state') : arg));
    const call = callSource(method, shown);
    this.#lastCall = method === 'sandbox.advance' ? `await ${call}` : call;
    // The times of the steps contain how the clock ran.
    if (method !== 'sandbox.setClock') this.#add({ time, call: this.#lastCall }, call.length);
  }

  #addRequest({ entry, request, body, token, duration, isRoot }: HandledRequest): void {
    const text = body && body.length <= MAX_BODY ? new TextDecoder().decode(body) : undefined;
    const headers = [...request.headers].filter(([name]) => !CREDENTIALS.includes(name));
    const recorded = { entry, url: request.url, headers, body: text, token: token?.value, duration };
    this.#requests.set(entry.id, recorded);
    const [oldest] = this.#requests.keys();
    if (oldest !== undefined && this.#requests.size > this.#service.limits.logLength) this.#requests.delete(oldest);
    if (isRoot) this.#add({ time: this.#service.clock.now(), request: recorded }, text?.length ?? 0);
  }

  #add(step: Step, bytes: number): void {
    const recording = this.#recording;
    this.#bytes += bytes;
    if (recording.steps.length >= MAX_STEPS || this.#bytes > MAX_BYTES) recording.isFull = true;
    if (recording.isFull) return;
    // A call that moves the clock is reported when it has ended, after what happened meanwhile.
    const index = recording.steps.findLastIndex(({ time }) => time <= step.time);
    recording.steps.splice(index + 1, 0, step);
  }
}
