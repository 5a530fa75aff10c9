import { describe, expect, it } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { credentials, startSandbox } from '../support/sandbox-calls.ts';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

/** Returns the JSON of an object, which counts as one of the levels. */
const bodyOf = (levels: number, more: object = {}): string =>
  JSON.stringify({ ...more, deep: 0 }).replace('"deep":0', `"deep":${nested(levels - 1)}`);

const message = 'The body must not be nested more than 512 levels deep.';

/** Starts a sandbox, and sends it bodies unchanged. */
function start(options: SandboxOptions = {}) {
  const api = startSandbox(options);
  const send = async (path: string, body: string | FormData, more: Record<string, string> = {}) => {
    const json = { 'content-type': 'application/json' };
    const headers = { accept: 'application/json', ...(typeof body === 'string' && json), ...more };
    const response = await api.sandbox.fetch(`http://sandbox${path}`, { method: 'POST', headers, body });
    return { status: response.status, body: await response.json() };
  };
  const authorization = `Bearer ${api.token}`;
  const rows = async (name: string): Promise<unknown[]> =>
    (await api.call('GET', `/api/v2/${name}/index`, { token: api.token })).body.data;
  return { ...api, send, authorization, rows };
}

describe('a body nested more than 512 levels deep', () => {
  it.each(['/api/v2/auth/login', '/api/v2/poi_submissions/create', '/api/v2/audiences/create'])(
    'a body nested more than 512 levels deep is a 422 of POST %s',
    async (path) => {
      const { send, authorization } = start();
      for (const levels of [513, 10_000])
        expect(await send(path, bodyOf(levels, credentials), { authorization })).toEqual({
          status: 422,
          body: { status: 'error', code: 422, message: expect.any(String), data: [], errors: { body: [message] } },
        });
    },
  );

  it('a refused body stores nothing and leaves its idempotency key free', async () => {
    const { send, authorization, rows } = start();
    const headers = { authorization, 'idempotency-key': 'k' };
    for (const name of ['audiences', 'cohorts', 'projects', 'schedules']) {
      const path = `/api/v2/${name}/create`;
      expect((await send(path, bodyOf(10_000), headers)).status).toBe(422);
      expect(await rows(name)).toEqual([]);
    }
    const dataset = `{"analysis_type":"CTV","start_date":"2026-01-01","end_date":"2026-01-02","deep":${nested(10_000)}}`;
    expect((await send('/api/v2/audiences/create', `{"dataset":[${dataset}]}`, headers)).status).toBe(422);
    expect(await rows('audiences')).toEqual([]);
    expect((await send('/api/v2/projects/create', '{}', headers)).status).toBe(200);
  });

  it('a form field nested too deeply is refused', async () => {
    const { send, authorization, rows } = start();
    const form = new FormData();
    form.append('deep', nested(10_000));
    const { status, body } = await send('/api/v2/projects/create', form, { authorization });
    expect([status, body.errors]).toEqual([422, { body: [message] }]);
    expect(await rows('projects')).toEqual([]);
  });

  it('a registration nested too deeply is invalid_client_metadata', async () => {
    const { send } = start();
    expect(await send('/oauth/register', `{"redirect_uris":[${nested(10_000)}]}`)).toEqual({
      status: 400,
      body: { error: 'invalid_client_metadata', error_description: message },
    });
  });

  it('an MCP message nested too deeply is a parse error', async () => {
    const { send, account, rows } = start();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'projects_create', arguments: '…' } };
    const text = JSON.stringify(call).replace('"…"', bodyOf(10_000));
    const headers = {
      authorization: `Bearer ${account.token('mcp')}`,
      accept: 'application/json, text/event-stream',
    };
    expect(await send('/api/v2/mcp', text, headers)).toEqual({
      status: 400,
      body: { jsonrpc: '2.0', id: null, error: { code: -32700, message } },
    });
    expect(await rows('projects')).toEqual([]);
  });
});

describe('a body nested 512 levels deep', () => {
  it('a body nested 512 levels deep is stored, listed, and sent with the event of an audience', async () => {
    const events: string[] = [];
    const { sandbox, account, send, authorization, rows } = start({
      async deliver(request) {
        events.push(await request.text());
        return new Response();
      },
    });
    sandbox.webhooks.create({ account, url: 'https://receiver.example/' });
    const project = (await send('/api/v2/projects/create', bodyOf(512), { authorization })).body.data[0];
    expect(await rows('projects')).toEqual([project]);
    const body = JSON.stringify({ project_id: project.id });
    const audience = (await send('/api/v2/audiences/create', body, { authorization })).body.data[0];
    sandbox.jobs.finish('audience', audience.id, 104);
    await sandbox.advance(0);
    expect(events).toEqual([expect.stringContaining(nested(511))]);
  });
});
