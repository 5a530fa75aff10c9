/** Compiled against the built package: bodies and queries of any type, also typed by an `interface`. */

import type { AudienceClient, AudienceCreate, FreeRequestOptions, StandardSchema } from 'audience-activation';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Equal<A, B> extends true ? [] : [never]): void => {};

interface Dataset {
  analysis_type: string;
  start_date: string;
  end_date: string;
  domains: string[];
}
interface Visitors {
  name: string;
  segment?: string;
  dataset: Dataset[];
}
interface Grown {
  source_audience_id: number;
  config: Config;
}
interface Config {
  target_size: number;
  expansion: boolean;
}
interface Delivery {
  audience_id: number;
  filters: Filters;
}
interface Filters {
  freq_min: number;
  weekdays: boolean;
}
/** Fields of a resource whose fields are not specified: spread, because an interface has no index signature. */
interface Plan {
  name: string;
  cron: string;
  audience: { id: number };
}
interface Places {
  kind: string;
  size: number;
  country: string;
}
interface Filter {
  per_page?: number;
  search: string | undefined;
}
interface Nested {
  filter: { status: number };
}
interface Arguments {
  cursor: string;
}

export async function bodies(client: AudienceClient, file: Blob): Promise<void> {
  const dates = { start_date: '2026-11-01', end_date: '2026-11-30' };
  const dataset = [{ analysis_type: 'WebDomain', ...dates, domains: ['a.example'] }];
  const visitors: Visitors = { name: 'x', dataset };
  const body: AudienceCreate = visitors.dataset.length > 0 ? { ...visitors } : { name: 'x' };
  await client.audiences.create(body);
  await client.audiences.create(visitors, { timeout: 1_000 });
  await client.audiences.createAndWait(visitors);
  await client.estimates.create(visitors);
  const grown: Grown = { source_audience_id: 1, config: { target_size: 5, expansion: true } };
  await client.lookalikes.create(grown);
  const delivery: Delivery = { audience_id: 1, filters: { freq_min: 1, weekdays: true } };
  await client.activations.createAndWait(delivery);
  const plan: Plan = { name: 'x', cron: '* * * * *', audience: { id: 1 } };
  await client.projects.create({ ...plan });
  await client.schedules.create({ ...plan });
  const places: Places = { kind: 'poi_submission', size: 9, country: 'DE' };
  const reservation = await client.uploads.reserve(places);
  await client.uploads.send(reservation, file);
  await client.uploads.upload({ kind: 'cohort', data: file, fields: { checksum: 'x' } });
  await client.uploads.upload({ kind: 'cohort', data: file }, { onProgress: ({ loaded }) => console.log(loaded) });
  // The earlier form.
  await client.uploads.upload({ kind: 'cohort', data: file, onProgress: ({ loaded }) => console.log(loaded) });
  const params: Arguments = { cursor: 'x' };
  await client.mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
  await client.request('POST', '/x', { body: plan });
}

export function refusedBodies(client: AudienceClient, wrong: { name: number }, places: Omit<Places, 'size'>): void {
  // @ts-expect-error a name is a string
  client.audiences.create(wrong);
  // @ts-expect-error a date is a string
  client.audiences.create({ name: 'x', dataset: [{ analysis_type: 'x', start_date: 7, end_date: '' }] });
  // @ts-expect-error a body is an object
  client.audiences.create([{ name: 'x' }]);
  // @ts-expect-error a body is an object
  client.projects.create('x');
  // @ts-expect-error a size is needed
  client.uploads.reserve(places);
  const forbidden: { audience_id: number; partner_id: number } = { audience_id: 1, partner_id: 7 };
  // @ts-expect-error the service refuses it
  client.activations.create(forbidden);
}

export async function queries(client: AudienceClient): Promise<void> {
  const filter: Filter = { per_page: 10, search: undefined };
  await client.audiences.list(filter);
  await client.projects.list(filter, { timeout: 1_000 });
  await client.reference.list('web', 'domains', filter);
  await client.request('GET', '/x', { query: { ...filter } });
  await client.audiences.list({ page: 2, per_page: 10 }, { query: { search: 'x' } });
  const options: FreeRequestOptions = { query: { page: 1 } };
  await client.request('GET', '/x', options);
}

export function refusedQueries(client: AudienceClient, nested: Nested): void {
  // @ts-expect-error a query is flat
  client.audiences.list(nested);
  // @ts-expect-error a query is flat
  client.audiences.list({ filter: { status: 104 } });
  // @ts-expect-error a page is a number
  client.audiences.list({ page: '2' });
  // @ts-expect-error a query is flat
  client.request('GET', '/x', { query: nested });
  // @ts-expect-error a query is flat
  client.request('GET', '/x', { query: { filter: { status: 104 } } });
  // @ts-expect-error a query is a plain object
  client.request('GET', '/x', { query: new URLSearchParams() });
}

export async function payloads(client: AudienceClient, schema: StandardSchema<Places>): Promise<void> {
  const filter: Filter = { search: 'x' };
  same<Awaited<ReturnType<typeof client.request>>, unknown>();
  const nothing = await client.request('GET', '/x');
  same<typeof nothing, unknown>();
  const unchecked = await client.request<Places>('GET', '/x', { query: { ...filter } });
  same<typeof unchecked, Places>();
  const withResponse = await client.request<Places>('POST', '/x', { body: filter }).withResponse();
  same<typeof withResponse.data, Places>();
  const checked = await client.request('GET', '/x', { schema, query: { ...filter } });
  same<typeof checked, Places>();
  // @ts-expect-error the schema is of another type
  client.request<string>('GET', '/x', { schema });
  // @ts-expect-error it is not known without a type or a schema
  nothing.size.toFixed();
}
