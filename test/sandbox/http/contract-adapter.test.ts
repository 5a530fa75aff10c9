import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, type ClientOptions, openApiDocument, type ServiceContract } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { startBench } from '../../support/sandbox.ts';
import { failureOf } from '../../support/server.ts';
import { startSandbox } from '../support/sandbox-calls.ts';

const contract: ServiceContract = {
  operations: {
    'audiences.get': { path: '/v9/audience/{id}', data: 'data.item' },
    'lookalikes.get': { path: '/v9/lookalike/{id}' },
    'audiences.create': { method: 'PUT', path: '/v9/audience' },
    'audiences.delete': { path: '/v9/audience/delete' },
    'audiences.list': { path: '/v9/audience', data: 'data.items' },
    'auth.login': { path: '/v9/sign-in', data: 'session' },
    'mcp.send': { path: '/v9/mcp' },
  },
  paging: { style: 'cursor', param: 'after', size: 'first', maxSize: 2, next: 'data.next' },
  serverTimeZone: 'America/New_York',
  requestIdHeader: 'x-trace',
};
/** Completes the contract. */
const operations: ClientOptions['operations'] = { 'audiences.delete': { body: (_, { id }) => ({ id }) } };
const start = Date.parse('2026-07-01T12:00:00Z');

describe('a sandbox with a contract', () => {
  it('serves moved operations at their places only, and logs these', async () => {
    const { sandbox, call, token } = startSandbox({ contract, start });
    const created = await call('PUT', '/v9/audience', { token, body: { name: 'A' } });
    expect(created.body).toMatchObject({ data: [{ name: 'A', created_at: '2026-07-01 08:00:00' }] });
    const { id } = created.body.data[0];
    const read = await call('GET', `/v9/audience/${id}`, { token });
    expect(read.body).toMatchObject({ status: 'success', data: { item: [{ id }] } });
    expect((await call('GET', `/v9/lookalike/${id}`, { token })).body).toMatchObject({ data: [{ id }] });
    for (const path of [`/api/v2/audiences/${id}`, '/v9/other']) {
      const { status, body } = await call('GET', path, { token });
      expect([status, body.message]).toEqual([404, `Not found: the API has no operation GET ${path}.`]);
    }
    expect([read.headers.get('x-trace'), read.headers.get('x-request-id')]).toEqual(['req_2', null]);
    expect(sandbox.log.map(({ path }) => path)).toContain('/v9/audience');
    const credentials = { email: 'ada@example.com', password: 'correct horse' };
    expect((await call('POST', '/v9/sign-in', { body: credentials })).body).toMatchObject({
      session: { token: expect.any(String) },
    });
  });

  it('finds an id that a path leaves out in the body', async () => {
    const { call, token } = startSandbox({ contract });
    const { id } = (await call('PUT', '/v9/audience', { token, body: { name: 'A' } })).body.data[0];
    const remove = (body: unknown) => call('POST', '/v9/audience/delete', { token, body });
    expect((await remove({ audience_id: id + 1 })).status).toBe(404);
    expect((await remove({ audience_id: id })).status).toBe(200);
    expect((await call('GET', `/v9/audience/${id}`, { token })).status).toBe(404);
  });

  it('replays a create in the form of the contract', async () => {
    const { call, token } = startSandbox({ contract: { operations: { 'audiences.create': { data: 'result.row' } } } });
    const headers = { 'idempotency-key': 'k' };
    const send = () => call('POST', '/api/v2/audiences/create', { token, body: { name: 'A' }, headers });
    const [first, second] = [await send(), await send()];
    expect(first.body).toMatchObject({ result: { row: [{ name: 'A' }] } });
    expect(second.body).toEqual(first.body);
  });

  it('pages with cursors, and an unknown cursor has no rows', async () => {
    const { call, token } = startSandbox({ contract });
    for (const name of ['A', 'B', 'C']) await call('PUT', '/v9/audience', { token, body: { name } });
    const list = async (query: string) => (await call('GET', `/v9/audience${query}`, { token })).body.data;
    const first = await list('?first=50');
    expect(first.items.map(({ name }: { name: string }) => name)).toEqual(['C', 'B']);
    const last = await list(`?after=${first.next}`);
    expect(last).toMatchObject({ items: [{ name: 'A' }], next: null });
    expect(await list('?after=other')).toMatchObject({ items: [], next: null });
  });

  it('counts a request in the bucket of the contract', async () => {
    const { sandbox, call, token } = startSandbox({ contract: { operations: { 'usage.get': { bucket: 'write' } } } });
    await call('GET', '/api/v2/usage', { token });
    expect(sandbox.log[0]?.bucket).toMatchObject({ name: 'write', used: 1, limit: 30 });
  });

  it('has errors as they are', async () => {
    const { call, token } = startSandbox({ contract });
    const { status, body } = await call('GET', '/v9/audience/77', { token });
    expect([status, body]).toMatchObject([404, { status: 'error', data: [] }]);
  });

  it('applies faults to operations by their names and by their paths', async () => {
    const { sandbox, call, token } = startSandbox({
      contract,
      faults: [{ on: 'audiences.list', status: 503, times: 1 }],
    });
    expect((await call('GET', '/v9/audience', { token })).status).toBe(503);
    sandbox.faults.add({ on: 'GET /v9/{name}', status: 500, times: 1 });
    expect((await call('GET', '/v9/audience', { token })).status).toBe(500);
    expect((await call('GET', '/v9/audience', { token })).status).toBe(200);
  });

  it('offers tools whose calls it sends by the contract', async () => {
    const { url, account, sandbox } = await startBench({ contract });
    const client = new Client({ name: 'test', version: '1' });
    const headers = { authorization: `Bearer ${account.token('mcp')}` };
    await client.connect(new StreamableHTTPClientTransport(new URL('/v9/mcp', url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    const list = tools.find(({ name }) => name === 'audiences_list');
    expect(list).toMatchObject({ description: 'GET /v9/audience' });
    expect(Object.keys(list?.inputSchema.properties ?? {})).toEqual(['after', 'first']);
    const call = async (name: string, input: Record<string, unknown>) => {
      const { content } = await client.callTool({ name, arguments: input });
      const [first] = Array.isArray(content) ? content : [];
      return first?.type === 'text' ? JSON.parse(first.text) : undefined;
    };
    const { id } = (await call('audiences_create', { name: 'By an agent' })).data[0];
    expect(await call('audiences_list', { first: 1 })).toMatchObject({ data: { items: [{ id }], next: null } });
    expect(await call('audiences_delete', { id })).toMatchObject({ code: 200 });
    expect(sandbox.log.map(({ path }) => path)).toContain('/v9/audience/delete');
  });

  it('delivers events with the times of the zone', async () => {
    const bodies: string[] = [];
    const sandbox = createSandbox({
      clock: 'manual',
      start,
      contract,
      deliver: async (request) => {
        bodies.push(await request.text());
        return new Response();
      },
    });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'x' });
    sandbox.webhooks.create({ account, url: 'https://example.com/hook' });
    const client = new AudienceClient({
      baseUrl: 'http://localhost',
      token: account.token('api'),
      fetch: sandbox.fetch,
      contract,
      operations,
    });
    onTestFinished(() => client.close());
    await client.audiences.create({ name: 'A' });
    await sandbox.advance(3_600_000);
    const [event] = bodies.map((body) => JSON.parse(body));
    expect(event).toMatchObject({
      created_at: '2026-07-01T12:10:00.000Z',
      data: { created_at: '2026-07-01 08:00:00', updated_at: '2026-07-01 08:10:00' },
    });
  });

  it('serves the document of its contract, if a client can use it without functions', async () => {
    const { 'audiences.delete': moved, ...operations } = contract.operations ?? {};
    const complete = { ...contract, operations };
    const { body } = await startSandbox({ contract: complete }).call('GET', '/openapi.json');
    const baseUrl = body.servers[0].url;
    expect(body).toEqual(JSON.parse(JSON.stringify(openApiDocument({ contract: complete, baseUrl }))));
    expect(Object.keys(body.paths)).toContain('/v9/audience/{id}');

    const { status, body: refusal } = await startSandbox({ contract }).call('GET', '/openapi.json');
    expect([status, refusal.message]).toEqual([404, expect.stringMatching(/audiences\.delete.*has no \{id\}/)]);
  });

  it('keeps its contract across a saved state only if it is passed again', async () => {
    const { sandbox, call, token } = startSandbox({ contract });
    await call('PUT', '/v9/audience', { token, body: { name: 'A' } });
    const again = createSandbox({ clock: 'manual', state: sandbox.save(), contract });
    onTestFinished(() => again.close());
    const client = new AudienceClient({ baseUrl: 'http://localhost', token, fetch: again.fetch, contract, operations });
    onTestFinished(() => client.close());
    expect((await client.audiences.list()).items).toMatchObject([{ name: 'A' }]);
    const plain = new AudienceClient({ baseUrl: 'http://localhost', token, fetch: again.fetch });
    onTestFinished(() => plain.close());
    expect(await failureOf(plain.audiences.list())).toMatchObject({ status: 404 });
  });
});
