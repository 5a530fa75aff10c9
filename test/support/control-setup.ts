import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { createSandbox } from '../../src/sandbox/index.ts';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    controlUrl: string;
  }
}

/** Starts a sandbox over HTTP, and issues a token for its MCP endpoint. */
async function startSandbox(): Promise<ScriptedServer & { readonly token: string }> {
  const sandbox = createSandbox();
  const token = sandbox.accounts.create({ email: 'ada@example.com', password: 'correct horse' }).token('mcp');
  return { ...(await sandbox.listen()), seen: [], token };
}

/** Starts and stops scripted servers and sandboxes on request, because tests in browsers cannot start servers. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, ScriptedServer>();
  let next = 1;
  const control = createServer(async (request, response) => {
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': 'content-type',
    };
    const id = (request.url ?? '').slice(1);
    let body = '';
    for await (const chunk of request) body += chunk;
    let answer: unknown = {};
    if (request.method === 'POST') {
      const server = id === 'sandbox' ? await startSandbox() : await startScriptedServer(JSON.parse(body));
      const name = String(next++);
      servers.set(name, server);
      answer = { id: name, url: server.url, ...('token' in server && { token: server.token }) };
    } else if (request.method === 'GET') {
      answer = servers.get(id)?.seen ?? [];
    } else if (request.method === 'DELETE') {
      await servers.get(id)?.close();
      servers.delete(id);
    }
    response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  // Keep idle connections open: a worker uses the same ones for all its tests, and a busy worker may not notice that
  // the server closes one.
  control.keepAliveTimeout = 600_000;
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  project.provide('controlUrl', `http://127.0.0.1:${(control.address() as AddressInfo).port}`);
  return async () => {
    await Promise.all([...servers.values()].map((server) => server.close()));
    control.closeAllConnections();
    await new Promise((resolve) => control.close(resolve));
  };
}
