import { html } from 'hono/html';
import { DELIVERY_RETRY_WAITS_MS } from '../service-limits.ts';
import type { DeliveryAttempt } from '../webhook-deliveries.ts';
import { foreign } from './html.ts';
import type { Lane, Mark } from './tracks.ts';
import { counted } from './words.ts';

/** Number of attempts after which a delivery is exhausted. */
export const MAX_ATTEMPTS = DELIVERY_RETRY_WAITS_MS.length + 1;

/**
 * State of the delivery of an event to an endpoint: `exhausted` after the last attempt, `stopped` if there is none because the endpoint is
 * paused, disabled or deleted.
 */
type DeliveryState = 'delivered' | 'waiting' | 'exhausted' | 'stopped';

/** All attempts to deliver an event to an endpoint, the first one first. */
export interface DeliveryGroup {
  readonly event: DeliveryAttempt['event'];
  readonly attempts: readonly EndedAttempt[];
  /** Time of the first attempt. */
  readonly at: number;
  readonly latest: EndedAttempt;
  readonly state: DeliveryState;
  /** Time of the next attempt, if there is one. */
  readonly retryAt: number | undefined;
}

/** An attempt that has ended. */
export type EndedAttempt = DeliveryAttempt & { readonly delivery: NonNullable<DeliveryAttempt['delivery']> };

const hasEnded = (attempt: DeliveryAttempt): attempt is EndedAttempt => attempt.delivery !== undefined;

/** Returns whether an attempt was successful. */
export const isDelivered = ({ delivery: { status = 0 } }: Pick<EndedAttempt, 'delivery'>): boolean =>
  status >= 200 && status < 300;

/** Groups attempts by their event and endpoint, those that were first attempted last in front. */
export function groupDeliveries(attempts: readonly DeliveryAttempt[], now: number): DeliveryGroup[] {
  const groups = Map.groupBy(attempts.filter(hasEnded), ({ event: { endpoint, id } }) => `${endpoint.id} ${id}`);
  return [...groups.values()].flatMap((group) => describe(group, now)).reverse();
}

function describe(attempts: readonly EndedAttempt[], now: number): DeliveryGroup[] {
  const [first] = attempts;
  const latest = attempts.at(-1);
  if (!first || !latest) return [];
  const { event, delivery } = first;
  const { endpoint } = event;
  const isReachable = endpoint.is_active && endpoint.creator.company.endpoints.includes(endpoint);
  const times = attempts.flatMap(({ delivery: { retryAt = 0 } }) => (isReachable && retryAt > now ? [retryAt] : []));
  const retryAt = times.length > 0 ? Math.min(...times) : undefined;
  return [{ event, attempts, at: delivery.at, latest, state: stateOf(latest, retryAt), retryAt }];
}

function stateOf(latest: EndedAttempt, retryAt: number | undefined): DeliveryState {
  if (isDelivered(latest)) return 'delivered';
  if (retryAt !== undefined) return 'waiting';
  return latest.delivery.attempt >= MAX_ATTEMPTS ? 'exhausted' : 'stopped';
}

/** Returns the attempts of a delivery to scale, and the next one. */
export function deliveryLane({ event, attempts, state, retryAt }: DeliveryGroup): Lane {
  const marks = attempts.map((attempt): Mark => {
    const { at, attempt: number, status = 'no response' } = attempt.delivery;
    const title = `Attempt ${number} at ${new Date(at).toISOString().slice(11, 19)}: ${status}`;
    return { at, tone: isDelivered(attempt) ? 'good' : 'bad', title };
  });
  const next: Mark[] = retryAt === undefined ? [] : [{ at: retryAt, tone: 'busy', title: 'Next attempt', isDue: true }];
  const name = html`<a href="/deliveries?event=${event.id}&to=${event.endpoint.id}#detail">${foreign(event.endpoint.name)}</a>`;
  const label =
    state === 'delivered'
      ? 'delivered'
      : `${counted(attempts.length, 'attempt')} failed${retryAt === undefined ? ', gave up' : ''}`;
  return { name, label, marks: [...marks, ...next] };
}
