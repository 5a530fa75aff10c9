import { Client } from '@modelcontextprotocol/client';
import { expect, inject, it, onTestFinished } from 'vitest';
import { PermissionError } from '../../src/index.ts';
import { connectMcp } from '../../src/mcp/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { failureOf, quick } from '../support/server.ts';

const create = () => new Client({ name: 'page', version: '1' });

it('connectMcp connects a client in a page to a service on another origin', async () => {
  const control = inject('controlUrl');
  const { id, url, token } = await (await fetch(`${control}/sandbox`, { method: 'POST' })).json();
  onTestFinished(async () => void (await fetch(`${control}/${id}`, { method: 'DELETE' })));
  expect(new URL(url).origin).not.toBe(location.origin);
  const client = await connectMcp({ baseUrl: url, token, client: create(), ...quick });
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('audiences_create');
  const { content } = await client.callTool({ name: 'audiences_create', arguments: { name: 'By a page' } });
  expect(JSON.stringify(content)).toContain('By a page');
});

it('connectMcp retries in a page, and reports refusals', async () => {
  const sandbox = createSandbox({ faults: [{ on: 'mcp.send', status: 503, times: 2 }] });
  const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'correct horse' });
  const service = { baseUrl: 'https://api.example.com', fetch: sandbox.fetch, ...quick };
  const client = await connectMcp({ ...service, token: account.token('mcp'), client: create() });
  onTestFinished(() => client.close());
  await client.ping();
  const error = await failureOf(connectMcp({ ...service, token: account.token('api'), client: create() }));
  expect(PermissionError.isInstance(error)).toBe(true);
});
