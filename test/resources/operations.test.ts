import { describe, expect, it } from 'vitest';
import type { AudienceClient, OperationName } from '../../src/index.ts';
import { operations } from '../../src/spec/operations.ts';
import { clientOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

const credentials = { email: 'ada@example.com', password: 'correct horse' };
const id = 42;

/** One call of each operation; an operation without one does not compile. */
const calls: Readonly<Record<OperationName, (client: AudienceClient) => PromiseLike<unknown>>> = {
  'auth.login': ({ auth }) => auth.login(credentials),
  'auth.createApiToken': ({ auth }) => auth.createApiToken(credentials),
  'auth.revokeApiTokens': ({ auth }) => auth.revokeApiTokens(credentials),
  'auth.createMcpToken': ({ auth }) => auth.createMcpToken(credentials),
  'auth.revokeMcpTokens': ({ auth }) => auth.revokeMcpTokens(credentials),
  'audiences.create': ({ audiences }) => audiences.create({ name: 'x' }),
  'audiences.get': ({ audiences }) => audiences.get(id),
  'audiences.list': ({ audiences }) => audiences.list(),
  'audiences.delete': ({ audiences }) => audiences.delete(id),
  'lookalikes.create': ({ lookalikes }) => lookalikes.create({ source_audience_id: 1, config: { target_size: 9 } }),
  'lookalikes.cancel': ({ lookalikes }) => lookalikes.cancel(id),
  'lookalikes.get': ({ lookalikes }) => lookalikes.get(id),
  'estimates.create': ({ estimates }) => estimates.create({}),
  'estimates.get': ({ estimates }) => estimates.get(id),
  'activations.create': ({ activations }) => activations.create({ audience_id: 1 }),
  'activations.get': ({ activations }) => activations.get(id),
  'activations.list': ({ activations }) => activations.list(),
  'activations.delete': ({ activations }) => activations.delete(id),
  'cohorts.create': ({ cohorts }) => cohorts.create({ upload_reference: 'r' }),
  'cohorts.get': ({ cohorts }) => cohorts.get(id),
  'cohorts.list': ({ cohorts }) => cohorts.list(),
  'cohorts.delete': ({ cohorts }) => cohorts.delete(id),
  'projects.create': ({ projects }) => projects.create({ name: 'x' }),
  'projects.get': ({ projects }) => projects.get(id),
  'projects.list': ({ projects }) => projects.list(),
  'projects.delete': ({ projects }) => projects.delete(id),
  'schedules.create': ({ schedules }) => schedules.create({ name: 'x' }),
  'schedules.get': ({ schedules }) => schedules.get(id),
  'schedules.list': ({ schedules }) => schedules.list(),
  'schedules.delete': ({ schedules }) => schedules.delete(id),
  'uploads.reserve': ({ uploads }) => uploads.reserve({ kind: 'cohort', size: 1 }),
  'mcp.send': ({ mcp }) => mcp.send({ jsonrpc: '2.0', method: 'ping', id: 1 }),
  'webhooks.list': ({ webhooks }) => webhooks.list(),
  'usage.get': ({ usage }) => usage.get(),
  'reference.list': ({ reference }) => reference.list('common', 'countries'),
};

const activation = {
  ...wireAudience(id),
  description: 'x',
  audience: { id, name: 'x' },
  partner: { name: 'x', description: 'x' },
  pricing_model: { name: 'x' },
  datastreams: [],
  filters: { freq_limit: false, freq_min: null, freq_max: null },
  filter_hash: null,
};

function answerTo(name: string): unknown {
  if (name.endsWith('.list') || name.endsWith('.delete') || name.endsWith('.cancel')) return [];
  if (name.startsWith('auth.')) return { token: 't', expires_at: '2027-01-01T00:00:00+00:00', revoked: 1 };
  if (name === 'usage.get') return { build_budget: { hour: { limit: 1, used: 0 }, day: { limit: 1, used: 0 } } };
  if (name === 'uploads.reserve') return { reference: 'r', url: 'https://storage.example/slot', expires_at: '' };
  if (name.startsWith('activations.')) return [activation];
  if (name.startsWith('cohorts.')) return [{ ...wireAudience(id), total_eids: 1, source: 'file' }];
  return [wireAudience(id)];
}

describe('every operation of the table', () => {
  it('has a call', () => {
    expect(Object.keys(operations).filter((name) => !(name in calls))).toEqual([]);
  });

  it('polls of waits are in the bucket that paces them', () => {
    const rows = Object.entries(operations).filter(([name]) => /\.(?:get|list)$/.test(name));
    expect(rows.filter(([, { bucket }]) => bucket !== 'read')).toEqual([]);
  });

  it.each(Object.entries(calls))('%s is sent as the table says', async (name, call) => {
    const { method, path, retry, token, reads } = operations[name as keyof typeof calls];
    const pong = { text: JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }) };
    const server = await startServer([reads === 'json-rpc' ? pong : { data: answerTo(name) }]);
    await call(clientOf(server, { mcpToken: 'test-mcp-token', validation: 'strict' }));
    const seen = await server.seen();
    const filled = path.replace('{id}', '42').replace('{dataset}', 'common').replace('{name}', 'countries');
    expect(seen.map(({ method: sent, url }) => `${sent} ${url.split('?')[0]}`)).toEqual([`${method} ${filled}`]);
    expect('idempotency-key' in (seen[0]?.headers ?? {})).toBe(retry === 'idempotency-key');
    const bearers = { none: undefined, general: 'Bearer test-token', mcp: 'Bearer test-mcp-token' };
    expect(seen[0]?.headers.authorization).toBe(bearers[token]);
  });
});
