import { html } from 'hono/html';
import type { Service } from '../service.ts';
import { DELIVERY_RETRY_WAITS_MS } from '../service-limits.ts';
import type { AccountRecord, Endpoint } from '../state.ts';
import { type DeliveryAttempt, type DeliveryTask, isDisabled } from '../webhook-deliveries.ts';
import { badge, foreign, type Html, httpBadge } from './html.ts';
import { ownerOf, subjectIdOf } from './objects.ts';
import type { Lane, Mark } from './tracks.ts';
import { clockText, count, counted } from './words.ts';

export const MAX_ATTEMPTS = DELIVERY_RETRY_WAITS_MS.length + 1;

export interface DeliveryGroup {
  readonly event: DeliveryAttempt['event'];
  readonly attempts: readonly EndedAttempt[];
  readonly at: number;
  readonly latest: EndedAttempt;
  /** `failed`: the sixth attempt failed, or the endpoint is paused, disabled or deleted. */
  readonly state: keyof typeof STATES;
  readonly retryAt: number | undefined;
}

export type EndedAttempt = DeliveryAttempt & { readonly delivery: NonNullable<DeliveryAttempt['delivery']> };

const hasEnded = (attempt: DeliveryAttempt): attempt is EndedAttempt => attempt.delivery !== undefined;

export const isDelivered = ({ delivery: { status = 0 } }: Pick<EndedAttempt, 'delivery'>): boolean =>
  status >= 200 && status < 300;

/**
 * Groups ended attempts by event and endpoint, the most recent first attempt first. With `account`, returns only the
 * groups of the account or of its organization.
 */
export function groupDeliveries(service: Service, account?: AccountRecord): DeliveryGroup[] {
  const { webhooks, clock } = service;
  const isShown = ({ event }: DeliveryAttempt): boolean =>
    !account || [account, account.company].includes(ownerOf(service, event));
  const attempts = webhooks.attempts.filter(hasEnded).filter(isShown);
  const groups = Map.groupBy(attempts, ({ event: { endpoint, id } }) => `${endpoint.id} ${id}`);
  return [...groups.values()].flatMap((group) => describe(group, clock.now(), webhooks.inFlight)).reverse();
}

export const keptAttempts = ({ webhooks, limits }: Service): string =>
  webhooks.attempts.length < limits.logLength
    ? ''
    : `At most the last ${count(limits.logLength)} delivery attempts are kept.`;

export const deliveryHref = ({ id, endpoint }: DeliveryAttempt['event']): string =>
  `/deliveries?event=${id}&to=${endpoint.id}#detail`;

function describe(attempts: readonly EndedAttempt[], now: number, inFlight: readonly DeliveryTask[]): DeliveryGroup[] {
  const [first] = attempts;
  const latest = attempts.at(-1);
  if (!first || !latest) return [];
  const { event, delivery } = first;
  const { retryAt: next = 0 } = latest.delivery;
  const isSent = inFlight.some((one) => one.event.endpoint === event.endpoint && one.event.id === event.id);
  const retryAt = receives(event.endpoint) && (next > now || (next > 0 && isSent)) ? next : undefined;
  const state = isDelivered(latest) ? 'delivered' : retryAt === undefined ? 'failed' : 'waiting';
  return [{ event, attempts, at: delivery.at, latest, state, retryAt }];
}

export const isAbout = ({ event }: DeliveryGroup, id: number): boolean =>
  event.body.includes(`"id":${id},`) && subjectIdOf(event) === id;

/** Returns why an endpoint receives nothing: an empty string if it is active. */
export function inactiveText(one: Endpoint): string {
  if (!one.creator.company.endpoints.includes(one)) return 'is deleted';
  return one.is_active ? '' : isDisabled(one) ? 'is switched off' : 'is paused';
}
const receives = (one: Endpoint): boolean => inactiveText(one) === '';

/** Returns the names of the endpoints that a redelivery of an event reaches. */
export function receiversOf({ webhooks }: Service, event: string): string {
  const endpoints = webhooks.attempts.flatMap((one) => (one.event.id === event ? one.event.endpoint : []));
  return [...new Set(endpoints.filter(receives))].map(({ name }) => name || 'no name').join(', ');
}

/** Words for the states, the same on the tabs, in the rows and in the navigation. */
export const STATES = { waiting: 'Failing', failed: 'Gave up', delivered: 'Delivered' } as const;

/** Returns how many attempts failed, in all series, and how the delivery ended. */
export function deliverySummary({ event, attempts, latest, state }: DeliveryGroup): string {
  const failures = attempts.filter((attempt) => !isDelivered(attempt)).length;
  if (failures === 0) return 'delivered';
  const failed = `${counted(failures, 'attempt')} failed`;
  if (state === 'waiting') return failed;
  const isStopped = state === 'failed' && latest.delivery.attempt < MAX_ATTEMPTS;
  const reason = isStopped ? ` because the endpoint ${inactiveText(event.endpoint) || 'was not active'}` : '';
  return `${failed}, ${state === 'delivered' ? 'then ' : ''}${STATES[state].toLowerCase()}${reason}`;
}

export function responseBadge({ delivery: { status }, failure = 'unreachable' }: EndedAttempt): Html {
  return status === undefined ? badge('bad', FAILURES[failure]) : httpBadge(status);
}

const FAILURES = { timeout: 'timeout', refused: 'no connection', unreachable: 'no response' } as const;

export function deliveryLane(group: DeliveryGroup): Lane {
  const { event, attempts, retryAt } = group;
  const marks = attempts.map((attempt, index): Mark => {
    const { at, status = 'no response' } = attempt.delivery;
    const title = `Attempt ${index + 1} at ${clockText(at)}: ${status}`;
    return isDelivered(attempt)
      ? { at, tone: 'good', result: 'succeeded', title }
      : { at, tone: 'bad', result: 'failed', title };
  });
  if (retryAt !== undefined)
    marks.push({ at: retryAt, tone: 'busy', result: 'due', title: 'Next attempt', isDue: true });
  const name = html`<a href="${deliveryHref(event)}">${foreign(event.endpoint.name)}</a>`;
  return { name, label: deliverySummary(group), marks };
}
