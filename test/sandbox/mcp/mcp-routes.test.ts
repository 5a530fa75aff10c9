import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as SdkClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as SdkTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startBench } from '../../support/sandbox.ts';
import { MINUTE, startSandbox } from '../support/sandbox-calls.ts';
import { ORIGIN, startOAuth } from '../support/sandbox-oauth.ts';

const path = '/api/v2/mcp';
const message = { jsonrpc: '2.0', id: 1, method: 'ping' };

/** Connects the official client to a sandbox over HTTP. */
async function connect(options = {}) {
  const bench = await startBench(options);
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${bench.account.token('mcp')}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(path, bench.url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  const call = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    const [first] = Array.isArray(content) ? content : [];
    return { isError, body: first?.type === 'text' ? JSON.parse(first.text) : undefined };
  };
  return { ...bench, mcp: client, call };
}

describe('the MCP endpoint', () => {
  it('the MCP endpoint returns 401 without a live token, with the URL of the metadata', async () => {
    const { sandbox } = startSandbox();
    const send = (headers = {}) =>
      sandbox.fetch(`${ORIGIN}${path}`, { method: 'POST', headers: { accept: 'application/json', ...headers } });
    const bare = await send();
    const metadata = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource"`;
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
    const dead = await send({ authorization: 'Bearer dead' });
    expect(dead.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}`);
  });

  it.each(['api', 'login'] as const)(
    'the MCP endpoint returns 403 with insufficient_scope to a token of kind %s',
    async (kind) => {
      const api = startSandbox();
      const response = await api.call('POST', path, { token: api.account.token(kind), body: message });
      expect(response).toMatchObject({ status: 403, body: { code: 403, error: 'insufficient_scope' } });
      expect(response.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="mcp"');
    },
  );

  it('the MCP endpoint accepts MCP tokens and OAuth access tokens', async () => {
    const { account, connect: connectOAuth, ping } = await startOAuth();
    expect(await ping((await connectOAuth()).access_token)).toBe(200);
    expect(await ping(account.token('mcp'))).toBe(200);
  });

  it('the official client finds the operations of the API as tools', async () => {
    const { mcp, call, client } = await connect();
    const names = (await mcp.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('audiences_create');
    expect(names.filter((name) => /auth|mcp/.test(name))).toEqual([]);
    const created = await call('audiences_create', { name: 'By an agent' });
    expect(created).toMatchObject({ isError: false, body: { code: 200, data: [{ name: 'By an agent' }] } });
    const { id } = created.body.data[0];
    expect((await call('audiences_get', { id })).body.data[0].id).toBe(id);
    expect((await call('audiences_list', { per_page: 1 })).body.data).toHaveLength(1);
    expect(await client.audiences.get(id)).toMatchObject({ name: 'By an agent' });
    expect(await call('audiences_get', { id: id + 1 })).toMatchObject({ isError: true, body: { code: 404 } });
    const again = { name: 'Once', idempotency_key: 'k' };
    const ids = [await call('audiences_create', again), await call('audiences_create', again)].map(
      ({ body }) => body.data[0].id,
    );
    expect(ids[0]).toBe(ids[1]);
    expect((await mcp.callTool({ name: 'nothing', arguments: {} })).isError).toBe(true);
    expect(await call('reference_list', { dataset: '..', name: 'usage' })).toMatchObject({ body: { code: 404 } });
    expect(await call('reference_list', { dataset: 'web', name: 'domains', per_page: 3 })).toMatchObject({
      body: { data: [{ id: 1 }, { id: 2 }, { id: 3 }] },
    });
  });

  it('a tool that creates takes the fields of the body that the OpenAPI document describes', async () => {
    const { mcp } = await connect();
    const { tools } = await mcp.listTools();
    const propertiesOf = (tool: string) => tools.find(({ name }) => name === tool)?.inputSchema.properties;
    expect(Object.keys(propertiesOf('schedules_create') ?? {})).toEqual([
      'name',
      'audience_id',
      'interval_hours',
      'idempotency_key',
    ]);
    expect(propertiesOf('lookalikes_create')).toMatchObject({
      source_audience_id: { type: 'integer' },
      config: { properties: { target_size: { maximum: 4_000_000 } } },
    });
    expect(propertiesOf('audiences_get')).toEqual({ id: { type: 'integer' } });
    // The schema of a tool stands alone.
    expect(JSON.stringify(tools)).not.toContain('$ref');
    expect(propertiesOf('uploads_reserve')).toMatchObject({
      kind: { anyOf: [{ enum: ['cohort', 'poi_submission'] }, { type: 'string' }] },
    });
  });

  it.each([1.5, 1e40, -0.1])(
    'the id %s, a number but no safe integer, is refused without being returned',
    async (id) => {
      const api = startSandbox();
      const token = api.account.token('mcp');
      for (const body of [{ ...message, id }, [message, { ...message, id }]]) {
        const response = await api.call('POST', path, { token, body });
        expect(response).toMatchObject({ status: 400, body: { id: null, error: { code: -32_600 } } });
      }
    },
  );

  it.each([
    ['a request', message, { jsonrpc: '2.0', id: 1, result: {} }],
    ['a batch', [message, { ...message, id: 2 }], [{ id: 1 }, { id: 2 }]],
    [
      'a call of a tool',
      { ...message, method: 'tools/call', params: { name: 'usage_get' } },
      { result: { isError: false } },
    ],
  ])('the response to %s is JSON for a client that accepts nothing else', async (_, body, expected) => {
    const api = startSandbox();
    const response = await api.call('POST', path, { token: api.account.token('mcp'), body });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(response.body).toMatchObject(expected);
  });

  it('a notification of a client that accepts only JSON is acknowledged', async () => {
    const { sandbox, account } = startSandbox();
    const headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      authorization: `Bearer ${account.token('mcp')}`,
    };
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    expect((await sandbox.fetch(`${ORIGIN}${path}`, { method: 'POST', headers, body })).status).toBe(202);
    expect((await sandbox.fetch(`${ORIGIN}${path}`, { headers })).status).toBe(405);
  });

  it.each(['schlüssel', '€', 'a\nb', ' ', '', 7, null])(
    'the idempotency key %j of a tool is a 422 and creates nothing',
    async (idempotency_key) => {
      const { call, client } = await connect();
      expect(await call('projects_create', { name: 'x', idempotency_key })).toMatchObject({
        isError: true,
        body: {
          code: 422,
          errors: { idempotency_key: ['The idempotency_key must be a string of printable ASCII characters.'] },
        },
      });
      expect((await client.projects.list()).items).toEqual([]);
    },
  );

  it.each([
    ['audiences_list', { page: { toString: 1 } }, { code: 422, errors: { page: [expect.any(String)] } }],
    ['audiences_get', { id: { toString: 1 } }, { code: 404 }],
  ])('the tool %s called with %j returns an error', async (name, input, body) => {
    const { call } = await connect();
    expect(await call(name, input)).toMatchObject({ isError: true, body });
  });

  it.each([
    ['client', Client, StreamableHTTPClientTransport],
    ['sdk', SdkClient, SdkTransport],
  ])('@modelcontextprotocol/%s lists and calls tools', async (_, OfficialClient, Transport) => {
    const { url, account, client } = await startBench();
    const headers = { authorization: `Bearer ${account.token('mcp')}` };
    const mcp = new OfficialClient({ name: 'test', version: '1' });
    onTestFinished(() => mcp.close());
    await mcp.connect(new Transport(new URL(path, url), { requestInit: { headers } }));
    expect((await mcp.listTools()).tools.map(({ name }) => name)).toContain('projects_create');
    await mcp.callTool({ name: 'projects_create', arguments: { name: 'By an agent' } });
    expect((await client.projects.list()).items).toMatchObject([{ name: 'By an agent' }]);
  });

  it('requests of tools also count in the read and write buckets', async () => {
    const limits = { read: { limit: 2, interval: MINUTE }, write: { limit: 1, interval: MINUTE } };
    const { call, sandbox, client } = await connect({ limits });
    const codes = [];
    for (const name of ['usage_get', 'audiences_create', 'audiences_list', 'audiences_list', 'audiences_create'])
      codes.push((await call(name, name === 'usage_get' ? { yearmonth: '2020-01' } : {})).body.code);
    expect(codes).toEqual([200, 200, 200, 429, 429]);
    expect(sandbox.log.filter(({ path: requested }) => requested === '/api/v2/audiences/index')).toHaveLength(2);
    expect((await client.webhooks.list()).length).toBe(0);
  });
});
