import { createHmac } from 'node:crypto';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageOf } from '../../../src/cli/terminal/error-texts.ts';
import { CLIENT_OPTIONS } from '../../../src/client/client-options.ts';
import { KEY_OPTIONS, REQUEST_OPTIONS } from '../../../src/client/http/request-options.ts';
import * as client from '../../../src/index.ts';
import * as node from '../../../src/node/index.ts';
import * as oauth from '../../../src/oauth/index.ts';
import type { SandboxOptions } from '../../../src/sandbox/index.ts';
import { serve } from '../../support/file-server.ts';
import { failureOf } from '../../support/server.ts';
import { type Scene, startScene } from '../support/run-command.ts';
import { linesOf } from '../support/scene.ts';

const { ERROR_CODES, TimeoutError } = client;

/** Options of the client, of its functions and of the other entry points; the functions and classes that they export. */
const NAMES: readonly string[] = [
  ...Object.keys({ ...CLIENT_OPTIONS, ...client, ...node, ...oauth }),
  ...[...REQUEST_OPTIONS, ...KEY_OPTIONS],
  ...['idleTimeout', 'size', 'headerName', 'tolerance', 'now', 'redirectUri', 'allowedIssuers', 'client', 'store'],
  ...['onUrl', 'authorize', 'callback', 'forget', 'activations', 'audiences', 'cohorts', 'error'],
];

/** An option or a function of the client in backticks: `baseUrl`, `activations.wait(5)`. */
const WORD_OF_CLIENT = new RegExp(`\`(?:${NAMES.join('|')})(?:\`|\\(|\\.\\w)`);

/** A way to an error. */
interface Case {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly sandbox?: SandboxOptions;
  /** Responds in place of the sandbox. */
  readonly service?: RequestListener;
  /** Prepares files and resources; returns the id that `args` has as ID; the folder of the scene is FOLDER. */
  readonly prepare?: (scene: Scene) => Promise<unknown>;
  /** Part of the text. */
  readonly text?: string;
  /** Fields of the error with `--json`. */
  readonly json?: object;
}

const MCP = ['request', 'POST', '/api/v2/mcp', '--data', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'] as const;
const DOWNLOAD = ['activations', 'download', '1'] as const;
const ONCE = ['--max-retries', '0'] as const;
const CREATE = ['audiences', 'create', '--name', 'x', ...ONCE] as const;
const LOGGED_OUT = { AUDIENCE_TOKEN: undefined, AUDIENCE_BASE_URL: undefined };
/** Of a create whose outcome is unknown. */
const UNKNOWN = { exitCode: 10, outcome: 'unknown', idempotencyKey: expect.any(String) } as const;
const OAUTH = ['login', '--oauth', '--no-browser'] as const;

/** Responds to each request in the same way. */
const responds =
  (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

const succeeds = (data: unknown): RequestListener =>
  responds(200, { status: 'success', code: 200, message: 'x', data });

/** Responds with an activation that has completed, and with these results. */
const activationWith = (datastreams: unknown): RequestListener =>
  succeeds([{ id: 1, description: 'x', status: { id: 104, name: 'Completed' }, datastreams }]);

/** Responds with an activation whose result is at a path, and to a request of the result in another way. */
const hasResultAt =
  (path: string, respond: RequestListener, uriOf = (origin: string) => `${origin}${path}`): RequestListener =>
  (request, response) => {
    const results = { uri: uriOf(`http://${request.headers.host}`) };
    (request.url === path ? respond : activationWith([{ name: 'x', results }]))(request, response);
  };

/** Never responds. */
const silent: RequestListener = () => {};

/** Responds with a body that is larger than the client reads. */
const endless: RequestListener = (_, response) => {
  const chunk = Buffer.alloc(1_048_576, ' ');
  response.on('error', () => {}).writeHead(200, { 'content-type': 'application/json' });
  const write = (): void => {
    if (!response.destroyed) response.write(chunk, write);
  };
  write();
};

/** Has the metadata of a service and of an authorization server, with differences. */
const describes =
  (metadata: (origin: string) => { readonly resource?: object; readonly server?: object }): RequestListener =>
  (request, response) => {
    const origin = `http://${request.headers.host}`;
    const { resource, server } = metadata(origin);
    const documents: Record<string, object> = {
      '/.well-known/oauth-protected-resource': {
        resource: `${origin}/api/v2/mcp`,
        authorization_servers: [origin],
        ...resource,
      },
      '/.well-known/oauth-authorization-server': {
        issuer: origin,
        authorization_endpoint: `${origin}/oauth/authorize`,
        token_endpoint: `${origin}/oauth/token`,
        registration_endpoint: `${origin}/oauth/register`,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        response_types_supported: ['code'],
        ...server,
      },
    };
    const document = documents[new URL(request.url ?? '', origin).pathname];
    responds(document ? 200 : 401, document ?? { message: 'Unauthenticated.' })(request, response);
  };

const signatureOf = (at: number, body: string): string =>
  `t=${at},v1=${createHmac('sha256', 'whsec_1').update(`${at}.${body}`).digest('hex')}`;
const EVENT = '{"id":"evt_1","type":"audience.completed"}';
const verify = (header: string): Case => ({
  args: ['webhooks', 'verify', '--secret', 'whsec_1', '--header', header],
  input: EVENT,
});

const running: SandboxOptions = { jobs: { duration: 3_600_000 } };
const endsAt = (outcome: number): SandboxOptions => ({ jobs: { duration: 0, outcome } });

/** Creates a resource, and returns its id. */
const created = async ({ json }: Scene, ...args: string[]): Promise<string> => String((await json(args))[0]?.id);

const createAudience = (scene: Scene): Promise<string> => created(scene, 'audiences', 'create', '--name', 'x');

const createActivation = async (scene: Scene): Promise<string> =>
  created(scene, 'activations', 'create', '--audience-id', await createAudience(scene));

/** Ways to each code of the client; or why no command reports it, or which test does. */
const CASES: Readonly<Record<client.ErrorCode, Readonly<Record<string, Case>> | string>> = {
  'configuration-invalid': {
    'an empty secret': { args: ['webhooks', 'verify', '--secret', '', '--header', 'x'], input: EVENT },
  },
  'client-closed': 'a command closes its clients when its work has ended',
  'token-unavailable': 'the sources of tokens have codes of the command, and those of files and OAuth',
  'callback-failed': 'a command passes no functions',
  'connection-failed': {
    refused: { args: ['budget', ...ONCE], env: { AUDIENCE_BASE_URL: 'http://127.0.0.1:4' } },
    'cut off': { args: ['budget', ...ONCE], sandbox: { faults: [{ on: 'usage.get', cut: 'body' }] } },
    'of a create': {
      args: [...CREATE, '--idempotency-key', 'k'],
      sandbox: { faults: [{ on: 'audiences.create', cut: 'after' }] },
      json: { ...UNKNOWN, idempotencyKey: 'k' },
    },
  },
  'attempt-timeout': {
    'of a request': {
      args: ['budget', ...ONCE, '--request-timeout', '300ms'],
      service: silent,
      text: 'within 300 ms (--request-timeout). Try again later, or pass a longer --request-timeout.',
    },
    'of a create': {
      args: [...CREATE, '--request-timeout', '300ms'],
      service: silent,
      text: 'The resource may have been created: repeat the request with --idempotency-key ',
      json: UNKNOWN,
    },
  },
  'idle-timeout': 'below: it takes 30 seconds',
  'deadline-exceeded': 'a command has no deadline for calls; that of the command has the same code, and its own text',
  'sign-in-timeout': 'below: it takes five minutes',
  'api-error': { 'an odd status': { args: ['budget', ...ONCE], service: responds(418, { message: 'x' }) } },
  'authentication-failed': {
    'a token': {
      args: ['budget'],
      env: { AUDIENCE_TOKEN: 'nope' },
      text: 'failed: 401 Unauthenticated. The token is',
      json: { status: 401, reason: 'token', tokenFrom: 'AUDIENCE_TOKEN' },
    },
    'a token command': {
      args: ['budget', '--token-command', 'echo nope$$'],
      text: 'Source of the token: token command.',
    },
    'an MCP token': {
      args: MCP,
      env: { AUDIENCE_MCP_TOKEN: 'nope' },
      text: 'login --oauth`, or set AUDIENCE_MCP_TOKEN',
    },
    'a password': {
      args: ['login', '--email', 'ann@example.com'],
      env: { AUDIENCE_TOKEN: undefined },
      input: 'wrong',
      text: 'Email or password is wrong.',
    },
  },
  'permission-denied': {
    'a login token at the MCP endpoint': {
      args: MCP,
      service: responds(403, { error: { message: 'insufficient_scope' } }),
      env: { AUDIENCE_MCP_TOKEN: 'x' },
      text: '403 insufficient_scope. Only tokens of scope "mcp" are accepted here. Sign in with `audience-activation login',
    },
    'another operation': { args: ['budget'], service: responds(403, { message: 'No.' }) },
    'an upload to storage': {
      args: ['cohorts', 'import', 'FOLDER/list.csv'],
      sandbox: { faults: [{ on: 'PUT *', status: 403 }] },
      prepare: ({ folder }) => writeFile(join(folder, 'list.csv'), 'id\n1\n'),
      text: 'The slot can no longer be used: reserve another slot and upload again.',
    },
    'results in storage': {
      args: DOWNLOAD,
      service: hasResultAt(
        '/expired',
        responds(403, 'x'),
        (origin) => `${origin.replace('127.0.0.1', 'localhost')}/expired`,
      ),
      text: 'Storage refused the link, so the token is not the cause.',
    },
    'results on the origin of the service': {
      args: DOWNLOAD,
      service: hasResultAt('/file', responds(403, 'x'), () => '/file'),
      text: 'If it needs the token, set `results: { bearer: true }` in the contract.',
    },
  },
  'not-found': {
    'an id': {
      args: ['projects', 'get', '9'],
      text: 'Check the id and the account; if every call of this operation fails like this, run `aud check`.',
      json: { status: 404 },
    },
    'a path': {
      args: ['request', 'GET', '/api/v2/nope'],
      text: '. If every call of this operation fails like this, run `aud check`.',
    },
    'results in storage': {
      args: DOWNLOAD,
      service: hasResultAt('/gone', responds(404, 'x')),
      text: 'storage responded with 404. Storage refused the link, so the token is not the cause.',
    },
  },
  'not-acceptable': { 'a proxy': { args: ['budget'], service: responds(406, { message: 'x' }) } },
  'validation-failed': {
    'by the service': {
      args: ['activations', 'create', '--audience-id', '99'],
      json: { outcome: 'refused', errors: { audience_id: [expect.any(String)] } },
    },
    'before sending': {
      args: ['lookalikes', 'create', '--target-size', '5000000'],
      json: { exitCode: 2, errors: { 'config.target_size': [expect.any(String)] } },
    },
    'a path without a slash': { args: ['request', 'GET', 'usage'], json: { exitCode: 2 } },
    'an eleventh token': {
      args: ['login', '--email', 'ann@example.com'],
      env: { AUDIENCE_TOKEN: undefined },
      input: 'a secret password',
      prepare: async ({ account }) => {
        for (let count = 0; count < 9; count++) account.token('api');
      },
    },
  },
  conflict: { 'a key in use': { args: CREATE, service: responds(409, { message: 'x' }), json: UNKNOWN } },
  'rate-limited': {
    'a long pause': {
      args: ['budget'],
      service: responds(429, { message: 'x' }, { 'retry-after': '600' }),
      json: { retryAfter: 600, retryAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    },
  },
  'build-budget-exhausted': {
    'a create': {
      args: CREATE,
      sandbox: { limits: { buildsPerHour: 0 } },
      json: { outcome: 'refused', retryAt: expect.any(String) },
    },
  },
  'server-error': {
    'of a read': { args: ['budget', ...ONCE], service: responds(500, { message: 'x' }) },
    'of a create': {
      args: CREATE,
      service: responds(500, { message: 'x' }),
      text: 'The resource may have been created: ',
      json: UNKNOWN,
    },
  },
  'not-an-envelope': {
    HTML: { args: ['budget', ...ONCE], service: responds(200, '<html>') },
    'a refusal in HTML': { args: ['budget'], service: responds(401, '<html>'), text: 'check --base-url and the proxy' },
  },
  'response-invalid': {
    'data of another type': { args: ['budget', ...ONCE], service: succeeds(5) },
    'an id of another type': { args: ['audiences', 'get', '1', ...ONCE], service: succeeds([{ id: 'x' }]) },
    'a contract that does not fit': {
      args: ['usage', '--contract', 'FOLDER/contract.json'],
      prepare: ({ folder }) => writeFile(join(folder, 'contract.json'), '{"operations":{"usage.get":{"data":"nope"}}}'),
    },
    'no results': { args: DOWNLOAD, service: activationWith(null) },
    'results without a link': {
      args: DOWNLOAD,
      service: activationWith([{ name: 'x', results: { uri: 'ftp://x' } }]),
    },
  },
  'response-too-large': {
    'a list': { args: ['audiences', 'list', ...ONCE], service: endless, text: 'with --query per_page=10' },
  },
  'redirect-refused': {
    'of the service': {
      args: ['budget'],
      service: responds(302, '', { location: '/x' }),
      text: "was redirected (302), and the client does not follow the redirect. Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
    },
    'of storage': {
      args: DOWNLOAD,
      service: hasResultAt('/moved', responds(302, '', { location: '/x' })),
      text: 'set `results: { redirect: true }` in the contract.',
    },
  },
  'job-failed': { 'a build': { args: [...CREATE, '--wait'], sandbox: endsAt(422) } },
  'job-needs-info': { 'a build': { args: [...CREATE, '--wait'], sandbox: endsAt(107) } },
  'job-cancelled': {
    'a lookalike': {
      args: ['wait', '--kind', 'lookalike', 'ID'],
      sandbox: { jobs: { duration: ({ kind }) => (kind === 'lookalike' ? 3_600_000 : 0) } },
      prepare: async (scene) => {
        const seed = await createAudience(scene);
        const id = await created(scene, 'lookalikes', 'create', '--source-audience-id', seed, '--target-size', '9');
        await scene.run(['lookalikes', 'cancel', id]);
        return id;
      },
    },
  },
  'wait-timeout': {
    'a job that was read': {
      args: [...CREATE, '--wait', '--timeout', '200ms'],
      sandbox: running,
      text: 'has not ended within --timeout (100 Queued). The job keeps running.\n  To continue: ',
      json: { kind: 'audience' },
    },
    'a job that was not read': {
      args: ['wait', '1', '--timeout', '2s'],
      service: responds(503, { message: 'x' }),
      text: 'The status of audience 1 was not read within --timeout; the last poll failed: audiences.get failed: 503 x.\n',
    },
    'a job that is read once': { args: ['wait', 'ID', '--timeout', '0'], sandbox: running, prepare: createAudience },
  },
  'results-not-ready': {
    'an activation that runs': {
      args: ['activations', 'download', 'ID'],
      sandbox: { jobs: { duration: ({ kind }) => (kind === 'activation' ? 3_600_000 : 0) } },
      prepare: createActivation,
      text: 'The results are available at status 104. Wait for the activation with `audience-activation wait activation:',
    },
  },
  'file-unreadable': {
    'a missing file': { args: ['cohorts', 'import', 'missing.csv'] },
    'half of a profile': {
      args: ['budget', '--profile', 'half'],
      prepare: async ({ folder }) => {
        await mkdir(join(folder, 'config/profiles'), { recursive: true, mode: 0o700 });
        await writeFile(join(folder, 'config/profiles/half.json'), '{"tok', { mode: 0o600 });
      },
    },
  },
  'file-changed': 'below: the file must grow while it is uploaded',
  'size-mismatch': 'a file that has changed is noticed first',
  'disk-full': 'login.process.test.ts: a full disk is noticed before a token is issued',
  'file-unwritable': {
    'a folder that is a file': {
      args: ['activations', 'download', 'ID', 'FOLDER/taken'],
      prepare: async (scene) => {
        await writeFile(join(scene.folder, 'taken'), '');
        return createActivation(scene);
      },
    },
  },
  'download-incomplete': {
    'streams without a file': {
      args: DOWNLOAD,
      service: activationWith([
        { name: 'meta', results: null },
        { name: 'google', results: { uri: '' } },
      ]),
      text: '0 of 2 results were saved. "meta": The URI of result "meta" must be an http(s) link, but it is missing.',
    },
  },
  'account-changed': 'journal.test.ts: a journal of another account',
  'body-changed': 'run.process.test.ts: a row that has changed, an unknown outcome, and a file that is no journal',
  'outcome-expired': 'run.process.test.ts: a row that has changed, an unknown outcome, and a file that is no journal',
  'journal-invalid': 'run.process.test.ts: a row that has changed, an unknown outcome, and a file that is no journal',
  'journal-locked': 'run.process.test.ts: a row that has changed, an unknown outcome, and a file that is no journal',
  'webhook-invalid': {
    'a signature of long ago': { ...verify(signatureOf(5, EVENT)), text: 'older than --tolerance (default: 5m)' },
    'a signature of the future': { ...verify(signatureOf(9_999_999_999, EVENT)), text: '--tolerance (default: 5m)' },
    'no signature': { ...verify(''), text: '--header is empty' },
    'another form': verify('x'),
    'another secret': verify(`t=5,v1=${'0'.repeat(64)}`),
  },
  'oauth-failed': {
    'an authorization server elsewhere': {
      args: OAUTH,
      service: describes(() => ({ resource: { authorization_servers: ['https://auth.example.com'] } })),
      text: 'signs in only at the address of the service',
    },
    'a service that describes another': {
      args: OAUTH,
      service: describes((origin) => ({ resource: { resource: `${origin}/other` } })),
      text: "Use the service's own address in --base-url or AUDIENCE_BASE_URL.",
    },
    'no registration': {
      args: OAUTH,
      service: describes(() => ({ server: { registration_endpoint: undefined } })),
      text: 'does not register clients',
    },
    'no PKCE': { args: OAUTH, service: describes(() => ({ server: { code_challenge_methods_supported: [] } })) },
  },
  'reauthorization-required': {
    'no sign-in': { args: MCP, text: 'Nobody is signed in. Sign in with `audience-activation login --oauth`' },
  },
};

/** Codes by the exit code of the errors above, except for unexpected ones. */
const EXIT_CODES: Readonly<Record<number, readonly string[]>> = {
  2: ['configuration-invalid'],
  3: ['job-failed'],
  4: ['job-needs-info'],
  5: ['job-cancelled'],
  6: ['wait-timeout'],
  7: ['authentication-failed', 'oauth-failed', 'reauthorization-required'],
  8: [
    ...['api-error', 'conflict', 'not-acceptable', 'not-found', 'permission-denied', 'results-not-ready'],
    ...['validation-failed', 'webhook-invalid'],
  ],
  9: ['build-budget-exhausted', 'rate-limited'],
};

const exitCodeOf = (code: string): number =>
  Number(Object.entries(EXIT_CODES).find(([, codes]) => codes.includes(code))?.[0] ?? 1);

const ALL = Object.entries(CASES).flatMap(([code, cases]) =>
  typeof cases === 'string' ? [] : Object.entries(cases).map(([name, row]) => [code, name, row] as const),
);

describe('errors of the client, in the words of the command', () => {
  it.each(ALL)(
    '%s: %s',
    async (code, _, { args, env, input = '', sandbox, service, prepare, text = '', json: fields }) => {
      const scene = await startScene(sandbox);
      const url = service ? (await serve(service)).url : scene.url;
      const id = String(await prepare?.(scene));
      const words = args.map((word) => (word === 'ID' ? id : word.replace('FOLDER', scene.folder)));
      const options = { env: { AUDIENCE_BASE_URL: url, ...env }, input };
      const { err, code: exitCode } = await scene.run(words, options);
      expect(err).toMatch(/^error: /m);
      expect(err).toContain(text);
      expect(err).not.toMatch(WORD_OF_CLIENT);
      const json = await scene.run([...words, '--json'], options);
      expect(linesOf(json.err).at(-1)).toMatchObject({ code, exitCode: exitCodeOf(code), ...fields });
      expect(json.code).toBe(exitCode);
      expect(json.err).not.toMatch(WORD_OF_CLIENT);
    },
  );

  it('file-changed: a file that grows before it is uploaded', async () => {
    const { run, folder } = await startScene();
    const file = join(folder, 'grows.csv');
    await writeFile(file, 'id\n1\n');
    const { url } = await serve(async (request, response) => {
      await appendFile(file, '2\n');
      const slot = { reference: 'upl_1', url: `${url}/storage`, expires_at: '2099-01-01 00:00:00' };
      succeeds(slot)(request, response);
    });
    const { err } = await run(['cohorts', 'import', file, '--json', ...ONCE], { env: { AUDIENCE_BASE_URL: url } });
    expect(linesOf(err).at(-1)).toMatchObject({ code: 'file-changed' });
    expect(err).not.toMatch(WORD_OF_CLIENT);
  });

  it.each([
    ['idle-timeout', 'x transferred no byte for 30000 ms (`idleTimeout`).', 'x transferred no byte for 30000 ms.'],
    ['sign-in-timeout', '`timeout`', 'Nobody has signed in within five minutes.'],
  ] as const)('%s', (code, original, text) => {
    const message = messageOf(new TimeoutError(original, { code, operation: 'x', attempts: 1 }));
    expect(message).toContain(text);
    expect(message).not.toMatch(WORD_OF_CLIENT);
  });

  it.each([
    [
      'unknown',
      'The resource may have been created: repeat the request with --idempotency-key k and the same body',
      silent,
      5,
    ],
    ['refused', 'This call created nothing.', responds(422, { message: 'x', errors: {} }), 5],
    ['not-sent', 'Nothing was created.', silent, 5_000_000],
  ] as const)(
    'give the advice of the client after a create whose outcome is %s',
    async (outcome, text, service, target_size) => {
      const { url } = await serve(service);
      await using api = new client.AudienceClient({ baseUrl: url, token: 'x', timeout: 200, maxRetries: 0 });
      const body = { source_audience_id: 1, config: { target_size } };
      const error = await failureOf(api.lookalikes.create(body, { idempotencyKey: 'k' }));
      expect(error).toMatchObject({ outcome });
      const advice = messageOf(error).slice(messageOf(error).indexOf(text));
      expect(advice).toContain(text);
      expect(String(error).replace('the idempotency key "k"', '--idempotency-key k')).toContain(advice);
    },
  );

  it('are all codes of the client', () => {
    expect(Object.keys(CASES).sort()).toEqual(Object.keys(ERROR_CODES).sort());
  });
});

/** Flags and variables that a command checks itself, so that the client has nothing to refuse. */
const USAGE: Readonly<Record<string, Case>> = {
  'an address with a query': { args: ['budget'], env: { AUDIENCE_BASE_URL: 'https://x.example.com/?a=1' } },
  'an address that is none': { args: ['budget'], env: { AUDIENCE_BASE_URL: 'example' } },
  'a login without an address': { args: ['login'], env: LOGGED_OUT, text: 'Pass --base-url' },
  'an address of a login': { args: ['login', '--base-url', 'http://api.example.com'], env: LOGGED_OUT },
  'an address of a sign-in': { args: [...OAUTH, '--base-url', 'http://api.example.com'], env: LOGGED_OUT },
  'an address of a revocation': { args: ['tokens', 'revoke', '--base-url', 'http://api.example.com'], env: LOGGED_OUT },
  'an address of the MCP endpoint': {
    args: MCP,
    env: { AUDIENCE_BASE_URL: 'http://api.example.com', AUDIENCE_MCP_TOKEN: 'x' },
  },
  'an MCP token with a space': {
    args: MCP,
    env: { AUDIENCE_MCP_TOKEN: 'a b' },
    text: 'The token in AUDIENCE_MCP_TOKEN must',
  },
  'a key with a space': { args: [...CREATE, '--idempotency-key', 'x '], text: "'--idempotency-key <key>'" },
  'a seed of a sandbox': { args: ['sandbox', '--seed', '1.5'], text: '--seed must be an integer' },
};

describe('flags and variables, in the words of the command', () => {
  it.each(Object.entries(USAGE))('%s', async (_, { args, env = {}, text = '(--base-url)' }) => {
    const { run } = await startScene();
    const { code, err } = await run(args, { env, input: 'x' });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/^error: [^\n]*\n {2}Help: /) });
    expect(err).toContain(text);
    expect(err).not.toMatch(WORD_OF_CLIENT);
  });
});
