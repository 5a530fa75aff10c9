import { Clock } from './clock.ts';
import { Faults } from './faults.ts';
import { Jobs } from './jobs.ts';
import { createRandom, type Random } from './random.ts';
import { checkOptions, type SandboxOptions } from './sandbox-options.ts';
import { type SandboxLimits, SERVICE_LIMITS } from './service-limits.ts';
import { createState, type LogEntry, type State } from './state.ts';
import { Webhooks } from './webhook-deliveries.ts';

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

/** A service without accounts. */
export function createService(options: SandboxOptions): Service {
  checkOptions(options);
  const { seed = 1, clock: mode = 'real', start = Date.now(), jobs = {}, onRequest, onDelivery } = options;
  const clock = new Clock(mode, Number(start));
  const changed = Object.entries(options.limits ?? {}).filter(([, limit]) => limit !== undefined);
  const limits: SandboxLimits = { ...SERVICE_LIMITS, ...Object.fromEntries(changed) };
  const state = createState(limits.logLength, options.origin);
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
      signingTime: options.signatureClock === 'machine' ? Date.now : () => clock.now(),
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
