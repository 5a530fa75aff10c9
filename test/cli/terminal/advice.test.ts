import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { signWebhook } from '../../../src/webhooks/index.ts';
import { serve } from '../../support/file-server.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import type { RunOptions } from '../support/scene.ts';

/** A run of the command. */
interface Step extends RunOptions {
  readonly args: readonly string[];
}

/** A way to an error text, and the runs that do what the text says: each ends with 0. */
interface Way {
  readonly text: string;
  readonly fails: Step;
  readonly follows: readonly Step[];
}

const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
const PASSWORD = 'a secret password';
const BUDGET = ['budget', '--max-retries', '0'] as const;
const CREATE = ['audiences', 'create', '--name', 'x'] as const;

const loginArgs = ({ url }: Scene): string[] => ['login', '--base-url', url, '--email', 'ann@example.com'];

/** Creates a resource, and returns its id. */
const created = async ({ json }: Scene, ...args: string[]): Promise<string> => String((await json(args))[0]?.id);

const createActivation = async (scene: Scene): Promise<string> =>
  created(scene, 'activations', 'create', '--audience-id', await created(scene, ...CREATE));

const WAYS: Readonly<Record<string, (scene: Scene) => Way | Promise<Way>>> = {
  'nobody is logged in': (scene) => ({
    text: 'Not logged in: run `audience-activation login`, set AUDIENCE_BASE_URL and AUDIENCE_TOKEN, or use a sandbox with --sandbox.',
    fails: { args: BUDGET, env: LOGGED_OUT },
    follows: [
      { args: [...BUDGET, '--sandbox'], env: LOGGED_OUT },
      { args: BUDGET },
      { args: loginArgs(scene), env: LOGGED_OUT, input: PASSWORD },
      { args: BUDGET, env: LOGGED_OUT },
    ],
  }),
  'nobody is signed in': ({ account }) => {
    const args = ['request', 'POST', '/api/v2/mcp', '--data', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'];
    return {
      text: 'or set AUDIENCE_MCP_TOKEN.',
      fails: { args },
      follows: [{ args, env: { AUDIENCE_MCP_TOKEN: account.token('mcp') } }],
    };
  },
  'a token of another address': async () => {
    const other = await startScene();
    const address = { AUDIENCE_BASE_URL: other.url };
    return {
      text: 'or set a token for that address.',
      fails: { args: [...BUDGET, '--base-url', other.url] },
      follows: [
        { args: BUDGET, env: { ...address, AUDIENCE_TOKEN: other.account.token('api') } },
        { args: [...loginArgs(other), '--profile', 'other'], env: LOGGED_OUT, input: PASSWORD },
        { args: [...BUDGET, '--profile', 'other'] },
      ],
    };
  },
  'a token without an address': ({ url }) => {
    const env = { AUDIENCE_BASE_URL: undefined };
    return {
      text: 'No service address is set for the token: pass --base-url, or set AUDIENCE_BASE_URL.',
      fails: { args: BUDGET, env },
      follows: [{ args: [...BUDGET, '--base-url', url], env }, { args: BUDGET }],
    };
  },
  'an address with the path of the API': ({ url }) => ({
    text: 'because every request path already begins with /api/v2.',
    fails: { args: BUDGET, env: { AUDIENCE_BASE_URL: `${url}/api/v2` } },
    follows: [{ args: BUDGET }],
  }),
  'an address with http': ({ url }) => {
    const env = { AUDIENCE_BASE_URL: url.replace('127.0.0.1', '0.0.0.0') };
    return {
      text: 'Use https, or pass --allow-insecure.',
      fails: { args: BUDGET, env },
      follows: [{ args: [...BUDGET, '--allow-insecure'], env }],
    };
  },
  'a token with more than the token': ({ env }) => ({
    text: 'Remove "Bearer ", spaces and line breaks from it.',
    fails: { args: BUDGET, env: { AUDIENCE_TOKEN: `Bearer ${env.AUDIENCE_TOKEN}` } },
    follows: [{ args: BUDGET }],
  }),
  'a token of the environment that is refused': (scene) => ({
    text: 'Set AUDIENCE_TOKEN to another token, or unset the variable and log in with `audience-activation login`.',
    fails: { args: BUDGET, env: { AUDIENCE_TOKEN: 'nope' } },
    follows: [
      { args: BUDGET },
      { args: loginArgs(scene), env: { AUDIENCE_TOKEN: undefined }, input: PASSWORD },
      { args: BUDGET, env: { AUDIENCE_TOKEN: undefined } },
    ],
  }),
  'a token of a profile that is refused': async (scene) => {
    await scene.run(loginArgs(scene), { env: LOGGED_OUT, input: PASSWORD });
    // From another machine, where no profile is removed.
    const elsewhere = { AUDIENCE_CONFIG_DIR: join(scene.folder, 'elsewhere') };
    await scene.run(['tokens', 'revoke', '--email', 'ann@example.com'], { env: elsewhere, input: PASSWORD });
    return {
      text: 'Log in again with `audience-activation login`.',
      fails: { args: BUDGET, env: LOGGED_OUT },
      follows: [
        { args: loginArgs(scene), env: LOGGED_OUT, input: PASSWORD },
        { args: BUDGET, env: LOGGED_OUT },
      ],
    };
  },
  'a token of a command that is refused': ({ env }) => ({
    text: 'The token command must print another token.',
    fails: { args: [...BUDGET, '--token-command', 'echo nope'] },
    follows: [{ args: [...BUDGET, '--token-command', `echo '${env.AUDIENCE_TOKEN}'`] }],
  }),
  'a file that is no profile': async (scene) => {
    await mkdir(join(scene.folder, 'config/profiles'), { recursive: true, mode: 0o700 });
    await writeFile(join(scene.folder, 'config/profiles/odd.json'), '{"token":"x"}', { mode: 0o600 });
    await scene.run([...loginArgs(scene), '--profile', 'good'], { env: LOGGED_OUT, input: PASSWORD });
    return {
      text: 'it contains no address. Choose another --profile.',
      fails: { args: [...BUDGET, '--profile', 'odd'] },
      follows: [{ args: [...BUDGET, '--profile', 'good'] }],
    };
  },
  'a password that was not passed': (scene) => ({
    text: 'Pass the password on standard input, or run the command in a terminal.',
    fails: { args: loginArgs(scene), env: LOGGED_OUT },
    follows: [{ args: loginArgs(scene), env: LOGGED_OUT, input: PASSWORD }],
  }),
  'an email that was not passed': (scene) => ({
    text: 'Pass --email: standard input is not a terminal.',
    fails: { args: ['login', '--base-url', scene.url], env: LOGGED_OUT, input: PASSWORD },
    follows: [{ args: loginArgs(scene), env: LOGGED_OUT, input: PASSWORD }],
  }),
  'no home folder': (scene) => {
    const env = { ...LOGGED_OUT, HOME: '', AUDIENCE_CONFIG_DIR: undefined };
    const login = { args: loginArgs(scene), env, input: PASSWORD };
    return {
      text: 'The user has no home folder: set AUDIENCE_CONFIG_DIR.',
      fails: login,
      follows: [{ ...login, env: { ...env, AUDIENCE_CONFIG_DIR: join(scene.folder, 'kept') } }],
    };
  },
  'a redirect': async ({ url }) => {
    const moved = await serve((request, response) => {
      request.resume();
      response.writeHead(302, { location: url + request.url }).end();
    });
    return {
      text: "Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
      fails: { args: BUDGET, env: { AUDIENCE_BASE_URL: moved.url } },
      follows: [
        { args: BUDGET, env: { AUDIENCE_BASE_URL: url } },
        { args: [...BUDGET, '--base-url', url], env: { AUDIENCE_BASE_URL: undefined } },
      ],
    };
  },
  'a list that is too large': async () => {
    const large = await serve((request, response) => {
      request.resume();
      const data = /per_page=10(?:&|$)/.test(request.url ?? '') ? [] : ['x'.repeat(17 * 1_048_576)];
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'success', code: 200, message: 'x', data }));
    });
    const list = { args: ['audiences', 'list', '--max-retries', '0'], env: { AUDIENCE_BASE_URL: large.url } };
    return {
      text: 'Request less, for example with --query per_page=10.',
      fails: list,
      follows: [{ ...list, args: [...list.args, '--query', 'per_page=10'] }],
    };
  },
  'results of an activation that runs': async (scene) => {
    const id = await createActivation(scene);
    return {
      text: `Wait for the activation with \`audience-activation wait activation:${id}\`.`,
      fails: { args: ['activations', 'download', id] },
      follows: [{ args: ['wait', `activation:${id}`] }, { args: ['activations', 'download', id, scene.folder] }],
    };
  },
  'a create without a body': () => ({
    text: 'Standard input is empty: pass the JSON through a pipe, or with --data.',
    fails: { args: ['audiences', 'create'] },
    follows: [
      { args: CREATE },
      { args: ['audiences', 'create', '--data', '{"name":"x"}'] },
      { args: ['audiences', 'create'], input: '{"name":"x"}' },
    ],
  }),
  'a dataset in another form': () => ({
    text: '--dataset must be type:start:end, such as WebDomain:2026-10-20:2026-11-20, not "WebDomain".',
    fails: { args: [...CREATE, '--dataset', 'WebDomain'] },
    // The dates of the text become too old for the service.
    follows: [{ args: [...CREATE, '--dataset', 'WebDomain:2026-10-20:2026-11-20', '--dry-run'] }],
  }),
  'a field within an array': async (scene) => {
    const id = await createActivation(scene);
    return {
      text: 'is an array. Name an element, such as datastreams.0.name.',
      fails: { args: ['activations', 'get', id, '--fields', 'datastreams.name'] },
      follows: [{ args: ['activations', 'get', id, '--fields', 'datastreams.0.name'] }],
    };
  },
  'a job in another form': async (scene) => {
    const id = await created(scene, ...CREATE);
    return {
      text: 'A job must be an id, or a kind and an id such as audience:12',
      fails: { args: ['wait', 'x'] },
      follows: [{ args: ['wait', `audience:${id}`] }, { args: ['wait', id] }],
    };
  },
  'a timeout without a wait': () => ({
    text: '--timeout requires --wait.',
    fails: { args: [...CREATE, '--timeout', '9s'] },
    follows: [{ args: [...CREATE, '--timeout', '9s', '--wait'] }],
  }),
  'a duration in another form': () => ({
    text: 'Pass a duration such as 90s, 10m or 1h30m.',
    fails: { args: [...CREATE, '--wait', '--timeout', 'soon'] },
    follows: ['90s', '10m', '1h30m'].map((time) => ({ args: [...CREATE, '--wait', '--timeout', time] })),
  }),
  'a key of a read': () => ({
    text: '--idempotency-key is for create requests: omit it for a GET.',
    fails: { args: ['request', 'GET', '/api/v2/usage', '--idempotency-key', 'k'] },
    follows: [{ args: ['request', 'GET', '/api/v2/usage'] }],
  }),
  'a check that writes without a terminal': () => ({
    text: 'pass --yes: the check ',
    fails: { args: ['check', '--write'] },
    follows: [{ args: ['check', '--write', '--yes'] }],
  }),
  'a verification without a secret': async () => {
    const input = '{"id":"evt_1","type":"webhook.test"}';
    const args = ['webhooks', 'verify', '--header', await signWebhook(input, 'whsec_1')];
    return {
      text: 'Pass --secret, or set AUDIENCE_WEBHOOK_SECRET.',
      fails: { args, input },
      follows: [
        { args: [...args, '--secret', 'whsec_1'], input },
        { args, input, env: { AUDIENCE_WEBHOOK_SECRET: 'whsec_1' } },
      ],
    };
  },
};

it.each(Object.entries(WAYS))(
  'the text about %s says what to do, and doing it succeeds',
  async (name, wayOf) => {
    const runs = name === 'results of an activation that runs';
    const scene = await startScene(
      runs ? { jobs: { duration: ({ kind }) => (kind === 'activation' ? 4_000 : 0) } } : {},
    );
    const { text, fails, follows } = await wayOf(scene);
    const { code, err } = await scene.run(fails.args, fails);
    expect(code).not.toBe(0);
    expect(err).toContain(text);
    for (const step of follows) {
      const result = await scene.run(step.args, step);
      expect(result.code, `${step.args.join(' ')}: ${result.err}`).toBe(0);
    }
  },
  60_000,
);

it('a budget that is used up names the time at which the same key succeeds', async () => {
  const { run, sandbox, json } = await startScene({ limits: { buildsPerHour: 1 } });
  await run(CREATE);
  const create = [...CREATE, '--idempotency-key', 'k'];
  const { code, err } = await run([...create, '--json']);
  expect(code).toBe(9);
  await sandbox.advance(Date.parse(JSON.parse(err).retryAt) - Date.now());
  expect(await run(create)).toMatchObject({ code: 0 });
  expect(await json(['audiences', 'list'])).toHaveLength(2);
});

it('the text about a sandbox that does not run names the command that starts one', async () => {
  const scene = await startScene();
  const status = ['sandbox', 'status'];
  expect(await scene.run(status, { env: LOGGED_OUT })).toMatchObject({
    code: 8,
    err: expect.stringContaining('start one with `audience-activation sandbox`.'),
  });
  const sandbox = scene.start(['sandbox', '--port', '0']);
  await sandbox.shows('out', 'Ready.');
  expect(await scene.run(status, { env: LOGGED_OUT })).toMatchObject({ code: 0 });
});

it('the text about a port in use names the flags of the ports, and other ports succeed', async () => {
  const { run, start, url } = await startScene();
  const failed = await run(['sandbox', '--port', new URL(url).port, '--json']);
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.err)).toMatchObject({
    code: 'sandbox-not-started',
    exitCode: 1,
    message: expect.stringMatching(
      /^listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+\. Choose another --port, --storage-port or --console-port\./,
    ),
  });
  const sandbox = start(['sandbox', '--port', '0', '--storage-port', '0', '--console-port', '0']);
  await sandbox.shows('out', 'Ready.');
});
