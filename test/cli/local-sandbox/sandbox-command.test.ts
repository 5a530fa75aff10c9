import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { verifyWebhook } from '../../../src/webhooks/index.ts';
import { serve } from '../../support/file-server.ts';
import { quick } from '../../support/server.ts';
import { startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const wordAfter = (text: string, label: string): string =>
  new RegExp(`^${label} +(?:.* )?(\\S+)$`, 'm').exec(text)?.[1] ?? '';

/** Runs `sandbox` until it is ready, with a scene whose other commands find it. */
async function start(...args: string[]) {
  const scene = await startScene();
  const running = scene.start(['sandbox', ...args]);
  await running.shows('out', 'Ready.');
  return { ...running, scene };
}

describe('sandbox', () => {
  it('prints a token, logs each request in a line, and shuts down cleanly', async () => {
    const { interrupt, printed, ended, shows, scene } = await start('--speed', '6000');
    const url = wordAfter(printed.out, 'API');
    await using client = new AudienceClient({ baseUrl: url, token: wordAfter(printed.out, 'Token'), ...quick });
    const { token } = await client.auth.login({ email: 'dev@example.com', password: 'sandbox' });
    expect(token).toMatch(/\|/);
    const audience = await scene.time.until(client.audiences.createAndWait({ name: 'By hand' }));
    expect(audience.status.id).toBe(104);
    await shows('out', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ POST \/api\/v2\/audiences\/create 200 dev@example\.com$/m);
    expect(printed.out).toMatch(/ POST \/api\/v2\/auth\/login 200 dev@example\.com\n/);
    expect(printed.out.match(/Token/g)).toHaveLength(1);
    // One line to copy, which a shell reads.
    const [line = ''] = printed.out.match(/^export .*$/m) ?? [];
    const shell = await promisify(execFile)('sh', ['-c', `${line}; echo "$AUDIENCE_BASE_URL $AUDIENCE_TOKEN"`]);
    expect(shell.stdout).toBe(`${url} ${wordAfter(printed.out, 'Token')}\n`);
    const console = wordAfter(printed.out, 'Console');
    expect(await (await fetch(console)).text()).toContain('Open the console');
    interrupt();
    expect(await ended).toMatchObject({ code: 0, err: '' });
  });

  it('sends webhooks to `--webhook` and logs them', async () => {
    const bodies: { body: string; signature: string }[] = [];
    const receiver = await serve(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      bodies.push({ body, signature: String(request.headers['service-signature']) });
      response.writeHead(204).end();
    });
    const args = ['--webhook', receiver.url, '--outcome', '107', '--duration', '9', '--seed', '5', '--speed', '900'];
    const { interrupt, printed, ended, shows, scene } = await start(...args);
    const secret = wordAfter(printed.out, 'Webhook');
    await using client = new AudienceClient({
      baseUrl: wordAfter(printed.out, 'API'),
      token: wordAfter(printed.out, 'Token'),
    });
    await client.audiences.create({ name: 'x' });
    await scene.time.untilTrue(() => bodies.length > 0);
    const event = await verifyWebhook(bodies[0]?.body ?? '', bodies[0]?.signature ?? '', secret);
    expect(event).toMatchObject({ type: 'audience.failed', data: { status: { id: 107 } } });
    await shows('out', / SEND audience\.failed to endpoint \d+, attempt 1: 204\n/);
    interrupt();
    expect((await ended).code).toBe(0);
  });

  it('has the build budget of `--builds-per-hour`', async () => {
    const { interrupt, printed, ended } = await start('--builds-per-hour', '1');
    const [baseUrl, token] = [wordAfter(printed.out, 'API'), wordAfter(printed.out, 'Token')];
    await using client = new AudienceClient({ baseUrl, token, maxRetries: 0 });
    await client.audiences.create({ name: 'first' });
    await expect(client.audiences.create({ name: 'second' })).rejects.toMatchObject({ code: 'build-budget-exhausted' });
    interrupt();
    expect((await ended).code).toBe(0);
  });

  it.each([
    [['sandbox', '--prot', '1'], "unknown option '--prot'"],
    [['sandbox', 'advanse'], "unknown command 'advanse': use status, advance, finish or fault"],
    [['sandbox', '--port', '99999'], "'99999' is invalid. Pass an integer from 0 to 65535."],
    [['sandbox', '--port', '1.5'], 'Pass an integer from 0 to 65535.'],
    [['sandbox', '--storage-port', '0x50'], 'Pass an integer from 0 to 65535.'],
    [['sandbox', '--speed', 'fast'], 'Pass a number of 0 or more.'],
    [['sandbox', '--speed', '0'], '--speed must be'],
    [['sandbox', '--outcome', '4'], 'not 4.'],
    [['sandbox', '--email', 'dev'], '--email must be an email address, not "dev".'],
    [['sandbox', '--name', 'a b'], '--name must be a host name'],
    [['sandbox', '--webhook', 'nowhere'], '--webhook must be an http(s) URL'],
  ])('%j is wrong usage', async (args, message) => {
    const { run } = await startScene();
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
    expect(err).not.toContain('    at ');
  });
});

describe('a running sandbox', () => {
  it('is used by `--sandbox`, and operated by `advance`, `finish`, `fault` and `status`', async () => {
    const { scene, printed, interrupt, ended } = await start();
    const loggedOut = { env: { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined } };
    const run = (...args: string[]) => scene.run(args, loggedOut);
    const create = async (): Promise<string> => {
      const { out, err } = await run('audiences', 'create', '--name', 'x', '--sandbox', '--fields', 'id');
      expect(err).toBe(`Using the sandbox at ${wordAfter(printed.out, 'API')}.\n`);
      return out.trim();
    };
    const [one, two] = [await create(), await create()];
    expect(linesOf((await run('sandbox', 'status', '--json')).out)).toMatchObject([
      { requests: 2, jobs: [{ kind: 'audience', id: Number(one) }, { id: Number(two) }] },
    ]);
    expect(await run('sandbox', 'finish', `audience:${one}`, '107', '--reason', 'Too narrow')).toMatchObject({
      code: 0,
    });
    expect(await run('wait', one, '--sandbox')).toMatchObject({ code: 4 });
    expect(await run('sandbox', 'advance', '10m')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^now\t\d{4}.*\njobs\.ended\t1\njobs\.completed\t1\n/),
      err: expect.stringMatching(/^Advanced to .*: 1 job ended \(1 completed\); /),
    });
    expect(await run('wait', two, '--sandbox')).toMatchObject({ code: 0 });
    expect(await run('sandbox', 'finish', two, '104')).toMatchObject({
      code: 8,
      err: expect.stringContaining('No job of'),
    });
    const fault = ['--on', 'usage.get', '--status', '429', '--retry-after', '900', '--times', '1'];
    expect(await run('sandbox', 'fault', 'add', ...fault)).toMatchObject({ code: 0 });
    expect((await run('sandbox', 'fault', 'list', '--fields', 'on,status')).out).toBe('usage.get\t429\n');
    expect(await run('budget', '--sandbox')).toMatchObject({ code: 9 });
    expect(await run('budget', '--sandbox')).toMatchObject({ code: 0 });
    await run('sandbox', 'fault', 'add', '--cut', 'before');
    expect(await run('sandbox', 'fault', 'clear')).toMatchObject({ out: 'removed\t1\n' });
    expect(await run('sandbox', 'fault', 'add', '--on', 'nothing', '--malformed')).toMatchObject({ code: 2 });
    interrupt();
    await ended;
    expect(await run('sandbox', 'status')).toMatchObject({
      code: 8,
      err: expect.stringContaining('No running sandbox was found'),
    });
  });

  it('lists its fault rules with their effects and remaining uses', async () => {
    const { scene } = await start();
    const fault = (...args: string[]) => scene.json(['sandbox', 'fault', 'add', ...args]);
    await fault('--on', 'usage.get', '--status', '503', '--times', '2');
    await fault('--cut', 'body', '--delay', '2s', '--rate', '0.5');
    await scene.run(['budget', '--sandbox', '--max-retries', '0']);
    const { out } = await scene.run(['sandbox', 'fault', 'list']);
    const cells = out.split('\n').slice(0, -1);
    const columns = ['on', 'status', 'cut', 'malformed', 'delay', 'inFlight', 'rate', 'remaining'];
    const rows = (await scene.json(['sandbox', 'fault', 'list'])).map((row) => [
      row.id,
      ...columns.map((name) => row[name]),
    ]);
    expect(rows.map((row) => row.slice(1))).toEqual([
      ['usage.get', 503, undefined, undefined, undefined, undefined, undefined, 1],
      [undefined, undefined, 'body', undefined, 2_000, undefined, 0.5, undefined],
    ]);
    expect(cells).toEqual(rows.map((row) => row.map((cell) => cell ?? '').join('\t')));
  });

  it('is not needed: `--sandbox` alone runs a sandbox in the process of the command', async () => {
    const { run } = await startScene();
    const { code, out, err } = await run('audiences create --name x --wait --sandbox --fields status.id'.split(' '));
    expect({ code, out }).toEqual({ code: 0, out: '104\n' });
    expect(err).toContain('Using a new sandbox, which ends with this command.');
  });
});
