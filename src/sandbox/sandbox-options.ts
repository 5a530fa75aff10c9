import type { ServiceContract } from '../spec/contract.ts';
import type { Optional } from '../spec/wire-values.ts';
import { type ClockMode, checkMode, MAX_TIMER_MS } from './clock.ts';
import { checkContract } from './contract-check.ts';
import type { FaultRule } from './faults.ts';
import type { JobOptions } from './jobs.ts';
import { MAX_DURATION_MS, type SandboxLimits, SERVICE_LIMITS } from './service-limits.ts';
import type { LogEntry, SandboxState } from './state.ts';
import type { Delivery } from './webhook-deliveries.ts';

/** Options of `createSandbox`. */
export interface SandboxOptions {
  /** Differences between your service and the assumptions of this package, like the client's `contract`. */
  readonly contract?: ServiceContract | undefined;
  /** Integer seed of the service's random values, such as tokens, event ids and device counts. @default 1 */
  readonly seed?: number | undefined;
  /** Mode of the sandbox's clock. @default 'real' */
  readonly clock?: ClockMode | undefined;
  /** Initial time of the sandbox's clock. @default the current time */
  readonly start?: Date | number | undefined;
  /** Durations and outcomes of jobs, and the numbers of devices that they find. */
  readonly jobs?: JobOptions | undefined;
  /** Replaces individual limits of the service. */
  readonly limits?: Optional<SandboxLimits> | undefined;
  /** Fault rules that apply from the first request. See also `sandbox.faults`. */
  readonly faults?: readonly FaultRule[] | undefined;
  /** Origin at which `handlers` serve the API, such as `https://api.example.com`. @default any origin */
  readonly origin?: string | undefined;
  /** Approved hosts other than loopback for the redirect URIs of OAuth clients. @default none */
  readonly redirectHosts?: readonly string[] | undefined;
  /** Function that sends webhook deliveries. @default the global `fetch` */
  readonly deliver?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Clock of the timestamps in webhook signatures. Use `'machine'` if the receiver checks them against the real time
   * and the sandbox's clock differs.
   * @default 'sandbox'
   */
  readonly signatureClock?: 'sandbox' | 'machine' | undefined;
  /**
   * A state from `sandbox.save()` with which the sandbox continues. With the clock mode `'real'`, time continues at the
   * current time, or at the saved time if that is later. Tasks due since the save run first.
   */
  readonly state?: SandboxState | undefined;
  /** Called after each logged request with its entry in `sandbox.log`. */
  readonly onRequest?: ((entry: LogEntry) => void) | undefined;
  /** Called after each attempt to deliver a webhook event. */
  readonly onDelivery?: ((delivery: Delivery) => void) | undefined;
  /** Called after each change of the state, for example to write `sandbox.save()` to a file. */
  readonly onChange?: (() => void) | undefined;
}

const OPTION_NAMES: readonly string[] = [
  'contract',
  'seed',
  'clock',
  'start',
  'jobs',
  'limits',
  'faults',
  'origin',
  'redirectHosts',
  'deliver',
  'signatureClock',
  'state',
  'onRequest',
  'onDelivery',
  'onChange',
] satisfies readonly (keyof SandboxOptions)[];

/** Checks the options. Throws for an unknown name, because a typo would otherwise have no effect. */
export function checkOptions(options: SandboxOptions): void {
  const { contract, seed, clock = 'real', start, origin } = options;
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined)
    throw new Error(`\`${unknown}\` is not an option of the sandbox: use ${OPTION_NAMES.join(', ')}.`);
  if (contract !== undefined) checkContract(contract);
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new Error(`\`seed\` must be an integer, not ${seed}.`);
  checkMode(clock);
  if (start !== undefined && Number.isNaN(new Date(start).getTime()))
    throw new Error(`\`start\` must be a valid date, not ${start}.`);
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin))
    throw new Error(`\`origin\` must be an origin such as "https://api.example.com", not "${origin}".`);
}

/** Maximum values of the limits that are durations, in milliseconds. */
const LONGEST: Readonly<Record<string, number>> = { claimWindow: MAX_DURATION_MS, deliveryTimeout: MAX_TIMER_MS };

const isCount = (value: unknown, max = Number.POSITIVE_INFINITY): boolean =>
  typeof value === 'number' && value >= 0 && value <= max;

/** Checks the limits option, and returns the limits that are set. */
export function checkLimits(limits: Optional<SandboxLimits>): Partial<SandboxLimits> {
  const changes = Object.entries(limits).filter(([, value]) => value !== undefined);
  for (const [name, value] of changes) {
    const standard = Object.entries(SERVICE_LIMITS).find(([key]) => key === name)?.[1];
    if (standard === undefined)
      throw new Error(`\`limits.${name}\` is not a limit: use ${Object.keys(SERVICE_LIMITS).join(', ')}.`);
    const longest = LONGEST[name];
    const { limit, interval }: { readonly limit?: unknown; readonly interval?: unknown } = Object(value);
    const [isValid, requirement] =
      typeof standard === 'object'
        ? [
            isCount(limit) && isCount(interval),
            '{ limit, interval }: numbers of 0 or more, with the interval in milliseconds',
          ]
        : [
            isCount(value, longest),
            longest ? `a number of milliseconds from 0 to ${longest}` : 'a number of 0 or more',
          ];
    if (!isValid) throw new Error(`\`limits.${name}\` must be ${requirement}, not ${JSON.stringify(value)}.`);
  }
  return Object.fromEntries(changes);
}
