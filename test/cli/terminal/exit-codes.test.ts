import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND_ERRORS, type CommandErrorCode, EXIT } from '../../../src/cli/terminal/exit-codes.ts';
import { tableAfter } from '../../support/documentation.ts';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const create = ['audiences', 'create', '--name', 'x'] as const;
const CODES: readonly (readonly [
  code: CommandErrorCode,
  args: readonly string[],
  env: Record<string, string | undefined>,
])[] = [
  ['usage', ['audiences', 'get', 'x'], {}],
  ['not-logged-in', ['budget'], { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined }],
  ['token-command-failed', ['budget', '--token-command', 'exit 3'], {}],
  ['token-command-failed', ['wait', '1', '--token-command', 'exit 3'], {}],
  ['config-folder-missing', ['login'], { HOME: '', AUDIENCE_CONFIG_DIR: undefined }],
  ['input-unreadable', ['audiences', 'create', '--data', '@missing.json'], {}],
  ['event-refused', ['trigger', 'audience.completed', '--forward-to', 'http://127.0.0.1:4/'], {}],
  ['sandbox-not-found', ['sandbox', 'status'], {}],
];

describe('exit codes', () => {
  it.each(CODES)('an error of the command has a code and an exit code: %s', async (code, args, env) => {
    const { run } = await startScene();
    const exitCode = COMMAND_ERRORS[code];
    const failed = await run([...args, '--json'], { env });
    expect({ code: failed.code, error: linesOf(failed.err).at(-1) }).toMatchObject({
      code: exitCode,
      error: { code, exitCode, message: expect.any(String) },
    });
  });

  it('all are in the guide, with their codes of errors', () => {
    const rows = tableAfter('### Codes of errors', readFileSync('docs/cli.md', 'utf8')).slice(1);
    const listed = Object.fromEntries(
      rows.map(([code = '', exitCode]) => [code.replaceAll('`', ''), Number(exitCode)]),
    );
    expect(listed).toEqual(COMMAND_ERRORS);
  });

  it('`request` names the key of a create whose outcome is unknown; repeating it with that key creates one audience', async () => {
    const { run, json } = await startScene({ faults: [{ on: 'audiences.create', cut: 'after', times: 1 }] });
    const request = ['request', 'POST', '/api/v2/audiences/create', '--data', '{"name":"x"}'];
    const { code, err } = await run([...request, '--max-retries', '0']);
    const [, key = ''] = /To repeat the request, run the same command with --idempotency-key (\S+)/.exec(err) ?? [];
    expect({ code, key }).toEqual({ code: EXIT.outcomeUnknown, key: expect.stringMatching(/^[\w-]{36}$/) });
    expect((await run([...request, '--idempotency-key', key])).code).toBe(0);
    expect(await json(['audiences', 'list'])).toHaveLength(1);
  });

  it('`request` sends no key with a create that takes none by its contract', async () => {
    const { run, folder } = await startScene();
    const file = join(folder, 'c.json');
    await writeFile(file, '{"operations":{"audiences.create":{"retry":"never"}}}');
    const request = ['request', 'POST', '/api/v2/audiences/create', '--data', '{"name":"x"}', '--contract', file];
    const { out } = await run([...request, '--dry-run']);
    expect(out).toContain('POST ');
    expect(out).not.toContain('idempotency-key');
  });

  it('each invalid field and the time to try again are printed once', async () => {
    const { run } = await startScene({ faults: [{ on: 'usage.get', status: 429, retryAfter: 600 }] });
    const invalid = await run(['audiences', 'create', '--name', 'x', '--project-id', '99']);
    expect(invalid.err.match(/project_id/g)).toHaveLength(1);
    expect(invalid.err).toMatch(/^error: [^\n]*invalid\. This call created nothing\.\n {2}project_id: /);
    const local = await run(['lookalikes', 'create', '--target-size', '5000000']);
    expect(local.err).toBe(
      'error: lookalikes.create was not sent. Nothing was created.\n' +
        '  config.target_size: must be an integer from 1 to 4000000, not 5000000.\n',
    );
    const limited = await run(['budget']);
    expect(limited.err.match(/\d{4}-\d\d-\d\dT/g)).toHaveLength(1);
  });

  it('errors for people say what happened and what to do, in lines without control characters', async () => {
    const { run } = await startScene({ faults: [{ on: 'audiences.create', malformed: true }] });
    const lost = await run([...create, '--idempotency-key', 'order-2', '--max-retries', '0']);
    expect(lost.err).toMatch(
      /^error: .*\n {2}To repeat the request, run the same command with --idempotency-key order-2\n/m,
    );
    const odd = await run(['request', 'GET', '/api/v2/\u001b]0;x\u0007', '--max-retries', '0']);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    expect(odd.err).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
    expect(odd.err).toMatch(/^error: /);
  });

  it.each(['--json', '--verbose', '--max-retries=1'])(
    'control characters of a response do not reach the terminal: %s',
    async (flag) => {
      const { run } = await startScene();
      const evil = '\u001b]0;pwned\u0007\u009b31m';
      const { url } = await serve((_, response) => {
        const body = { status: 'error', code: 503, message: evil, data: [], [evil]: evil };
        response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '3' }).end(JSON.stringify(body));
      });
      const { code, out, err } = await run(['budget', '--max-retries', '1', flag], { env: { AUDIENCE_BASE_URL: url } });
      expect(code).toBe(1);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    },
    60_000,
  );
});
