import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';
import { failureOf, quick } from '../../support/server.ts';

const baseUrl = 'https://api.example.com';

/** Starts a client whose requests msw passes to a sandbox. */
function start(options: SandboxOptions = {}) {
  const { contract } = options;
  const sandbox = createSandbox({ clock: 'manual', ...options });
  const token = sandbox.accounts.create(credentials).token('api');
  const client = new AudienceClient({ baseUrl, token, contract, ...quick });
  const server = setupServer(
    ...sandbox.handlers,
    http.get('https://other.example.com/*', () => HttpResponse.text('other')),
  );
  server.listen({ onUnhandledFrame: 'error' });
  onTestFinished(async () => {
    server.close();
    await client.close();
  });
  return { sandbox, client, server };
}

describe('handlers for msw', () => {
  it('the handlers serve the sandbox at any origin, storage included', async () => {
    const { client, sandbox } = start();
    const { id } = await client.audiences.create({ name: 'Behind msw' });
    expect(await client.audiences.get(id)).toMatchObject({ name: 'Behind msw' });
    const { reference } = await client.uploads.upload({ kind: 'cohort', data: new Blob(['eid\n1\n2\n']) });
    const cohort = await client.cohorts.create({ name: 'x', upload_reference: reference });
    sandbox.jobs.finish('cohort', cohort.id, 4);
    expect((await client.cohorts.get(cohort.id)).total_eids).toBe(2);
  });

  it('the handlers serve the paths of a contract', async () => {
    const { client } = start({
      contract: {
        operations: { 'audiences.create': { path: '/v9/audience' }, 'audiences.get': { path: '/v9/audience/{id}' } },
      },
    });
    const { id } = await client.audiences.create({ name: 'Moved' });
    expect(await client.audiences.get(id)).toMatchObject({ name: 'Moved' });
    expect((await client.audiences.list()).items).toHaveLength(1);
  });

  it('requests to other origins pass if `origin` is set', async () => {
    // msw reports unhandled requests there.
    vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const { client, server } = start({ origin: 'https://elsewhere.example.com' });
    expect(await (await fetch('https://other.example.com/x')).text()).toBe('other');
    expect(await failureOf(client.usage.get(undefined, { maxRetries: 0 }))).toMatchObject({ name: 'ConnectionError' });
    const response = await fetch('https://elsewhere.example.com/api/v2/usage');
    expect(response.status).toBe(406);
    server.resetHandlers();
    server.restoreHandlers();
    expect((await fetch('https://elsewhere.example.com/api/v2/usage')).status).toBe(406);
  });

  it('two sandboxes each serve their own origin, storage included', async () => {
    const origins = ['https://a.example', 'https://b.example'];
    const sandboxes = origins.map((origin) => createSandbox({ origin }));
    const server = setupServer(...sandboxes.flatMap(({ handlers }) => handlers));
    server.listen({ onUnhandledFrame: 'error' });
    onTestFinished(() => server.close());
    for (const [index, sandbox] of sandboxes.entries()) {
      const token = sandbox.accounts.create(credentials).token('api');
      await using client = new AudienceClient({ baseUrl: origins[index] ?? '', token, ...quick });
      await client.uploads.upload({ kind: 'cohort', data: new Blob(['a\n']) });
      expect(sandbox.log.map(({ method, status }) => `${method} ${status}`)).toEqual(['POST 200', 'PUT 200']);
    }
  });

  it('a cut connection is a network error', async () => {
    const { client } = start({
      faults: [
        { cut: 'after', on: 'audiences.create' },
        { cut: 'body', on: 'usage.get' },
      ],
    });
    const once = { maxRetries: 0 };
    expect(await failureOf(client.audiences.create({ name: 'A' }, once))).toMatchObject({ name: 'ConnectionError' });
    expect((await client.audiences.list()).items).toHaveLength(1);
    expect(await failureOf(client.usage.get(undefined, once))).toMatchObject({ name: 'ConnectionError' });
  });
});
