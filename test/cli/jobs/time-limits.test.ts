import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runForToken, TOKEN_COMMAND_MS } from '../../../src/cli/account/token-command.ts';
import { serve } from '../../support/file-server.ts';
import { failureOf } from '../../support/server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

/** Returns the environment with the address of a server that never responds. */
async function silentServer() {
  const { url } = await serve(() => {});
  return { AUDIENCE_BASE_URL: url };
}

describe('--deadline', () => {
  it.each([
    ['a request', ['budget'], 1],
    ['a list', ['audiences', 'list', '--all'], 1],
    ['a create, whose outcome is unknown', ['audiences', 'create', '--name', 'x', '--idempotency-key', 'k'], 10],
    ['a wait', ['wait', '1', '2'], 6],
    ['a login', ['login', '--email', 'ann@example.com'], 1],
  ])('--deadline limits %s', async (_, args, exitCode) => {
    const { run } = await startScene();
    const login = args[0] === 'login' ? { AUDIENCE_TOKEN: undefined } : {};
    const env = { ...(await silentServer()), ...login };
    const { code, err } = await run([...args, '--deadline', '1s', '--json'], { env, input: 'x' });
    const message = expect.stringMatching(/^The command took longer than 1 s \(--deadline\)\./);
    expect({ code, err: linesOf(err) }).toEqual({
      code: exitCode,
      err: [expect.objectContaining({ code: 'deadline-exceeded', exitCode, message })],
    });
  });

  it('--deadline limits the wait of a create, whose resource is printed', async () => {
    const { run } = await startScene({ jobs: {} });
    const { code, out, err } = await run(['audiences', 'create', '--name', 'x', '--wait', '--deadline', '2s']);
    expect({ code, out }).toEqual({ code: 6, out: expect.stringContaining('x') });
    expect(err).toMatch(/^ {2}To continue: audience-activation wait audience:\d+$/m);
  });
});

it.each([
  ['--request-timeout', '0'],
  ['--request-timeout', '25d'],
  ['--deadline', '0'],
  ['--deadline', '0ms'],
  // Timers would fire immediately.
  ['--deadline', '25d'],
])('%s of %s is wrong usage', async (flag, value) => {
  const { run, sandbox } = await startScene();
  const { code, err } = await run(['budget', flag, value]);
  const message = `argument '${value}' is invalid. The duration must be longer than 0, and at most 24 days.`;
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  expect(sandbox.log).toEqual([]);
});

it('--request-timeout refuses a time after which Node would have ended the request', async () => {
  const { run, sandbox } = await startScene();
  const { code, err } = await run(['budget', '--request-timeout', '10m']);
  const message = "argument '10m' is invalid. The duration must be at most 5m: Node ends a request after 5 minutes";
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  expect(sandbox.log).toEqual([]);
  expect(await run(['budget', '--request-timeout', '5m'])).toMatchObject({ code: 0, err: '' });
});

it('the longest deadline does not end a command early', async () => {
  const { run } = await startScene();
  expect(await run(['budget', '--deadline', '24d'])).toMatchObject({ code: 0, err: '' });
});

it('--deadline ends listen --jobs as a wait that has timed out, and listen --all as Ctrl-C does', async () => {
  const scene = await startScene({ jobs: { duration: 3_600_000 } });
  const [audience] = await scene.json(['audiences', 'create', '--name', 'x']);
  const listen = ['listen', '--forward-to', 'http://127.0.0.1:4/', '--secret', 'whsec_1', '--deadline', '2s'];
  const jobs = await scene.run([...listen, '--jobs', String(audience?.id), '--json']);
  expect({ code: jobs.code, err: linesOf(jobs.err) }).toMatchObject({ code: 6, err: [{ code: 'deadline-exceeded' }] });
  expect(await scene.run([...listen, '--all', '--json'])).toMatchObject({ code: 0, err: '' });
});

describe('a service that does not respond', () => {
  it('is not one that refuses connections, which is tried again', async () => {
    const { run } = await startScene();
    const env = { AUDIENCE_BASE_URL: 'http://127.0.0.1:9' };
    const { code, err } = await run(['budget', '--deadline', '8s'], { env });
    expect(code).toBe(1);
    expect(err).not.toContain('No response');
  });

  it('is reported once after five seconds, with the flags that limit the wait', async () => {
    const { run } = await startScene();
    const env = await silentServer();
    const args = ['audiences', 'get', '1', '--deadline', '7s', '--request-timeout', '3s', '--json'];
    const { err } = await run(args, { env });
    const { AUDIENCE_BASE_URL: url } = env;
    expect(linesOf(err)).toMatchObject([
      {
        level: 'info',
        message: `${url} has not responded for 5 s. The command keeps waiting. An attempt ends after 3 s (--request-timeout), and the command after 7 s.`,
      },
      { code: 'deadline-exceeded' },
    ]);
  });
});

it('a deadline ends a token command', async () => {
  const deadline = new AbortController();
  const running = failureOf(runForToken('exec sleep 300', { env: process.env, signal: deadline.signal }));
  deadline.abort(new Error('deadline'));
  expect(await running).toBe(deadline.signal.reason);
});

it('a token command that does not end within a minute is ended, with an error', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const running = runForToken('exec sleep 300', { env: process.env, signal: new AbortController().signal });
  const failed = expect(running).rejects.toMatchObject({
    code: 'token-command-failed',
    message: 'The token command did not end within 60 seconds.',
  });
  vi.advanceTimersByTime(TOKEN_COMMAND_MS);
  await failed;
});
