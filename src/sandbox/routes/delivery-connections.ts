/** A connection to a delivery partner. */
export interface DeliveryConnection {
  readonly id: number;
  readonly partner: { readonly name: string; readonly description: string };
  /** Fields of `pricing_model` besides the identifier. */
  readonly pricing: Readonly<Record<string, unknown>>;
}

/** The connections of every account; the first one is the default. They are invented, because none is specified. */
export const CONNECTIONS: readonly DeliveryConnection[] = [
  {
    id: 1,
    partner: { name: 'Sandbox Partner', description: 'Receives the deliveries of the sandbox.' },
    pricing: {},
  },
  {
    id: 2,
    partner: { name: 'Sandbox Ads', description: 'An advertising platform, paid by impression.' },
    pricing: { name: 'CPM', amount: 1.5, currency: 'USD' },
  },
  {
    id: 3,
    partner: { name: 'Sandbox TV', description: 'A television platform, paid by campaign.' },
    pricing: { name: 'Flat', amount: 500, currency: 'USD' },
  },
];

/** The datastreams that an activation can deliver to; the first one is the default. */
export const DATASTREAMS: readonly string[] = ['devices', 'households', 'locations'];
