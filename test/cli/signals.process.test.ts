import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { serve } from '../support/file-server.ts';
import { COMMAND, observe, type Scene, startScene } from './support/run-process.ts';
import { linesOf } from './support/scene.ts';

const SHELL_COMMAND = `"${process.execPath}" "${COMMAND}"`;

/** Runs a script by a shell in its own process group, as a terminal does. */
function startShell(shell: string, script: string, { env, folder }: Scene) {
  const child = spawn(shell, ['-c', script], { env, cwd: folder, detached: true });
  const pressCtrlC = (): void => void process.kill(-(child.pid ?? 0), 'SIGINT');
  return { ...observe(child), pressCtrlC };
}

/** Creates an audience whose job runs, and returns its id. */
async function runningAudience({ json }: Scene): Promise<number> {
  return Number((await json(['audiences', 'create', '--name', 'x']))[0]?.id);
}

const CREATE = ['audiences', 'create', '--name', 'x'] as const;
const RUNNING = { jobs: { duration: 3_600_000 } };

/** Debian's sh is dash. A machine may lack zsh, CI may not. */
const SHELLS = ['bash', 'sh', ...(process.env.CI === 'true' || existsSync('/usr/bin/zsh') ? ['zsh'] : [])];

describe.each(SHELLS)('Ctrl-C in %s', (shell) => {
  it.each([
    [
      'loop',
      (id: number) => `for round in 1 2 3; do echo "round $round"; ${SHELL_COMMAND} wait ${id}; done; echo after`,
    ],
    ['pipeline', (id: number) => `while echo round 1; do ${SHELL_COMMAND} wait ${id} --json | cat; done; echo after`],
    ['condition', (id: number) => `echo round 1; ${SHELL_COMMAND} wait ${id} || echo failed; echo after`],
  ])('ends the %s around a wait', async (_, scriptOf) => {
    const scene = await startScene(RUNNING);
    const id = await runningAudience(scene);
    const { printed, pressCtrlC, ended } = startShell(shell, scriptOf(id), scene);
    await expect.poll(() => printed.out + printed.err).toMatch(/100 Queued|"running"/);
    pressCtrlC();
    const { code, out, err } = await ended;
    expect({ code, rounds: out.match(/round \d|after|failed/g) }).toEqual({ code: 'SIGINT', rounds: ['round 1'] });
    expect(err).toMatch(/"resume":"audience-activation wait|To continue: audience-activation wait/);
  });
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('after %s, a shell shows %d', async (signal, status) => {
  const scene = await startScene(RUNNING);
  const id = await runningAudience(scene);
  // Without job control, shells start background processes that ignore SIGINT.
  const script = `set -m; ${SHELL_COMMAND} wait ${id} --json & echo "pid $!"; wait $!; echo "status $?"`;
  const { printed, ended } = startShell('bash', script, scene);
  await expect.poll(() => printed.out).toContain('"running"');
  process.kill(Number(/pid (\d+)/.exec(printed.out)?.[1]), signal);
  expect((await ended).out).toContain(`status ${status}\n`);
});

describe('an interrupted create', () => {
  const create = ['audiences', 'create', '--name', 'x', '--json'] as const;

  it('may have been created if its request was sent', async () => {
    const { start } = await startScene();
    let requests = 0;
    const { url } = await serve((request) => {
      request.resume();
      requests++;
    });
    const { child, ended } = start(create, { env: { AUDIENCE_BASE_URL: url } });
    await expect.poll(() => requests).toBe(1);
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect(code).toBe('SIGINT');
    expect(linesOf(err)).toMatchObject([{ outcome: 'unknown', exitCode: 130, idempotencyKey: expect.any(String) }]);
    expect(err).toContain('it may have been created.');
  });

  it('was not created if nothing was sent', async () => {
    const { start, sandbox } = await startScene();
    const { child, printed, ended } = start([...create, '--token-command', 'echo asking >&2; exec sleep 60']);
    await expect.poll(() => printed.err).toContain('asking');
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect({ code, err: linesOf(err.replace('asking\n', '')), requests: sandbox.log.length }).toEqual({
      code: 'SIGINT',
      err: [{ code: 'interrupted', message: 'Interrupted.', exitCode: 130 }],
      requests: 0,
    });
  });

  it.each([
    ['a refusal', 429, { 'retry-after': '60' }],
    ['a connection that was refused', 0, {}],
  ])('was not created after %s', async (_, status, headers) => {
    const { start } = await startScene();
    const { url } = await serve((request, response) => {
      const body = { status: 'error', code: status, message: 'No.', data: [] };
      request.resume();
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
    const address = status === 0 ? 'http://127.0.0.1:4' : url;
    const args = ['audiences', 'create', '--name', 'x', '--verbose', '--max-retries', '50'];
    const { child, printed, ended } = start(args, { env: { AUDIENCE_BASE_URL: address } });
    await expect.poll(() => printed.err).toContain('is retried in');
    child.kill('SIGINT');
    const { code, err } = await ended;
    expect(code).toBe('SIGINT');
    expect(err).toContain('error: Interrupted.\n');
    expect(err).not.toContain('may have been created');
  });
});

it('an interrupted create prints its key; a retry under that key creates one resource in all', async () => {
  const { start, run, sandbox } = await startScene({ faults: [{ on: 'audiences.create', cut: 'after', times: 1 }] });
  const lost = start(CREATE);
  await expect.poll(() => sandbox.log.length).toBeGreaterThan(0);
  lost.child.kill('SIGINT');
  const { code, err } = await lost.ended;
  const key = /--idempotency-key (\S+)/.exec(err)?.[1] ?? '';
  expect({ code, key }).toEqual({ code: 'SIGINT', key: expect.stringMatching(/^[\w-]{20,}$/) });
  expect((await run([...CREATE, '--idempotency-key', key])).code).toBe(0);
  expect((await run(['audiences', 'list'])).out.trim().split('\n')).toHaveLength(1);
});

it('Ctrl-C prints the command that resumes a wait, and ends the process by its signal', async () => {
  const scene = await startScene(RUNNING);
  const ids = [await runningAudience(scene), await runningAudience(scene)];
  const waiting = scene.start(['wait', '--timeout', '2h', ...ids.map(String)]);
  await expect.poll(() => waiting.printed.err.match(/100 Queued/g)).toHaveLength(2);
  waiting.child.kill('SIGINT');
  const { code, err } = await waiting.ended;
  const resume = `audience-activation wait ${ids.map((id) => `audience:${id}`).join(' ')} --timeout 7200s`;
  expect({ code, err: err.split('\n').slice(2) }).toEqual({
    code: 'SIGINT',
    err: ['error: Interrupted.', `  To continue: ${resume}`, ''],
  });
  const json = scene.start(['wait', String(ids[0]), '--json']);
  await expect.poll(() => json.printed.out).toContain('"running"');
  json.child.kill('SIGTERM');
  const ended = await json.ended;
  expect(ended.code).toBe('SIGTERM');
  expect(JSON.parse(ended.err)).toMatchObject({
    code: 'interrupted',
    exitCode: 143,
    resume: `audience-activation wait audience:${ids[0]}`,
  });
});

it('Ctrl-C also ends a token command that still runs', async () => {
  const { start } = await startScene();
  const waiting = start(['wait', '12', '--token-command', 'trap "" TERM; echo waiting >&2; sleep 60']);
  await expect.poll(() => waiting.printed.err).toContain('waiting');
  waiting.child.kill('SIGINT');
  await expect.poll(() => waiting.child.signalCode).toBe('SIGINT');
});
