import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { VERSION } from '../../src/version.ts';
import { verifyWebhook } from '../../src/webhooks/index.ts';
import { serve } from '../support/file-server.ts';
import { quick } from '../support/server.ts';

/** Runs the command in its own process, and collects its output. */
function run(...args: string[]) {
  const child: ChildProcess = spawn(process.execPath, ['src/sandbox/command.ts', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => (printed.out += chunk));
  child.stderr?.on('data', (chunk) => (printed.err += chunk));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...printed }));
  return { child, printed, ended };
}

const wordAfter = (text: string, label: string): string =>
  new RegExp(`^${label} +(?:.* )?(\\S+)$`, 'm').exec(text)?.[1] ?? '';

/** Runs the command until it is ready. */
async function start(...args: string[]) {
  const running = run('sandbox', ...args);
  await expect.poll(() => running.printed.out, { timeout: 20_000 }).toContain('Ready.');
  return running;
}

describe('the command', () => {
  it('the command prints a token, logs each request in a line, and shuts down cleanly', async () => {
    const { child, printed, ended } = await start('--speed', '6000');
    const url = wordAfter(printed.out, 'API');
    await using client = new AudienceClient({ baseUrl: url, token: wordAfter(printed.out, 'Token'), ...quick });
    const { token } = await client.auth.login({ email: 'dev@example.com', password: 'sandbox' });
    expect(token).toMatch(/\|/);
    const audience = await client.audiences.createAndWait({ name: 'By hand' });
    expect(audience.status.id).toBe(104);
    await expect
      .poll(() => printed.out)
      .toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ POST \/api\/v2\/audiences\/create 200 dev@example\.com$/m);
    expect(printed.out).toMatch(/ POST \/api\/v2\/auth\/login 200 dev@example\.com\n/);
    expect(printed.out.match(/Token/g)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 0, signal: null, err: '' });
  }, 40_000);

  it('the command sends webhooks to `--webhook` and logs them', async () => {
    const bodies: { body: string; signature: string }[] = [];
    const receiver = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      bodies.push({ body, signature: String(request.headers['service-signature']) });
      response.writeHead(204).end();
    });
    const args = ['--webhook', receiver.url, '--outcome', '107', '--duration', '9', '--seed', '5', '--speed', '900'];
    const { child, printed, ended } = await start(...args);
    const secret = wordAfter(printed.out, 'Webhook');
    await using client = new AudienceClient({
      baseUrl: wordAfter(printed.out, 'API'),
      token: wordAfter(printed.out, 'Token'),
    });
    await client.audiences.create({ name: 'x' });
    await expect.poll(() => bodies).toHaveLength(1);
    const event = await verifyWebhook(bodies[0]?.body ?? '', bodies[0]?.signature ?? '', secret);
    expect(event).toMatchObject({ type: 'audience.failed', data: { status: { id: 107 } } });
    await expect.poll(() => printed.out).toMatch(/ SEND audience\.failed to endpoint \d+, attempt 1: 204\n/);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }, 40_000);

  it('the command uses the port and account of its flags, and warns if other machines can use it', async () => {
    const { url, close } = await createSandbox().listen();
    const { port } = new URL(url);
    await close();
    const { child, printed, ended } = await start(
      ...[
        '--port',
        port,
        '--host',
        '0.0.0.0',
        '--name',
        'sandbox.test',
        '--email',
        'me@example.com',
        '--password',
        'pw',
      ],
    );
    expect(printed.out).toContain(`API      http://sandbox.test:${port}\n`);
    expect(printed.out).toContain('Account  me@example.com  password: pw\n');
    child.kill('SIGINT');
    expect((await ended).err).toContain('The sandbox listens on 0.0.0.0: other machines can use it.');
  }, 40_000);

  it('the command exits quietly when its output is closed', async () => {
    const { child, printed, ended } = await start();
    child.stdout?.destroy();
    const url = wordAfter(printed.out, 'API');
    await expect
      .poll(() =>
        fetch(url).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down');
    expect(await ended).toMatchObject({ code: 0, err: '' });
  }, 40_000);

  it('a port in use is reported with what to do', async () => {
    const { url, close } = await createSandbox().listen();
    onTestFinished(close);
    const { err, code } = await run('sandbox', '--port', new URL(url).port).ended;
    expect(code).toBe(1);
    expect(err).toMatch(/^listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\. Choose another --port/);
  });

  it.each([['--help'], ['-h'], ['sandbox', '-h']])('%j prints the help', async (...args) => {
    expect(await run(...args).ended).toMatchObject({
      code: 0,
      out: expect.stringContaining('--storage-port'),
      err: '',
    });
  });

  it.each(['--version', '-v'])('%s prints the version of the package', async (flag) => {
    expect(await run(flag).ended).toEqual({ code: 0, signal: null, out: `${VERSION}\n`, err: '' });
  });

  it.each([
    [[], 'A command is missing.'],
    [['sandbocks'], 'There is no command "sandbocks".'],
    [['sandbox', '--prot', '1'], "Unknown option '--prot'"],
    [['sandbox', '--port', '99999'], '`--port` must be an integer from 0 to 65535, not "99999".'],
    [['sandbox', '--port', '1.5'], '`--port` must be an integer from 0 to 65535, not "1.5".'],
    [['sandbox', '--storage-port', '0x50'], '`--storage-port` must be an integer from 0 to 65535, not "0x50".'],
    [['sandbox', '--speed', 'fast'], '`--speed` must be a number from 0, not "fast".'],
    [['sandbox', '--speed', '0'], '`clock.speed`'],
    [['sandbox', '--outcome', '4'], 'not 4.'],
    [['sandbox', '--email', 'dev'], '`email` must be an email address, not "dev".'],
    [['sandbox', '--name', 'a b'], '`name` must be a host name'],
    [['sandbox', '--webhook', 'nowhere'], '`url` must be an http(s) URL'],
  ])('%j reports the mistake and fails', async (args, message) => {
    const { code, out, err } = await run(...args).ended;
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });
});
