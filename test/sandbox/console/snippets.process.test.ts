import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, type LogEntry } from '../../../src/sandbox/index.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { credentials } from '../../support/sandbox.ts';

const run = promisify(execFile);

/** Returns the code in an element of a page, as it is copied. */
function codeOf(page: string, id: string): string | undefined {
  const [, code] = new RegExp(`<pre id="${id}"[^>]*>([^]*?)</pre>`).exec(page) ?? [];
  return code
    ?.replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** Returns the fields that are the same when a request is sent again. */
const sameness = (entry: LogEntry | undefined): object => {
  const { method, path, status, account, replayed }: Partial<LogEntry> = entry ?? {};
  return { method, path, status, account, replayed };
};

describe('the curl command of a request, pasted', () => {
  it('sends the same request', async () => {
    const sandbox = createSandbox({ clock: 'manual' });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.create(credentials);
    const token = account.token('api');
    const mcp = account.token('mcp');
    const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
    const { origin, searchParams } = new URL(consoleUrl);
    const operator = { authorization: `Bearer ${searchParams.get('token')}` };

    const json = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
    const form = new FormData();
    form.set('name', "Bo's");
    form.set('file', new Blob(['a\nb\nc\n']), '../customers.csv');
    const { authorization, accept } = json;
    const registered = await fetch(`${url}/oauth/register`, post({ redirect_uris: ['http://127.0.0.1:1/'] }));
    const { client_id, client_secret } = await registered.json();
    const reservation = await (await fetch(`${url}/api/v2/uploads/create`, post({ kind: 'cohort' }))).json();
    const signature = new URL(reservation.data.url).searchParams.get('signature') ?? '';
    const audience = await (await fetch(`${url}/api/v2/audiences/create`, post({ name: 'x' }))).json();
    const [{ id }] = audience.data;

    const requests: readonly [kind: string, url: string, init: RequestInit][] = [
      ['a list', '/api/v2/audiences/index?page=1&per_page=5', { headers: json }],
      ['a read', `/api/v2/audiences/${id}`, { headers: json }],
      ['one that does not exist', '/api/v2/cohorts/9999', { headers: json }],
      ['a create', '/api/v2/projects/create', post({ name: "Bo's “x” $HOME `id`", tags: [1, { a: null }] })],
      ['a replay', '/api/v2/estimates/create', post({ name: 'once' }, { 'idempotency-key': 'k-1' })],
      ['an invalid create', '/api/v2/audiences/create', post({ name: 'x', project_id: 77 })],
      ['delivery credentials', '/api/v2/activations/create', post({ audience_id: id, credentials: { key: 's3cret' } })],
      ['a login', '/api/v2/auth/login', post(credentials)],
      ['a report', '/api/v2/usage', { headers: json }],
      ['reference data', '/api/v2/reference/web/domains?page=2', { headers: json }],
      ['the webhooks', '/api/v2/webhooks/index', { headers: json }],
      [
        'a message for MCP',
        '/api/v2/mcp',
        post(
          { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          { authorization: `Bearer ${mcp}`, accept: 'application/json, text/event-stream' },
        ),
      ],
      ['a file', '/api/v2/cohorts/create', { method: 'POST', headers: { accept, authorization }, body: form }],
      ['one without a token', '/api/v2/usage', { headers: { accept } }],
      ['one that accepts other types', '/api/v2/usage', { headers: { accept: 'text/html', authorization } }],
      ['bytes', '/api/v2/projects/create', { method: 'POST', headers: json, body: new Uint8Array([123, 255, 125]) }],
      [
        'a form with secrets',
        '/oauth/token',
        {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            refresh_token: 'rt_nothing',
            client_id,
            client_secret,
          }),
        },
      ],
      ['no operation', '/api/v2/nothing?api_key=s3cret&x=%20y', { headers: json }],
    ];
    const environment = {
      ...process.env,
      PASSWORD: credentials.password,
      CREDENTIALS: 's3cret',
      REFRESH_TOKEN: 'rt_nothing',
      CLIENT_SECRET: client_secret,
      API_KEY: 's3cret',
      SIGNATURE: signature,
    };
    const folder = await temporaryDirectory();
    await writeFile(join(folder, 'customers.csv'), 'a\nb\nc\n');
    await writeFile(join(folder, 'body'), new Uint8Array([123, 255, 125]));
    for (const [kind, path, init] of requests) {
      await fetch(`${url}${path}`, init);
      if (kind === 'a replay') await fetch(`${url}${path}`, init);
      const original = sandbox.log.at(-1);
      const page = await (await fetch(`${origin}/requests/${original?.id}`, { headers: operator })).text();
      expect([kind, page.includes('s3cret'), page.includes(credentials.password)]).toEqual([kind, false, false]);
      const usedToken = kind === 'a message for MCP' ? mcp : token;
      const env = { ...environment, AUDIENCE_TOKEN: usedToken };
      const curl = codeOf(page, 'curl');
      const before = sandbox.log.length;
      await run('bash', ['-c', `set -e\n${curl}`], { env, cwd: folder });
      expect([kind, 'curl', sameness(sandbox.log[before])]).toEqual([kind, 'curl', sameness(original)]);
    }
    await fetch(reservation.data.url, { method: 'PUT', body: 'a\n' });
    const upload = await (await fetch(`${origin}/requests/${sandbox.log.at(-1)?.id}`, { headers: operator })).text();
    expect(upload).not.toContain(signature);
    expect(upload).not.toContain('id="curl"');
  });
});
