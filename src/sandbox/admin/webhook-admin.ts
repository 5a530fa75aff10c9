import { wireTime } from '../clock.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Endpoint } from '../state.ts';
import { type Delivery, rotateSecret } from '../webhook-deliveries.ts';

/** What the console asks for when an endpoint is registered. */
export interface NewEndpoint {
  /** @default 'Webhook' */
  readonly name?: string | undefined;
  readonly url: string;
  /** Types it subscribes to. @default all */
  readonly events?: readonly string[] | undefined;
}

/** Webhook endpoints, as they are managed in the console. */
export interface Endpoints<Account> {
  /** Registers an endpoint for the company of an account, the first unless given. The secret is shown once. */
  create(input: NewEndpoint & { readonly account?: Account | undefined }): {
    readonly id: number;
    readonly secret: string;
  };
  /** A new secret; for 24 hours deliveries carry a signature of the old one, too. */
  rotate(id: number): { readonly secret: string };
  /** Deliveries stop; an attempt that comes due meanwhile is dropped with all later ones of its event. */
  pause(id: number): void;
  /** Deliveries go on, also after the endpoint was switched off. */
  resume(id: number): void;
  /** Sends a `webhook.test` event, whatever the endpoint subscribes to; an inactive one gets none. */
  test(id: number): void;
  delete(id: number): void;
  /** The latest attempts that have ended (10,000 unless `limits.logLength` differs), in the order they began. */
  readonly deliveries: readonly Delivery[];
}

/** Types that an endpoint can subscribe to ("Events"). */
const EVENT_TYPES: readonly string[] = ['audience', 'activation', 'cohort'].flatMap((family) => [
  `${family}.completed`,
  `${family}.failed`,
]);

/** The console's page of webhook endpoints. */
export function endpointsOf<Account>(
  service: Service,
  recordOf: (account: Account) => AccountRecord,
): Endpoints<Account> {
  const { state, clock, random, webhooks } = service;
  const secret = (): string => `whsec_${random.text(32)}`;
  const activate = (id: number, is_active: boolean): void =>
    void Object.assign(findEndpoint(service, id), { is_active, exhausted: 0, updated_at: wireTime(clock.now()) });
  return {
    create({ account, ...input }) {
      clock.settle();
      const creator = account ? recordOf(account) : [...state.accounts.values()][0];
      if (!creator) throw new Error('Create an account first: a webhook endpoint belongs to its company.');
      const endpoint = newEndpoint(creator, input, state.nextId++, wireTime(clock.now()), secret());
      creator.company.endpoints.push(endpoint);
      clock.keepTime();
      return { id: endpoint.id, secret: endpoint.secret };
    },
    rotate(id) {
      const endpoint = findEndpoint(service, id);
      rotateSecret(endpoint, secret(), clock.now());
      return { secret: endpoint.secret };
    },
    pause: (id) => activate(id, false),
    resume: (id) => activate(id, true),
    test(id) {
      const endpoint = findEndpoint(service, id);
      if (!endpoint.is_active) throw new Error(`Webhook endpoint ${id} is not active: nothing is sent to it.`);
      webhooks.test(endpoint);
    },
    delete(id) {
      const endpoint = findEndpoint(service, id);
      const { endpoints } = endpoint.creator.company;
      endpoints.splice(endpoints.indexOf(endpoint), 1);
    },
    get deliveries() {
      return webhooks.deliveries;
    },
  };
}

function findEndpoint({ state }: Service, id: number): Endpoint {
  const all = [...state.companies.values()].flatMap(({ endpoints }) => endpoints);
  const endpoint = all.find((one) => one.id === id);
  if (!endpoint) throw new Error(`There is no webhook endpoint ${id}.`);
  return endpoint;
}

/** An endpoint just registered. */
function newEndpoint(
  creator: AccountRecord,
  { name = 'Webhook', url, events = EVENT_TYPES }: NewEndpoint,
  id: number,
  now: string,
  secret: string,
): Endpoint {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^https?:$/.test(address.protocol)) throw new Error(`"${url}" is no http(s) address.`);
  if (address.username !== '' || address.password !== '') throw new Error('The url must hold no user or password.');
  const unknown = events.find((type) => !EVENT_TYPES.includes(type));
  if (unknown !== undefined) throw new Error(`"${unknown}" is no type of event: use ${EVENT_TYPES.join(', ')}.`);
  return {
    id,
    name,
    url,
    events: [...events],
    schema_version: 1,
    is_active: true,
    last_delivery_at: null,
    created_at: now,
    updated_at: now,
    creator,
    secret,
    previous: undefined,
    exhausted: 0,
  };
}
