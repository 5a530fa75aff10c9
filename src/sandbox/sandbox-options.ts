import type { Optional } from '../util/input-types.ts';
import type { ClockMode } from './clock.ts';
import type { FaultRule } from './faults.ts';
import type { JobOptions } from './jobs.ts';
import { type SandboxLimits, SERVICE_LIMITS } from './service-limits.ts';
import type { LogEntry } from './state.ts';
import type { Delivery } from './webhook-deliveries.ts';

/** Options of a sandbox. */
export interface SandboxOptions {
  /** Decides all randomness; an integer. @default 1 */
  readonly seed?: number | undefined;
  /** @default 'real' */
  readonly clock?: ClockMode | undefined;
  /** The sandbox's time when it is created. @default the machine's */
  readonly start?: Date | number | undefined;
  readonly jobs?: JobOptions | undefined;
  /** Replaces single limits of the service. */
  readonly limits?: Optional<SandboxLimits> | undefined;
  /** What goes wrong on purpose, from the first request on. */
  readonly faults?: readonly FaultRule[] | undefined;
  /** Origin at which `handlers` answer the API, like `https://api.example.com`. @default any origin */
  readonly origin?: string | undefined;
  /** Hosts beyond loopback that OAuth clients may be redirected to. @default none */
  readonly redirectHosts?: readonly string[] | undefined;
  /** Sends webhook deliveries in place of the global `fetch`. */
  readonly deliver?: ((request: Request) => Promise<Response>) | undefined;
  /**
   * Whose time signatures of deliveries hold: `machine` is for receivers that know no sandbox while its clock is fast.
   * @default 'sandbox'
   */
  readonly signatureClock?: 'sandbox' | 'machine' | undefined;
  /** Called with each request once it is answered, as it goes into `log`. */
  readonly onRequest?: ((entry: LogEntry) => void) | undefined;
  /** Called with each attempt to deliver an event once it has ended. */
  readonly onDelivery?: ((delivery: Delivery) => void) | undefined;
}

/** The fastest clock: at more, a day of the machine would pass the last date there is. */
const FASTEST = 1e6;

/** Every option, so that one that is misspelt is told and not ignored. */
const OPTION_NAMES = [
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
  'onRequest',
  'onDelivery',
] as const satisfies readonly (keyof SandboxOptions)[];

/** Refuses what no sandbox can be made of. */
export function checkOptions(options: SandboxOptions): void {
  const { seed, clock = 'real', start, origin, limits = {} } = options;
  const unknown = Object.keys(options).find((name) => !OPTION_NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`There is no option \`${unknown}\` of a sandbox.`);
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw new Error(`\`seed\` must be an integer, not ${seed}.`);
  const speed = typeof clock === 'object' ? clock.speed : 1;
  if (!(speed > 0 && speed <= FASTEST))
    throw new Error(`\`clock.speed\` must be a number above 0, up to ${FASTEST}, not ${speed}.`);
  if (typeof clock !== 'object' && clock !== 'real' && clock !== 'manual')
    throw new Error(`\`clock\` must be 'real', 'manual' or { speed }, not ${String(clock)}.`);
  if (start !== undefined && Number.isNaN(new Date(start).getTime())) throw new Error('`start` must be a date.');
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).origin !== origin))
    throw new Error(`\`origin\` must be like "https://api.example.com", not "${origin}".`);
  for (const [name, limit] of Object.entries(limits)) checkLimit(name, limit);
}

function checkLimit(name: string, limit: unknown): void {
  if (limit === undefined) return;
  const ofService = Object.entries(SERVICE_LIMITS).find(([known]) => known === name)?.[1];
  if (ofService === undefined)
    throw new Error(`There is no limit \`${name}\`: ${Object.keys(SERVICE_LIMITS).join(', ')}.`);
  const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0;
  const isWindow = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    'limit' in value &&
    'interval' in value &&
    isCount(value.limit) &&
    isCount(value.interval);
  const fits = typeof ofService === 'object' ? isWindow(limit) : isCount(limit);
  const shape = typeof ofService === 'object' ? '{ limit, interval }, in milliseconds' : 'a number from 0';
  if (!fits) throw new Error(`The limit \`${name}\` must be ${shape}.`);
}
