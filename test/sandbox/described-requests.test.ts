import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AudienceClient, openApiDocument } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { isObject, type JsonObject } from '../../src/util/json.ts';
import { arbitraryOf, type KnownValues } from '../support/arbitrary-of-schema.ts';
import { requestViolations, responseViolations } from '../support/contract.ts';
import { credentials } from '../support/sandbox.ts';
import { amount } from '../support/seeded.ts';

const REQUESTS = amount(60, 10_000);
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const BASE = 'http://127.0.0.1';

const document = openApiDocument();
const UNLIMITED = { limit: 1e9, interval: 60_000 };

/** The operations of the document. */
const routes = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: String(operation.operationId), method, path, operation })),
);

const resolved = (value: unknown): JsonObject => {
  const object = isObject(value) ? value : {};
  const key = typeof object.$ref === 'string' ? object.$ref.split('/').at(-1) : undefined;
  return key === undefined ? object : resolved(document.components.parameters?.[key]);
};

/** Requests that the document describes for one operation. */
function requestsOf({ method, path, operation }: (typeof routes)[number], knownValues: KnownValues, token: string) {
  const parameters = (Array.isArray(operation.parameters) ? operation.parameters : []).map(resolved);
  const values = Object.fromEntries(
    parameters.map(({ name, schema }) => [String(name), arbitraryOf(Object(schema), document, knownValues)]),
  );
  const requiredKeys = parameters.filter(({ required }) => required === true).map(({ name }) => String(name));
  const [type, media] = Object.entries(Object(Object(operation.requestBody).content))[0] ?? [];
  const body =
    type === undefined ? fc.constant(undefined) : arbitraryOf(Object(Object(media).schema), document, knownValues);
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

const LIMITS = { read: UNLIMITED, write: UNLIMITED, mcp: UNLIMITED, login: UNLIMITED, mint: UNLIMITED };

/** A sandbox without limits, and the ids of a resource of each kind. */
async function startService() {
  const limits = { ...LIMITS, buildsPerHour: 1e9, buildsPerDay: 1e9, activeTokens: 1e9, logLength: 10 };
  const sandbox = createSandbox({ clock: 'manual', limits, deliver: async () => new Response() });
  const account = sandbox.accounts.create(credentials);
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
  return { sandbox, tokens, ids: [audience, ...others].map(({ id }) => id) };
}

describe(`requests that the document describes, SEED=${SEED}`, () => {
  it.each(routes)(
    'never get a 5xx, or a response that it does not describe: $name',
    async (route) => {
      const { sandbox, tokens, ids } = await startService();
      onTestFinished(() => sandbox.close());
      const token = route.name === 'mcp.send' ? tokens.mcp : tokens.api;
      const statuses = new Set<number>();
      await fc.assert(
        fc.asyncProperty(requestsOf(route, { ids, fields: credentials }, token), async ({ headers, ...request }) => {
          const response = await sandbox.fetch(
            new Request(request.url, {
              method: request.method,
              headers,
              body: request.body ?? null,
              redirect: 'manual',
            }),
          );
          const { status, headers: responseHeaders } = response;
          statuses.add(status);
          const isJson = responseHeaders.get('content-type')?.startsWith('application/json') ?? false;
          const text = await response.text();
          const exchange = { ...request, headers, status, responseHeaders, response: isJson ? text : undefined };
          expect(status).toBeLessThan(500);
          expect([
            ...responseViolations(exchange),
            ...requestViolations({ ...exchange, headers: withKey(headers) }),
          ]).toEqual([]);
        }),
        { numRuns: REQUESTS, seed: SEED },
      );
      // Otherwise the token, and not the request, would have been compared.
      if (route.operation.security === undefined) expect([...statuses]).not.toEqual([401]);
    },
    600_000,
  );
});

/** The package sends a key with every create; the document does not require it. */
function withKey(headers: Headers): Headers {
  const copy = new Headers(headers);
  if (!copy.has('idempotency-key')) copy.set('idempotency-key', 'key');
  return copy;
}
