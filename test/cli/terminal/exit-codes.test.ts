import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/terminal/exit-codes.ts';
import type { FaultRule, SandboxOptions } from '../../../src/sandbox/index.ts';
import { serve } from '../../support/file-server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf, type RunOptions } from '../support/scene.ts';

/** A way to an exit code. */
interface Case {
  readonly args: readonly string[];
  readonly code: (typeof EXIT)[keyof typeof EXIT];
  /** The error on standard error, as `--json` prints it. */
  readonly error?: object;
  readonly options?: SandboxOptions;
  readonly run?: RunOptions;
}

const create = ['audiences', 'create', '--name', 'x'] as const;
const fails = (rule: FaultRule): SandboxOptions => ({ faults: [rule] });
const endsAt = (outcome: number): SandboxOptions => ({ jobs: { duration: 0, outcome } });

const CASES: Readonly<Record<string, Case>> = {
  done: { args: create, code: EXIT.done },
  'unexpected: nobody listens': {
    args: ['budget', '--max-retries', '1'],
    code: EXIT.unexpected,
    error: { code: 'connection-failed' },
    run: { env: { AUDIENCE_BASE_URL: 'http://127.0.0.1:4' } },
  },
  'wrong usage': { args: ['audiences', 'get', 'x'], code: EXIT.usage, error: { code: 'usage' } },
  'wrong address': {
    args: ['budget'],
    code: EXIT.usage,
    error: { code: 'usage' },
    run: { env: { AUDIENCE_BASE_URL: 'http://api.example.com' } },
  },
  'job failed': {
    args: [...create, '--wait'],
    code: EXIT.jobFailed,
    error: { code: 'job-failed' },
    options: endsAt(422),
  },
  'job needs info': {
    args: [...create, '--wait'],
    code: EXIT.jobNeedsInfo,
    error: { code: 'job-needs-info' },
    options: endsAt(107),
  },
  'wait timed out': {
    args: [...create, '--wait', '--timeout', '200ms'],
    code: EXIT.waitTimedOut,
    error: { code: 'wait-timeout', kind: 'audience' },
    options: { jobs: {} },
  },
  'token refused': {
    args: ['budget'],
    code: EXIT.authentication,
    error: { code: 'authentication-failed', status: 401, reason: 'token' },
    run: { env: { AUDIENCE_TOKEN: 'not-a-token' } },
  },
  'not logged in': {
    args: ['budget'],
    code: EXIT.authentication,
    error: { code: 'not-logged-in', message: expect.stringContaining('run `audience-activation login`') },
    run: { env: { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined } },
  },
  'refused: 404': { args: ['audiences', 'get', '9'], code: EXIT.refused, error: { code: 'not-found', status: 404 } },
  'refused: 422': {
    args: [...create, '--project-id', '99'],
    code: EXIT.refused,
    error: { code: 'validation-failed', outcome: 'refused', errors: { project_id: [expect.any(String)] } },
  },
  'outcome unknown: 409': {
    args: [...create, '--idempotency-key', 'k', '--max-retries', '0'],
    code: EXIT.outcomeUnknown,
    error: { code: 'conflict', outcome: 'unknown', idempotencyKey: 'k' },
    options: fails({ on: 'audiences.create', status: 409 }),
  },
  'rate limit': {
    args: ['budget'],
    code: EXIT.limited,
    error: { code: 'rate-limited', retryAfter: 600, retryAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    options: fails({ on: 'usage.get', status: 429, retryAfter: 600 }),
  },
  'build budget': {
    args: create,
    code: EXIT.limited,
    error: { code: 'build-budget-exhausted', outcome: 'refused', retryAt: expect.any(String) },
    options: { limits: { buildsPerHour: 0 } },
  },
  'refused before sending': {
    args: ['lookalikes', 'create', '--target-size', '5000000'],
    code: EXIT.usage,
    error: { code: 'validation-failed', errors: { 'config.target_size': [expect.any(String)] } },
  },
  'outcome unknown': {
    args: [...create, '--idempotency-key', 'order-1', '--max-retries', '1'],
    code: EXIT.outcomeUnknown,
    error: { outcome: 'unknown', idempotencyKey: 'order-1' },
    options: fails({ on: 'audiences.create', malformed: true }),
  },
};

describe('exit codes', () => {
  it.each(Object.entries(CASES))(
    '%s',
    async (_, { args, code, error, options, run: runOptions }) => {
      const { run } = await startScene(options);
      const json = await run([...args, '--json'], runOptions);
      expect(json.code, json.err).toBe(code);
      expect(linesOf(json.err)).toMatchObject(error ? [{ exitCode: code, message: expect.any(String), ...error }] : []);
    },
    60_000,
  );

  it('`request` names the key of a create whose outcome is unknown; repeating it with that key creates one audience', async () => {
    const { run, json } = await startScene({ faults: [{ on: 'audiences.create', cut: 'after', times: 1 }] });
    const request = ['request', 'POST', '/api/v2/audiences/create', '--data', '{"name":"x"}'];
    const { code, err } = await run([...request, '--max-retries', '0']);
    const [, key = ''] = /To repeat it: the same command with --idempotency-key (\S+)/.exec(err) ?? [];
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

  it('errors for people say what happened and what to do, in lines without control characters', async () => {
    const { run } = await startScene({ faults: [{ on: 'audiences.create', malformed: true }] });
    const lost = await run([...create, '--idempotency-key', 'order-2', '--max-retries', '0']);
    expect(lost.err).toMatch(/^error: .*\n {2}To repeat it: the same command with --idempotency-key order-2\n/m);
    const invalid = await run(['lookalikes', 'create', '--target-size', '5000000']);
    expect(invalid.err).toContain('  config.target_size: must be an integer from 1 to 4000000.\n');
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
