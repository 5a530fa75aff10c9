import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox, type LogEntry } from '../../../src/sandbox/index.ts';
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

/** Imports each module whose path it receives, and responds with the text of its error. */
const IMPORTER = `
process.on('message', async ({ file, token }) => {
  process.env.AUDIENCE_TOKEN = token;
  const error = await import(file).then(() => '', String);
  process.send(error);
});`;

/** Starts a process that runs snippets, one after the other. */
function startImporter(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', IMPORTER], {
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  onTestFinished(() => void child.kill());
  return async (file: string, token: string): Promise<string> => {
    const ended = once(child, 'message');
    child.send({ file: resolve(file), token });
    return String((await ended)[0]);
  };
}

/** Returns the fields that are the same when a request is sent again. */
const sameness = (entry: LogEntry | undefined): object => {
  const { method, path, status, account, replayed }: Partial<LogEntry> = entry ?? {};
  return { method, path, status, account, replayed };
};

describe('the snippets of a request, pasted', () => {
  it('send the same request', async () => {
    const sandbox = createSandbox({ clock: 'manual' });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.create(credentials);
    const token = account.token('api');
    const mcp = account.token('mcp');
    const { url, consoleUrl = '' } = await sandbox.listen({ console: true });
    const { origin, searchParams } = new URL(consoleUrl);
    const operator = { authorization: `Bearer ${searchParams.get('token')}` };
    const folder = await mkdtemp(join('test', 'snippets-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));

    const json = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
      method: 'POST',
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
    const form = new FormData();
    form.set('name', "Bo's");
    form.set('file', new Blob(['a\nb\nc\n']), 'customers.csv');
    const { authorization, accept } = json;
    const registered = await fetch(`${url}/oauth/register`, post({ redirect_uris: ['http://127.0.0.1:1/'] }));
    const { client_id, client_secret } = await registered.json();
    const reservation = await (await fetch(`${url}/api/v2/uploads/create`, post({ kind: 'cohort' }))).json();
    const signature = new URL(reservation.data.url).searchParams.get('signature') ?? '';
    const audience = await (await fetch(`${url}/api/v2/audiences/create`, post({ name: 'x' }))).json();
    const [{ id }] = audience.data;

    const requests: readonly [kind: string, url: string, init: RequestInit, hasCall: boolean][] = [
      ['a list', '/api/v2/audiences/index?page=1&per_page=5', { headers: json }, true],
      ['a read', `/api/v2/audiences/${id}`, { headers: json }, true],
      ['one that does not exist', '/api/v2/cohorts/9999', { headers: json }, true],
      ['a create', '/api/v2/projects/create', post({ name: "Bo's “x” $HOME `id`", tags: [1, { a: null }] }), true],
      ['a replay', '/api/v2/estimates/create', post({ name: 'once' }, { 'idempotency-key': 'k-1' }), true],
      ['an invalid create', '/api/v2/audiences/create', post({ name: 'x', project_id: 77 }), true],
      [
        'delivery credentials',
        '/api/v2/activations/create',
        post({ audience_id: id, credentials: { key: 's3cret' } }),
        true,
      ],
      ['a login', '/api/v2/auth/login', post(credentials), true],
      ['a report', '/api/v2/usage', { headers: json }, true],
      ['reference data', '/api/v2/reference/web/domains?page=2', { headers: json }, true],
      ['the webhooks', '/api/v2/webhooks/index', { headers: json }, true],
      [
        'a message for MCP',
        '/api/v2/mcp',
        post(
          { jsonrpc: '2.0', id: 1, method: 'tools/list' },
          { authorization: `Bearer ${mcp}`, accept: 'application/json, text/event-stream' },
        ),
        true,
      ],
      ['a file', '/api/v2/cohorts/create', { method: 'POST', headers: { accept, authorization }, body: form }, false],
      ['one without a token', '/api/v2/usage', { headers: { accept } }, false],
      ['one that accepts other types', '/api/v2/usage', { headers: { accept: 'text/html', authorization } }, false],
      [
        'bytes',
        '/api/v2/projects/create',
        { method: 'POST', headers: json, body: new Uint8Array([123, 255, 125]) },
        false,
      ],
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
        false,
      ],
      ['no operation', '/api/v2/nothing?api_key=s3cret&x=%20y', { headers: json }, false],
    ];
    const environment = {
      ...process.env,
      AUDIENCE_MAX_RETRIES: '0',
      PASSWORD: credentials.password,
      CREDENTIALS: 's3cret',
      REFRESH_TOKEN: 'rt_nothing',
      CLIENT_SECRET: client_secret,
      API_KEY: 's3cret',
      SIGNATURE: signature,
    };
    const runSnippet = startImporter(environment);
    let next = 1;
    for (const [kind, path, init, hasCall] of requests) {
      await fetch(`${url}${path}`, init);
      if (kind === 'a replay') await fetch(`${url}${path}`, init);
      const original = sandbox.log.at(-1);
      const page = await (await fetch(`${origin}/requests/${original?.id}`, { headers: operator })).text();
      expect([kind, page.includes('s3cret'), page.includes(credentials.password)]).toEqual([kind, false, false]);
      const usedToken = kind === 'a message for MCP' ? mcp : token;
      const env = { ...environment, AUDIENCE_TOKEN: usedToken };
      const [sdk, curl = '', command] = ['sdk', 'curl', 'command'].map((name) => codeOf(page, name));
      expect([kind, sdk !== undefined]).toEqual([kind, hasCall]);
      const programs: readonly (readonly [language: string, code: string])[] = [
        ...(sdk === undefined ? [] : [['sdk', sdk] as const]),
      ];
      const before = sandbox.log.length;
      await run('bash', ['-c', `set -e\n${curl}`], { env });
      expect([kind, 'curl', sameness(sandbox.log[before])]).toEqual([kind, 'curl', sameness(original)]);
      // Tokens and MCP have other commands.
      expect([kind, command !== undefined]).toEqual([kind, hasCall && !/auth|mcp/.test(path)]);
      if (command !== undefined) {
        const start = sandbox.log.length;
        const installed = command.replace('npx aud', `'${process.execPath}' dist/cli.js`);
        const { stderr } = await run('bash', ['-c', installed], { env }).catch((error) => error);
        const again = sandbox.log[start];
        expect([kind, command, again ? sameness(again) : stderr]).toEqual([kind, command, sameness(original)]);
      }
      for (const [language, code] of programs) {
        const file = join(folder, `snippet-${next++}.ts`);
        await writeFile(file, code);
        const start = sandbox.log.length;
        const error = await runSnippet(file, usedToken);
        const again = sandbox.log[start];
        expect([kind, language, again ? sameness(again) : error]).toEqual([kind, language, sameness(original)]);
      }
    }
    await fetch(reservation.data.url, { method: 'PUT', body: 'a\n' });
    const upload = await (await fetch(`${origin}/requests/${sandbox.log.at(-1)?.id}`, { headers: operator })).text();
    expect(upload).not.toContain(signature);
    expect(codeOf(upload, 'curl')).toContain('"$SIGNATURE"');
  });
});
