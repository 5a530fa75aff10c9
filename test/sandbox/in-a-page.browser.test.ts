import { Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';
import { createSandbox as createPageSandbox } from '../../src/sandbox/browser.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/index.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { failureOf, quick } from '../support/server.ts';
import { bytesOf } from '../support/storage.ts';

const BASE_URL = 'https://api.example.com';

/** Starts a sandbox in this page, whose jobs end immediately, with an account and a client. */
function startPage(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ jobs: { duration: 0 }, ...options });
  const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'correct horse' });
  const service = { baseUrl: BASE_URL, fetch: sandbox.fetch, ...quick };
  const client = new AudienceClient({ ...service, token: account.token('api') });
  onTestFinished(async () => {
    await client.close();
    await sandbox.close();
  });
  return { sandbox, account, service, client };
}

describe('a sandbox in a page', () => {
  it('receives uploads, and imports a cohort from one', async () => {
    const { client, sandbox } = startPage();
    const data = new Blob(['id\n1\n2\n']);
    const cohort = await client.cohorts.import(data, { name: 'Customers' });
    expect(cohort.status.id).toBe(4);
    expect(sandbox.log.filter(({ method }) => method === 'PUT')).toMatchObject([{ status: 200 }]);
  });

  it('refuses an upload that is larger than its slot', async () => {
    const { client, sandbox } = startPage();
    const { url } = await client.uploads.reserve({ kind: 'cohort', size: 3 });
    expect((await sandbox.fetch(url, { method: 'PUT', body: 'abcd' })).status).toBe(400);
    expect((await sandbox.fetch(url, { method: 'PUT', body: 'abc' })).status).toBe(200);
  });

  it('receives a file as a field of a form', async () => {
    const { client } = startPage();
    const body = new FormData();
    body.set('name', 'Customers');
    body.set('file', new Blob(['id\n1\n']), 'customers.csv');
    const data = await client.request('POST', '/api/v2/cohorts/create', { body });
    expect(data).toMatchObject([{ name: 'Customers' }]);
  });

  it('sends result files', async () => {
    const { client } = startPage();
    const audience = await client.audiences.createAndWait({ name: 'Visitors' });
    const activation = await client.activations.createAndWait({ audience_id: audience.id });
    const sizes: number[] = [];
    const files = client.activations.download(activation.id);
    for await (const { open } of files) sizes.push((await bytesOf(await open())).length);
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.min(...sizes)).toBeGreaterThan(100);
  });

  it('serves MCP clients that accept event streams, and messages that want JSON', async () => {
    const { account, service, client } = startPage();
    const token = account.token('mcp');
    const mcp = await connectMcp({ ...service, token, client: new Client({ name: 'page', version: '1' }) });
    onTestFinished(() => mcp.close());
    const { content } = await mcp.callTool({ name: 'audiences_create', arguments: { name: 'By a page' } });
    expect(JSON.stringify(content)).toContain('By a page');
    const sender = new AudienceClient({ ...service, mcpToken: token });
    onTestFinished(() => sender.close());
    expect(await sender.mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ id: 1, result: {} });
    expect(await client.audiences.list()).toMatchObject({ items: [{ name: 'By a page' }] });
  });

  it('refuses MCP messages that are not JSON, or larger than 4 MiB', async () => {
    const { account, sandbox } = startPage();
    const send = async (body: string) => {
      const headers = {
        authorization: `Bearer ${account.token('mcp')}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      };
      const response = await sandbox.fetch(`${BASE_URL}/api/v2/mcp`, { method: 'POST', headers, body });
      return { status: response.status, body: await response.json() };
    };
    expect(await send('{')).toMatchObject({ status: 400, body: { error: { code: -32700 } } });
    const large = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(4 * 2 ** 20) } });
    expect(await send(large)).toMatchObject({ status: 413, body: { error: { code: -32000 } } });
  });

  it('delivers webhooks to a receiver in the page', async () => {
    const secrets: string[] = [];
    const completed: number[] = [];
    const receiver = createWebhookReceiver({
      secrets,
      on: { 'audience.completed': ({ data }) => void completed.push(data.id) },
    });
    const { client, sandbox, account } = startPage({ deliver: (request) => receiver.handle(request) });
    const url = 'https://receiver.example/webhooks';
    secrets.push(sandbox.webhooks.create({ account, name: 'Page', url, events: ['audience.completed'] }).secret);
    const { id } = await client.audiences.createAndWait({ name: 'Visitors' });
    await expect.poll(() => completed).toEqual([id]);
  });

  it('has a method for `await using`, as the client has, only in engines with its symbol', () => {
    const { client, sandbox } = startPage();
    for (const closable of [client, sandbox]) {
      expect('undefined' in closable).toBe(false);
      expect(Symbol.asyncDispose === undefined || Symbol.asyncDispose in closable).toBe(true);
    }
  });
});

it('the build for browsers cannot listen, and names the way that a page has', async () => {
  const sandbox = createPageSandbox();
  const error = await failureOf(sandbox.listen());
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain('`sandbox.listen` needs Node');
  expect(String(error)).toContain('`sandbox.fetch`');
  await sandbox.close();
});
