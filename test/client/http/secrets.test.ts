import { describe, expect, it } from 'vitest';
import { type Logger, PermissionError } from '../../../src/index.ts';
import { everything } from '../../support/everything.ts';
import { quickly } from '../../support/quickly.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';

const TOKEN = 'canary|token-8f3a9c';
const PASSWORD = 'canary "pass" wörd-77';
const ISSUED = 'canary|issued-55d1';
const secrets = [TOKEN, PASSWORD, ISSUED, encodeURIComponent(PASSWORD), 'canary', 'presigned-canary'];

function recorder(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields?: unknown) => lines.push(`${message} ${JSON.stringify(fields)}`);
  return { logger: { error: write, warn: write, info: write, debug: write }, lines };
}

const echoed = `${TOKEN} ${JSON.stringify(PASSWORD)} Bearer ${TOKEN} https://u:canary@h.example/p?X-Sig=presigned-canary`;
const steps = [
  { status: 500, text: `<html>${echoed}`, headers: { 'x-echo': `Bearer ${TOKEN}`, 'set-cookie': 'canary=1' } },
  { status: 422, message: echoed, errors: { name: [echoed] } },
  { status: 401, text: JSON.stringify({ message: echoed }) },
  { text: echoed },
  { text: JSON.stringify({ status: 'success', message: 'ok', data: { token: ISSUED } }) },
  { status: 302, headers: { location: `https://h.example/?${TOKEN}` } },
  { fault: 'cut' } as const,
  { fault: 'stall' } as const,
];

describe('a secret', () => {
  it.each(steps)('shows in no error and no log line: %j', (step) =>
    quickly(async () => {
      const server = await startServer([step]);
      const { logger, lines } = recorder();
      const client = clientOf(server, { token: TOKEN, logger, logLevel: 'debug', maxRetries: 1, timeout: 200 });
      const credentials = { email: 'me@example.com', password: PASSWORD };
      const errors = [
        await failureOf(client.auth.login(credentials)),
        await failureOf(client.audiences.create({ name: TOKEN })),
        await failureOf(client.audiences.get(1)),
      ];
      const seen = [...errors.map((error) => everything(error)), ...lines].join('\n');
      for (const secret of secrets) expect(seen).not.toContain(secret);
    }),
  );

  it('is removed from a body before the body is cut', async () => {
    const long = `canary-${'x'.repeat(700)}`;
    const server = await startServer([{ status: 400, text: `${'y'.repeat(1_500)} ${`${long} `.repeat(20)}` }]);
    const error = await failureOf(clientOf(server, { token: long }).webhooks.list());
    expect(everything(error)).not.toContain('xxxxxxxx');
    expect(everything(error)).not.toContain('canary');
  });

  it('is not confused with the parameters of a challenge', async () => {
    const challenge = 'Bearer error="insufficient_scope", scope="mcp"';
    const headers = { 'www-authenticate': challenge, 'x-echo': `Bearer ${TOKEN.slice(0, 8)}="` };
    const server = await startServer([{ status: 403, headers }]);
    const error = await failureOf(clientOf(server, { token: 'another' }).webhooks.list());
    expect(PermissionError.isInstance(error) && error.headers.get('www-authenticate')).toBe(challenge);
    expect(everything(error)).not.toContain(TOKEN.slice(0, 8));
  });

  it('shows in no error that a custom fetch throws', async () => {
    const { logger, lines } = recorder();
    const fetch = async (input: Request | URL | string): Promise<Response> => {
      const request = new Request(input);
      const error = new Error(`cannot send ${request.headers.get('authorization')}`, { cause: { request } });
      throw Object.assign(error, { request, config: { token: TOKEN } });
    };
    const client = clientOf({ url: 'http://127.0.0.1:1' }, { token: TOKEN, fetch, logger, logLevel: 'debug' });
    const error = await failureOf(client.webhooks.list());
    expect(`${everything(error)}${lines}`).not.toContain('canary');
    expect(String(error)).toContain('cannot send');
  });

  it('shows in no event of a hook, nor in a log line', async () => {
    const server = await startServer([{ headers: { 'x-request-id': `for ${TOKEN}` } }]);
    const { logger, lines } = recorder();
    const events: unknown[] = [];
    const onResponse = (event: unknown): void => void events.push(event);
    const client = clientOf(server, { token: () => TOKEN, logger, logLevel: 'debug', onResponse });
    await client.webhooks.list();
    expect(events).toMatchObject([{ requestId: 'for [redacted]' }]);
    expect(lines.join()).not.toContain('canary');
  });

  it('shows in no name and no code of a cause', async () => {
    const fetch = (): Promise<Response> =>
      Promise.reject(Object.assign(new Error('no'), { name: `Error of ${TOKEN}`, code: TOKEN }));
    const error = await failureOf(clientOf({ url: 'http://127.0.0.1:1' }, { token: TOKEN, fetch }).webhooks.list());
    expect(everything(error)).not.toContain('canary');
  });

  it('shows in no request id', async () => {
    const server = await startServer([{ status: 418, headers: { 'x-request-id': `for ${TOKEN}` } }]);
    const error = await failureOf(clientOf(server, { token: TOKEN }).webhooks.list());
    expect(error).toMatchObject({ requestId: 'for [redacted]' });
  });

  it('shows in no error of a job: the presigned URLs of its results', async () => {
    const uri = 'https://storage.example/f?X-Sig=presigned-canary';
    const activation = {
      id: 7,
      status: { id: 107, name: 'Additional Info' },
      datastreams: [{ name: 'a', results: { uri } }],
    };
    const server = await startServer([{ data: [activation] }]);
    const client = clientOf(server);
    const errors = [await failureOf(client.activations.wait(7)), await failureOf(client.activations.results(7))];
    for (const error of errors) {
      expect(error).toMatchObject({ name: 'JobNeedsInfoError', resource: { id: 7, datastreams: [{ name: 'a' }] } });
      expect(everything(error)).not.toContain('canary');
    }
  });
});
