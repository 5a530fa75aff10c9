import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const BODY = { name: 'Visitors' };

describe('--dry-run', () => {
  it('prints the entire request with --fields, and needs no account', async () => {
    const { run } = await startScene();
    const env = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
    const args = ['tokens', 'revoke', '--email', 'ann@example.com', '--dry-run', '--json', '--fields', 'revoked'];
    const { code, out } = await run(args, { env });
    expect({ code, request: linesOf(out) }).toMatchObject({
      code: 0,
      request: [{ method: 'POST', body: { email: 'ann@example.com' } }],
    });
  });

  it.each([
    [['audiences', 'create', '--name', 'Visitors', '--wait'], ['POST /api/v2/audiences/create'], BODY],
    [['audiences', 'delete', '5', '6', '7'], [5, 6, 7].map((id) => `POST /api/v2/audiences/${id}/delete`), null],
    [['lookalikes', 'cancel', '4'], ['POST /api/v2/lookalikes/4/cancel'], null],
    [['cohorts', 'import', 'FILE'], ['POST /api/v2/uploads/create', 'POST /api/v2/cohorts/create'], { size: 5 }],
    [['request', 'PUT', '/api/v2/x', '--data', '{"name":"Visitors"}', '--query', 'a=b'], ['PUT /api/v2/x?a=b'], BODY],
    [['tokens', 'revoke', '--email', 'ann@example.com'], ['POST /api/v2/auth/api-token/revoke'], { password: '***' }],
  ])('prints the requests of %j, and sends nothing', async (args, requests, body) => {
    const { json, run, url, sandbox, folder, env } = await startScene();
    const file = join(folder, 'a.csv');
    await writeFile(file, 'id\n1\n');
    const words = [...args, '--dry-run'].map((word) => (word === 'FILE' ? file : word));
    const printed = await json(words);
    const addresses = printed.map(({ method, url: address }) => `${method} ${String(address).slice(url.length)}`);
    expect({ dry: printed.every((request) => request.dry_run), addresses }).toEqual({ dry: true, addresses: requests });
    if (body) expect(printed[0]?.body).toMatchObject(body);
    else expect(printed[0]?.body).toBeNull();
    const text = await run(words);
    expect(text).toMatchObject({ code: 0, err: '' });
    for (const request of requests) expect(text.out).toContain(request.replace(' ', ` ${url}`));
    expect(JSON.stringify(printed) + text.out).not.toContain(env.AUDIENCE_TOKEN);
    expect(sandbox.log).toEqual([]);
  });

  it('a create prints the headers and the body that it would send', async () => {
    const { run, url } = await startScene();
    const { out } = await run(['audiences', 'create', '--name', 'Visitors', '--idempotency-key', 'k-1', '--dry-run']);
    expect(out.split('\n')).toEqual([
      `POST ${url}/api/v2/audiences/create`,
      'accept: application/json',
      'authorization: Bearer ***',
      'content-type: application/json',
      'idempotency-key: k-1',
      expect.stringMatching(/^user-agent: audience-activation\//),
      '',
      '{"name":"Visitors"}',
      '',
      '',
    ]);
  });

  it('`trigger` prints the delivery, and creates no secret', async () => {
    const { json, folder } = await startScene();
    let requests = 0;
    const receiver = await serve(() => void requests++);
    const [printed] = await json(['trigger', 'webhook.test', '--forward-to', receiver.url, '--dry-run']);
    expect(printed).toMatchObject({
      url: `${receiver.url}/`,
      headers: { 'service-signature': '***' },
      body: { type: 'webhook.test' },
    });
    expect({ requests, files: await readdir(folder) }).toEqual({ requests: 0, files: [] });
  });

  it('needs no account and no sandbox, and runs no token command', async () => {
    const { run } = await startScene();
    const env = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
    const create = ['audiences', 'create', '--name', 'x', '--dry-run'];
    const bare = await run(create, { env });
    expect(bare).toMatchObject({
      code: 0,
      err: 'No service address is set, so the output contains the example address https://api.example.com.\n',
    });
    expect(bare.out).toMatch(/^POST https:\/\/api\.example\.com\/api\/v2\/audiences\/create\n/);
    expect(await run([...create, '--sandbox'], { env })).toMatchObject({ code: 0, err: '' });
    const command = ['--token-command', 'echo asked >&2; exit 1'];
    expect(await run([...create, ...command])).toMatchObject({ code: 0, err: '' });
  });

  it('refuses what would be refused before sending', async () => {
    const { run } = await startScene();
    const invalid = ['lookalikes', 'create', '--target-size', '5000000', '--dry-run'];
    expect(await run(invalid)).toMatchObject({ code: 2, out: '', err: expect.stringContaining('config.target_size') });
    expect(await run(['audiences', 'delete', 'x', '--dry-run'])).toMatchObject({ code: 2, out: '' });
    expect(await run(['audiences', 'list', '--dry-run'])).toMatchObject({ code: 2, out: '' });
  });
});
