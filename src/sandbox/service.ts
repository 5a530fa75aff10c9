import { Clock, type ClockMode } from './clock.ts';
import { type FaultRule, Faults } from './faults.ts';
import { type JobOptions, Jobs } from './jobs.ts';
import { type SandboxLimits, SERVICE_LIMITS } from './limits.ts';
import { createRandom, type Random } from './random.ts';
import { createState, type LogEntry, type State } from './state.ts';
import { type Delivery, Webhooks } from './webhooks.ts';

/** What a sandbox is made of; every route works on it. */
export interface Service {
  readonly state: State;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: SandboxLimits;
  readonly jobs: Jobs;
  readonly webhooks: Webhooks;
  readonly faults: Faults;
  /** Hosts beyond loopback that OAuth clients may be redirected to. */
  readonly redirectHosts: readonly string[];
  /** Writes a request down. */
  readonly record: (entry: LogEntry) => void;
  /** Aborted when the sandbox is closed. */
  readonly ended: AbortController;
}

/** Options of a sandbox. */
export interface SandboxOptions {
  /** Decides all randomness; an integer. @default 1 */
  readonly seed?: number;
  /** @default 'real' */
  readonly clock?: ClockMode;
  /** The sandbox's time when it is created. @default the machine's */
  readonly start?: Date | number;
  readonly jobs?: JobOptions;
  /** Replaces single limits of the service. */
  readonly limits?: Partial<SandboxLimits>;
  /** What goes wrong on purpose, from the first request on. */
  readonly faults?: readonly FaultRule[];
  /** Origin at which `handlers` answer the API, like `https://api.example.com`. @default any origin */
  readonly origin?: string;
  /** Hosts beyond loopback that OAuth clients may be redirected to. @default none */
  readonly redirectHosts?: readonly string[];
  /** Sends webhook deliveries in place of the global `fetch`. */
  readonly deliver?: (request: Request) => Promise<Response>;
  /** Called with each request once it is answered, as it goes into `log`. */
  readonly onRequest?: (entry: LogEntry) => void;
  /** Called with each attempt to deliver an event once it has ended. */
  readonly onDelivery?: (delivery: Delivery) => void;
}

/** A service without accounts. */
export function createService(options: SandboxOptions): Service {
  checkOptions(options);
  const { seed = 1, clock: mode = 'real', start = Date.now(), jobs = {}, onRequest, onDelivery } = options;
  const clock = new Clock(mode, Number(start));
  const limits = { ...SERVICE_LIMITS, ...options.limits };
  const state = createState(limits.logLength);
  return {
    state,
    clock,
    random: createRandom(seed),
    limits,
    jobs: new Jobs(clock, jobs),
    // Numbers of their own: an event or a fault more leaves tokens and ids as they are.
    webhooks: new Webhooks({
      clock,
      random: createRandom(~seed),
      send: options.deliver ?? ((request) => fetch(request)),
      timeout: limits.deliveryTimeout,
      logLength: limits.logLength,
      onDelivery: (delivery) => tell(onDelivery, delivery),
    }),
    faults: new Faults(createRandom(seed + 2 ** 31), options.faults ?? []),
    redirectHosts: options.redirectHosts ?? [],
    record(entry) {
      state.log.add(entry);
      tell(onRequest, entry);
    },
    ended: new AbortController(),
  };
}

/** Calls a user's function; what it throws is the user's to see, and no business of the request. */
function tell<T>(listener: ((told: T) => void) | undefined, told: T): void {
  try {
    listener?.(told);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

function checkOptions({ seed, clock, start, origin }: SandboxOptions): void {
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new Error(`\`seed\` must be an integer, not ${seed}.`);
  if (typeof clock === 'object' && !(clock.speed > 0 && Number.isFinite(clock.speed)))
    throw new Error(`\`clock.speed\` must be a number above 0, not ${clock.speed}.`);
  if (start !== undefined && Number.isNaN(Number(start))) throw new Error('`start` must be a date.');
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin))
    throw new Error(`\`origin\` must be like "https://api.example.com", not "${origin}".`);
}
