/** Compiled against the built package: what must compile does, and each marked line must not. */

import type * as everything from 'audience-activation';
import {
  type Activation,
  type Audience,
  AudienceClient,
  AudienceError,
  type Cohort,
  JobError,
  type JsonRpcMessage,
  type JsonRpcResponse,
  type Page,
  RateLimitError,
  ValidationError,
} from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Equal<A, B> extends true ? [] : [never]): void => {};

export async function resources(client: AudienceClient, signal: AbortSignal | undefined): Promise<void> {
  same<Awaited<ReturnType<typeof client.audiences.get>>, Audience>();
  same<Awaited<ReturnType<typeof client.activations.wait>>, Activation>();
  same<Awaited<ReturnType<typeof client.cohorts.list>>, Page<Cohort>>();
  same<Awaited<ReturnType<typeof client.audiences.delete>>, void>();

  const audience = await client.audiences.get(1, { signal });
  same<typeof audience.is_activation_allowed, boolean>();
  same<typeof audience.eligibility.metrics.unique_scids, number | null>();
  if (audience.status.id === 104) console.log(audience.name.toUpperCase());
  const kind = audience.dataset[0]?.analysis_type;
  if (kind === 'WebDomain' || kind === 'SomethingNew') console.log(kind);
  // @ts-expect-error not documented
  console.log(audience.some_new_field);
  // @ts-expect-error a resource is not changed by hand
  audience.name = 'other';
  // @ts-expect-error `status` is an object
  audience.status === 104;
  // @ts-expect-error a status id is a number
  audience.status.id === '104';
  // @ts-expect-error an id is a number
  client.audiences.get('1');
}

export async function creates(client: AudienceClient): Promise<void> {
  await client.audiences.create({ name: 'x' }, { extraBody: { a_new_field: { deep: [1] } } });
  await client.activations.create({ audience_id: 1 }, { extraBody: { anything: 'else' } });
  // @ts-expect-error a name is required
  client.audiences.create({});
  // @ts-expect-error a size is required
  client.lookalikes.create({ source_audience_id: 1, config: {} });
  // @ts-expect-error an audience is required
  client.activations.create({ description: 'x' });
  // @ts-expect-error a target size is a number
  client.lookalikes.create({ source_audience_id: 1, config: { target_size: '9' } });
  // @ts-expect-error reads take no idempotency key
  client.audiences.get(1, { idempotencyKey: 'k' });
  await client.audiences.list({ page: undefined }, { query: { status: [104, 107] } });
  // @ts-expect-error no such dataset
  client.reference.list('radio', 'x');
  // @ts-expect-error estimates are not listed
  client.estimates.list();
}

export async function messages(client: AudienceClient, message: JsonRpcMessage): Promise<void> {
  const { mcp } = client;
  const answer = await mcp.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: 'x' } });
  same<typeof answer, JsonRpcResponse>();
  if (answer.error) same<typeof answer.result, undefined>();
  else console.log(answer.result.tools);
  const nothing = await mcp.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  same<typeof nothing, undefined>();
  const either = await mcp.send(message, { timeout: 1_000 });
  same<typeof either, JsonRpcResponse | undefined>();
  // @ts-expect-error the version is a part of it
  mcp.send({ id: 1, method: 'ping' });
  // @ts-expect-error a message does not create anything
  mcp.send(message, { idempotencyKey: 'k' });
}

export function errors(error: unknown): void {
  if (ValidationError.isInstance(error)) {
    same<typeof error.local, boolean>();
    console.log(error.errors.name?.[0], error.outcome);
  }
  if (RateLimitError.isInstance(error)) same<typeof error.retryAt, Date | undefined>();
  if (JobError.isInstance(error)) same<typeof error.id, number>();
  if (error instanceof AudienceError && error.code === 'rate-limited') console.log(error.message);
  // @ts-expect-error no such code
  if (AudienceError.isInstance(error) && error.code === 'rate-limted') console.log(error.message);
}

export function options(): void {
  new AudienceClient({ baseUrl: 'https://x', token: () => 't', rateLimits: { read: { limit: 1, interval: 1 } } });
  new AudienceClient({ operations: { 'audiences.get': 'GET /x/{id}', 'audiences.list': { path: '/x' } } });
  new AudienceClient({
    operations: {
      'audiences.delete': { path: '/x', body: (_, { id }) => ({ id }), retry: 'always', bucket: undefined },
      'audiences.get': { data: async (data, envelope) => [data, envelope] },
    },
  });
  // @ts-expect-error no such field
  new AudienceClient({ operations: { 'audiences.get': { repeat: 'never' } } });
  // @ts-expect-error no such policy
  new AudienceClient({ operations: { 'audiences.get': { retry: 'safe' } } });
  createSandbox({ clock: { speed: 60 }, jobs: { outcome: ({ kind }) => (kind === 'cohort' ? 4 : 104) } });
  // @ts-expect-error no such option
  new AudienceClient({ baseURL: 'https://x' });
  // @ts-expect-error no such operation
  new AudienceClient({ operations: { 'audiences.grow': 'GET /x' } });
  // @ts-expect-error a token belongs to a client for life
  new AudienceClient().withOptions({ token: 't' });
}

/** Classes that only the client constructs cannot be imported as values. */
// @ts-expect-error a type only
export type NoValue = (typeof everything)['ApiPromise'];
