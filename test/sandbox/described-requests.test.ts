import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, openApiDocument } from '../../src/index.ts';
import type { JsonObject } from '../../src/spec/wire-values.ts';
import { isObject } from '../../src/util/json.ts';
import { requestViolations, responseViolations, streamViolations } from '../support/contract.ts';
import { credentials } from '../support/sandbox.ts';
import { runs } from '../support/volume.ts';
import { arbitraryOf, type KnownValues } from './arbitrary-of-schema.ts';
import { REDIRECT, startOAuth } from './support/sandbox-oauth.ts';

const REQUESTS = runs(6, 60, 10_000);
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const BASE = 'http://127.0.0.1';

const document = openApiDocument();
const UNLIMITED = { limit: 1e9, interval: 60_000 };

/** The operations of the document. */
const routes = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: String(operation.operationId), method, path, operation })),
);

type Route = (typeof routes)[number];

/** A request, of which a variation may differ from the document. */
interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | undefined;
}

const resolved = (value: unknown): JsonObject => {
  const object = isObject(value) ? value : {};
  const [kind, key] = typeof object.$ref === 'string' ? object.$ref.split('/').slice(-2) : [];
  return kind === undefined || key === undefined ? object : resolved(document.components[kind]?.[key]);
};

const mediaOf = ({ operation }: Route): readonly [type: string, schema: JsonObject] | undefined => {
  const [entry] = Object.entries(Object(Object(operation.requestBody).content));
  return entry && [entry[0], resolved(Object(entry[1]).schema)];
};

/** Requests that the document describes for one operation. */
function requestsOf(route: Route, knownValues: KnownValues, token: string): fc.Arbitrary<Sent> {
  const { method, path, operation } = route;
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []).map(resolved);
  const values = Object.fromEntries(
    parameters.map(({ name, schema }) => {
      const arbitrary = arbitraryOf(Object(schema), document, knownValues);
      const value = fc.constant(knownValues.fields[String(name)]);
      return [String(name), String(name) in knownValues.fields ? fc.oneof(arbitrary, value) : arbitrary];
    }),
  );
  const requiredKeys = parameters.filter(({ required }) => required === true).map(({ name }) => String(name));
  const [type, schema] = mediaOf(route) ?? [];
  const body = schema === undefined ? fc.constant(undefined) : arbitraryOf(schema, document, knownValues);
  return fc.tuple(fc.record(values, { requiredKeys }), body).map(([params, content]) => {
    const headers = new Headers({ accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` });
    if (type !== undefined) headers.set('content-type', type);
    const url = new URL(
      path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(params[name]))),
      BASE,
    );
    for (const { name, in: place } of parameters) {
      const value = params[String(name)];
      if (value === undefined) continue;
      if (place === 'query') url.searchParams.set(String(name), String(value));
      // A key that a header can carry.
      if (place === 'header') headers.set(String(name), encodeURIComponent(String(value)).slice(0, 255) || 'key');
    }
    const isForm = type === 'application/x-www-form-urlencoded';
    const fields = Object.entries(Object(content)).map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    ]);
    const text = isForm
      ? String(new URLSearchParams(fields))
      : content === undefined
        ? undefined
        : JSON.stringify(content);
    return { method: method.toUpperCase(), url: url.href, headers, body: text };
  });
}

const withHeader = (request: Sent, name: string, value?: string): Sent => {
  const headers = new Headers(request.headers);
  if (value === undefined) headers.delete(name);
  else headers.set(name, value);
  return { ...request, headers };
};

/** Requests that the document does not describe, of a client with mistakes; the responses must be described. */
const MISTAKES: Readonly<Record<string, (request: Sent) => Sent>> = {
  'no token': (request) => withHeader(request, 'authorization'),
  'a token that was never issued': (request) => withHeader(request, 'authorization', 'Bearer x'),
  'no Accept': (request) => withHeader(request, 'accept'),
  'another Accept': (request) => withHeader(request, 'accept', 'text/html'),
  'JSON alone': (request) => withHeader(request, 'accept', 'application/json'),
  'no Content-Type': (request) => withHeader(request, 'content-type'),
  'another Content-Type': (request) => withHeader(request, 'content-type', 'text/plain'),
  'no query': (request) => ({ ...request, url: request.url.replace(/\?.*/, '') }),
  'another query': ({ url, ...request }) => ({ ...request, url: `${url.replace(/\?.*/, '')}?page=x&yearmonth=1` }),
  'no JSON': (request) => (request.body === undefined ? request : { ...request, body: '{' }),
  'an array': (request) => (request.body === undefined ? request : { ...request, body: '[1]' }),
  'an empty object': (request) => (request.body === undefined ? request : { ...request, body: '{}' }),
  'a fractional id': (request) =>
    request.body === undefined ? request : { ...request, body: '{"jsonrpc":"2.0","id":1.5,"method":"ping"}' },
  'a nested body': (request) =>
    request.body === undefined ? request : { ...request, body: `{"a":${'['.repeat(600)}${']'.repeat(600)}}` },
};

const LIMITS = { read: UNLIMITED, write: UNLIMITED, mcp: UNLIMITED, login: UNLIMITED, mint: UNLIMITED };

/** A sandbox without limits, and the ids of a resource of each kind. */
async function startService() {
  const limits = { ...LIMITS, buildsPerHour: 1e9, buildsPerDay: 1e9, activeTokens: 1e9, logLength: 10 };
  const oauth = await startOAuth({ limits, deliver: async () => new Response() });
  const { sandbox, account, client_id } = oauth;
  const { access_token, refresh_token } = await oauth.connect();
  const tokens = { api: account.token('api'), mcp: account.token('mcp') };
  const client = new AudienceClient({
    baseUrl: BASE,
    token: tokens.api,
    fetch: (url, init) => sandbox.fetch(new Request(url, init)),
  });
  const audience = await client.audiences.create({ name: 'x' });
  await sandbox.advance(86_400_000);
  const others = await Promise.all([
    client.projects.create({ name: 'x' }),
    client.schedules.create({ name: 'x', audience_id: audience.id }),
    client.estimates.create({ name: 'x' }),
    client.cohorts.create({ name: 'x', source_audience_id: audience.id }),
    client.activations.create({ audience_id: audience.id, credentials: 'x' }),
    client.lookalikes.create({ source_audience_id: audience.id, config: { target_size: 9 } }),
  ]);
  await client.close();
  const ids = [audience, ...others].map(({ id }) => id);
  const redirects = { redirect_uri: REDIRECT, redirect_uris: [REDIRECT] };
  const fields = { ...credentials, ...redirects, client_id, refresh_token, token: access_token };
  const send = async (request: Sent) => {
    const { method, headers, body = null } = request;
    const result = await sandbox.fetch(new Request(request.url, { method, headers, body, redirect: 'manual' }));
    const { status, headers: responseHeaders } = result;
    const text = await result.text();
    const type = responseHeaders.get('content-type')?.split(';')[0];
    const response = type === 'application/json' ? text : undefined;
    const exchange = { ...request, status, responseHeaders, response };
    const violations = [
      ...responseViolations(exchange),
      ...(type === 'text/event-stream' ? streamViolations(text) : []),
    ];
    return { exchange, status, violations };
  };
  return { tokens, values: { ids, fields }, send, close: () => sandbox.close() };
}

const tokenOf = ({ name }: Route, { api, mcp }: { readonly api: string; readonly mcp: string }): string =>
  name === 'mcp.send' ? mcp : api;

describe(`requests that the document describes, SEED=${SEED}`, () => {
  it.each(routes)(
    'never get a 5xx, or a response that it does not describe, also if they have a mistake: $name',
    async (route) => {
      const { tokens, values, send, close } = await startService();
      onTestFinished(close);
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requestsOf(route, values, tokenOf(route, tokens)), async (request) => {
          const { exchange, status, violations } = await send(request);
          statuses.add(status);
          expect(status).toBeLessThan(500);
          expect([...violations, ...requestViolations({ ...exchange, headers: withKey(request.headers) })]).toEqual([]);
        }),
        { numRuns: REQUESTS, seed: SEED },
      );
      // Otherwise the token, and not the request, would have been compared.
      if (route.operation.security === undefined) expect([...statuses]).not.toEqual([401]);
      const mistakes = fc.constantFrom(...Object.keys(MISTAKES));
      await fc.assert(
        fc.asyncProperty(requestsOf(route, values, tokenOf(route, tokens)), mistakes, async (request, mistake) => {
          const { status, violations } = await send(MISTAKES[mistake]?.(request) ?? request);
          expect(status).toBeLessThan(500);
          expect(violations).toEqual([]);
        }),
        { numRuns: REQUESTS, seed: SEED },
      );
    },
    600_000,
  );
});

const withBodies = routes.filter(
  ({ path, operation }) => path.startsWith('/api/') && operation['x-retry'] !== undefined,
);

describe('the required fields of the document', () => {
  it.each(withBodies.flatMap((route) => requiredFieldsOf(route).map((field) => [route.name, field, route] as const)))(
    'the required fields of %s in the document are those that the sandbox requires: %s',
    async (_, field, route) => {
      const { tokens, values, send, close } = await startService();
      onTestFinished(close);
      const [request] = fc.sample(requestsOf(route, values, tokenOf(route, tokens)), { numRuns: 1, seed: 1 });
      if (!request) throw new Error('There is no request.');
      const body = JSON.parse(request.body ?? '{}');
      delete body[field];
      const { status } = await send({ ...withHeader(request, 'idempotency-key'), body: JSON.stringify(body) });
      expect(status).toBe(route.name === 'mcp.send' ? 400 : 422);
    },
  );
});

function requiredFieldsOf(route: Route): readonly string[] {
  const [, schema] = mediaOf(route) ?? [];
  const required: readonly string[] = Array.isArray(schema?.required) ? schema.required : [];
  // The sandbox replaces a missing name: that a service requires one is assumed.
  return required.filter((field) => field !== 'name');
}

/** The package sends a key with every create; the document does not require it. */
function withKey(headers: Headers): Headers {
  const copy = new Headers(headers);
  if (!copy.has('idempotency-key')) copy.set('idempotency-key', 'key');
  return copy;
}
