import { formatTimestamp } from '../clock.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Endpoint } from '../state.ts';
import { type Delivery, rotateSecret } from '../webhook-deliveries.ts';
import type { SandboxAccount } from './account-admin.ts';
import { reportAs } from './call-source.ts';

/** A webhook endpoint to register. */
export interface NewEndpoint {
  /** Account of the organization that owns the endpoint. @default the first account */
  readonly account?: SandboxAccount | undefined;
  /** Label of the endpoint. @default 'Webhook' */
  readonly name?: string | undefined;
  /** Receiver URL, http or https. */
  readonly url: string;
  /** Subscribed event types. @default all */
  readonly events?: readonly string[] | undefined;
}

/** Changes to a webhook endpoint. Omitted fields remain unchanged. */
export interface EndpointChanges extends Pick<NewEndpoint, 'name' | 'events'> {
  /** Receiver URL, http or https. */
  readonly url?: string | undefined;
}

/** Webhook endpoints and their deliveries, with the actions of the console. */
export interface SandboxWebhooks {
  /** Registers an endpoint. Returns its id and its signing secret. */
  create(input: NewEndpoint): {
    /** Id of the endpoint, for the other methods. */
    readonly id: number;
    /** Signing secret, `whsec_…`. */
    readonly secret: string;
  };
  /** Changes the name, the URL or the events of an endpoint. The next attempts for pending events go to the new URL. */
  update(id: number, changes: EndpointChanges): void;
  /** Replaces the signing secret. For 24 hours, deliveries also contain a signature with the previous secret. */
  rotate(id: number): {
    /** The new signing secret. */
    readonly secret: string;
  };
  /**
   * Deactivates an endpoint. The sandbox drops an event for this endpoint if its next attempt is due before `resume`.
   */
  pause(id: number): void;
  /** Activates an endpoint that was paused or disabled. */
  resume(id: number): void;
  /** Sends a `webhook.test` event to an active endpoint, regardless of subscriptions. */
  test(id: number): void;
  /**
   * Sends an event again, with its id and body, to every active endpoint that it was sent to: up to six attempts, the
   * first immediately. These attempts replace the pending attempts.
   *
   * @param id Id of the event, `evt_…`, which must be in the log.
   */
  redeliver(id: string): void;
  /** Deletes an endpoint. */
  delete(id: number): void;
  /** The latest ended attempts (10,000 unless `limits.logLength` differs), in the order in which they were started. */
  readonly deliveries: readonly Delivery[];
}

/** Event types to which an endpoint can subscribe (specification, "Events"). */
export const EVENT_TYPES: readonly string[] = ['audience', 'activation', 'cohort'].flatMap((family) => [
  `${family}.completed`,
  `${family}.failed`,
]);

export function webhookAdmin(service: Service, recordOf: (account: SandboxAccount) => AccountRecord): SandboxWebhooks {
  const { state, clock, random, webhooks } = service;
  const createSecret = (): string => `whsec_${random.string(32)}`;
  const find = (id: number): Endpoint => {
    const endpoints = [...state.companies.values()].flatMap((company) => company.endpoints);
    const endpoint = endpoints.find((candidate) => candidate.id === id);
    if (!endpoint) throw new Error(`The webhook endpoint ${id} does not exist.`);
    return endpoint;
  };
  const setActive = (id: number, is_active: boolean): void =>
    void Object.assign(find(id), { is_active, consecutiveFailures: 0, updated_at: formatTimestamp(clock.now()) });
  const report = reportAs(service, 'sandbox.webhooks');
  return {
    create: report('create', ({ account, name = 'Webhook', url, events = EVENT_TYPES }) => {
      // Record due job ends first, so that the new endpoint does not receive their events.
      clock.runDue();
      const [first] = state.accounts.values();
      const creator = account ? recordOf(account) : first;
      if (!creator)
        throw new Error('Create an account first: a webhook endpoint belongs to the organization of an account.');
      checkEndpoint(url, events);
      const now = formatTimestamp(clock.now());
      const endpoint: Endpoint = {
        id: state.nextId++,
        name,
        url,
        events: [...events],
        schema_version: 1,
        is_active: true,
        last_delivery_at: null,
        created_at: now,
        updated_at: now,
        creator,
        secret: createSecret(),
        previous: undefined,
        consecutiveFailures: 0,
      };
      creator.company.endpoints.push(endpoint);
      clock.useTimer();
      return { id: endpoint.id, secret: endpoint.secret };
    }),
    update: report('update', (id, { name, url, events }) => {
      const endpoint = find(id);
      checkEndpoint(url ?? endpoint.url, events ?? endpoint.events);
      Object.assign(endpoint, {
        ...(name !== undefined && { name }),
        ...(url !== undefined && { url }),
        ...(events && { events: [...events] }),
        updated_at: formatTimestamp(clock.now()),
      });
    }),
    rotate: report('rotate', (id) => {
      const endpoint = find(id);
      rotateSecret(endpoint, createSecret(), clock.now());
      return { secret: endpoint.secret };
    }),
    pause: report('pause', (id) => setActive(id, false)),
    resume: report('resume', (id) => setActive(id, true)),
    test: report('test', (id) => {
      const endpoint = find(id);
      if (!endpoint.is_active) throw new Error(`Webhook endpoint ${id} is not active. Resume the endpoint first.`);
      webhooks.sendTest(endpoint);
    }),
    redeliver: report('redeliver', (id) => void webhooks.redeliver(id)),
    delete: report('delete', (id) => {
      const endpoint = find(id);
      const { endpoints } = endpoint.creator.company;
      endpoints.splice(endpoints.indexOf(endpoint), 1);
    }),
    get deliveries() {
      return webhooks.deliveries;
    },
  };
}

function checkEndpoint(url: string, events: readonly string[]): void {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol))
    throw new Error('`url` must be an http(s) URL, e.g. "https://example.com/webhooks".');
  if (address.username !== '' || address.password !== '')
    throw new Error('`url` must not contain a user or a password.');
  const unknown = events.find((type) => !EVENT_TYPES.includes(type));
  if (unknown !== undefined)
    throw new Error(`\`events\` must be event types (${EVENT_TYPES.join(', ')}), not "${unknown}".`);
}
