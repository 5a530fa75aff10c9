import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { AudienceClient, apiToken, type ClientOptions, memoryTokenStore } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { quickly } from '../support/quickly.ts';
import { credentials } from '../support/sandbox.ts';
import type { Script } from '../support/script.ts';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { idOf, parentOf, startTelemetry, withOpenTelemetry } from './support/telemetry.ts';

const undici = withOpenTelemetry();

/** Starts a server, and a client with telemetry. */
async function start(script: Script, options: ClientOptions = {}, propagate: readonly (string | RegExp)[] = []) {
  const server = await startServer(script);
  const sdk = startTelemetry(undici(), { propagate: propagate.map((one) => (one === 'server' ? server.url : one)) });
  const client = clientOf(server, { telemetry: sdk.telemetry, ...options });
  return { server, client, ...sdk };
}

describe('a call', () => {
  it('has a span with a child span for each attempt, and no span of undici', async () => {
    const { server, client, spans, named } = await start([
      { status: 503 },
      { data: wireAudience(7), headers: { 'x-request-id': 'r2' } },
    ]);
    await client.audiences.get(7);
    const [call] = named('audiences.get');
    const attempts = named('GET /api/v2/audiences/{id}');
    const { hostname, port } = new URL(server.url);
    const common = {
      'http.request.method': 'GET',
      'server.address': hostname,
      'server.port': Number(port),
      'url.full': `${server.url}/api/v2/audiences/7`,
      'url.template': '/api/v2/audiences/{id}',
    };
    expect(spans()).toHaveLength(3);
    expect(call).toMatchObject({ kind: SpanKind.INTERNAL, status: { code: SpanStatusCode.UNSET } });
    expect(call?.attributes).toEqual({
      'audience_activation.bucket': 'read',
      'audience_activation.outcome': 'success',
      'audience_activation.attempts': 2,
      'audience_activation.queued': expect.any(Number),
      'audience_activation.backoff': expect.any(Number),
      'audience_activation.request_id': 'r2',
      'http.response.status_code': 200,
    });
    expect(call?.events).toMatchObject([
      { name: 'retry', attributes: { 'audience_activation.retry.reason': 'transient' } },
    ]);
    expect(attempts.map(({ kind }) => kind)).toEqual([SpanKind.CLIENT, SpanKind.CLIENT]);
    expect(attempts.map(parentOf)).toEqual(Array(2).fill(call && idOf(call)));
    expect(attempts.map(({ attributes }) => attributes)).toEqual([
      { ...common, 'http.response.status_code': 503, 'error.type': '503' },
      {
        ...common,
        'http.response.status_code': 200,
        'http.request.resend_count': 1,
        'audience_activation.request_id': 'r2',
      },
    ]);
    expect(attempts.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
  });

  it.each([
    ['a status', [{ status: 404 }], { 'error.type': 'not-found' }, { 'error.type': '404' }],
    [
      'a lost connection',
      [{ fault: 'cut' }],
      { 'error.type': 'connection-failed' },
      { 'error.type': 'connection-failed' },
    ],
    ['a timeout', [{ fault: 'stall' }], { 'error.type': 'attempt-timeout' }, { 'error.type': 'attempt-timeout' }],
  ] as const)('a call that fails by %s has a span with its class of error', async (_, script, ofCall, ofAttempt) => {
    const { client, named } = await start(script, { maxRetries: 0, timeout: 100 });
    await quickly(() => failureOf(client.webhooks.list()));
    expect(named('webhooks.list')).toMatchObject([{ attributes: ofCall, status: { code: SpanStatusCode.ERROR } }]);
    expect(named(/^GET/)).toMatchObject([{ attributes: ofAttempt, status: { code: SpanStatusCode.ERROR } }]);
  });

  it('a call that is aborted ends its spans, which show no error', async () => {
    const { client, spans } = await start([{ fault: 'stall' }]);
    await failureOf(client.webhooks.list({ signal: AbortSignal.timeout(50) }));
    expect(spans().map(({ name, status, attributes }) => [name, status.code, attributes['error.type']])).toEqual([
      ['GET /api/v2/webhooks/index', SpanStatusCode.UNSET, 'aborted'],
      ['webhooks.list', SpanStatusCode.UNSET, 'aborted'],
    ]);
  });

  it('a call that is not sent has a span without attempts', async () => {
    const { client, spans } = await start([]);
    await failureOf(client.lookalikes.create({ source_audience_id: 1, config: { target_size: 0 } }));
    expect(spans().map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['lookalikes.create', 'validation-failed'],
    ]);
  });

  it('is below the span of its caller, through Promise.all, queueing and retries', async () => {
    const { client, tracerProvider, spans, named } = await start(
      Array.from({ length: 12 }, (_, at) => (at % 3 === 0 ? { status: 503 } : { data: [] })),
      { rateLimits: { read: { limit: 2, interval: 10 } } },
    );
    const tracer = tracerProvider.getTracer('test');
    const callers = [1, 2, 3, 4].map((n) => tracer.startSpan(`caller ${n}`));
    await Promise.all(
      callers.map((span) => context.with(trace.setSpan(context.active(), span), () => client.webhooks.list())),
    );
    for (const span of callers) span.end();
    const calls = named('webhooks.list');
    expect(calls.map(parentOf).sort()).toEqual(callers.map(idOf).sort());
    for (const call of calls) {
      const attempts = named(/^GET/).filter((attempt) => parentOf(attempt) === idOf(call));
      expect(attempts).toHaveLength(Number(call.attributes['audience_activation.attempts']));
      expect(attempts.every((one) => one.spanContext().traceId === call.spanContext().traceId)).toBe(true);
    }
    expect(named(/^GET/).length).toBeGreaterThan(calls.length);
    expect(spans()).toHaveLength(4 + calls.length + named(/^GET/).length);
  });

  it('a call of `client.request` has the name `request`, and a template only with parameters', async () => {
    const { client, spans } = await start([{ data: [] }, { data: [] }]);
    await client.request('GET', '/api/v2/audiences/77');
    await client.request('GET', '/api/v2/audiences/{id}', { params: { id: 78 } });
    expect(spans().map(({ name }) => name)).toEqual(['GET', 'request', 'GET /api/v2/audiences/{id}', 'request']);
  });

  it('the span of a call is the parent of the span of the call that issues its token', async () => {
    const sandbox = createSandbox();
    sandbox.accounts.create(credentials);
    const { telemetry, named } = startTelemetry(undici());
    const client = new AudienceClient({
      baseUrl: 'http://localhost',
      token: apiToken(credentials, { store: memoryTokenStore() }),
      fetch: (input, init) => sandbox.fetch(new Request(input, init)),
      telemetry,
    });
    await client.webhooks.list();
    expect(named('auth.createApiToken').map(parentOf)).toEqual(named('webhooks.list').map(idOf));
  });

  it('keeps the context of the caller in hooks, and leaves the instrumentation of others alone', async () => {
    const active: (string | undefined)[] = [];
    const { server, client, named, spans } = await start([{ data: [] }, { data: [] }], {
      onResponse: () => active.push(trace.getActiveSpan()?.spanContext().spanId),
    });
    await client.webhooks.list();
    expect(active).toEqual(named('webhooks.list').map(idOf));
    await (await fetch(server.url)).text();
    expect(spans().at(-1)).toMatchObject({
      name: 'GET',
      instrumentationScope: { name: expect.stringContaining('undici') },
    });
  });
});

describe('trace context', () => {
  it('is sent only to the targets', async () => {
    for (const propagate of [[], ['https://api.example.com'], [/\/other\//]]) {
      const { client, server } = await start([{ data: [] }], {}, propagate);
      await client.webhooks.list();
      expect((await server.seen())[0]?.headers).not.toHaveProperty('traceparent');
    }
  });

  it.each([['server'], [/\/webhooks\/index$/]])(
    'the headers of each attempt have its trace context (%s)',
    async (target) => {
      const { client, server, named } = await start([{ status: 503 }, { data: [] }], {}, [target]);
      await client.webhooks.list();
      const sent = (await server.seen()).map(({ headers }) => headers.traceparent);
      expect(sent).toEqual(named(/^GET \//).map((span) => `00-${span.spanContext().traceId}-${idOf(span)}-01`));
    },
  );

  it('is added to what another function passes to `fetch`, and nothing is lost', async () => {
    const passed: ((url: string, init: RequestInit) => [Request | string, RequestInit?])[] = [
      (url, init) => [url, { ...init, headers: new Headers(init.headers) }],
      (url, init) => [url, { ...init, headers: [...new Headers(init.headers)] }],
      (url, init) => [new Request(url, init)],
    ];
    for (const pass of passed) {
      for (const propagate of [[], ['server']]) {
        const { client, server } = await start(
          [{ data: [] }],
          {
            around: (_, next) => next({ wrapFetch: (send) => (url, init) => send(...pass(String(url), init ?? {})) }),
          },
          propagate,
        );
        await client.webhooks.list();
        const [{ headers } = { headers: {} }] = await server.seen();
        expect(headers).toMatchObject({ authorization: 'Bearer test-token', accept: 'application/json' });
        expect('traceparent' in headers).toBe(propagate.length > 0);
      }
    }
  });

  it('is not needed for an address that cannot be read', async () => {
    const server = await startServer([{ data: [] }]);
    const { telemetry } = startTelemetry(undici(), { propagate: [server.url] });
    const client = clientOf(server, {
      telemetry,
      fetch: (_, init) => fetch(`${server.url}/api/v2/webhooks/index`, init),
      around: (_, next) => next({ wrapFetch: (send) => (_url, init) => send('/proxy', init) }),
    });
    expect(await client.webhooks.list()).toEqual([]);
  });

  it.each([
    [['not an origin']],
    ['https://api.example.com'],
    [['https://api.example.com/only/this']],
    [['https://user:password@api.example.com']],
    [['api.example.com:443']],
    [['ftp://api.example.com']],
    [[new URL('https://api.example.com')]],
  ])('refuses invalid targets: %j', (propagate) => {
    const options: object = { propagate };
    expect(() => startTelemetry(undici(), options)).toThrow(/`propagate` must/);
  });
});
