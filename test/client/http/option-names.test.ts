import { describe, expect, it } from 'vitest';
import type { AudienceClient, CreateOptions } from '../../../src/index.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireActivation } from '../../support/storage.ts';
import { wireAudience } from '../../support/wire-audience.ts';

type Method = (client: AudienceClient, options: never) => PromiseLike<unknown>;

const credentials = { email: 'ada@example.com', password: 'x' };
const data = new Blob(['eid\n1\n']);
const reservation = { reference: 'r', url: 'http://127.0.0.1:9/', expires_at: '' };
const completed = { ...wireActivation('http://127.0.0.1:9/'), id: 42, status: { id: 104, name: 'Completed' } };

/** Every method that takes options of a call, by the name under which an error shows it. */
const METHODS: readonly (readonly [string, Method])[] = [
  ['audiences.create', ({ audiences }, options) => audiences.create({ name: 'A' }, options)],
  ['audiences.create', ({ audiences }, options) => audiences.createAndWait({ name: 'A' }, options)],
  ['audiences.get', ({ audiences }, options) => audiences.get(1, options)],
  ['audiences.list', ({ audiences }, options) => audiences.list({}, options)],
  ['audiences.delete', ({ audiences }, options) => audiences.delete(1, options)],
  ['lookalikes.cancel', ({ lookalikes }, options) => lookalikes.cancel(1, options)],
  ['activations.results', ({ activations }, options) => activations.results(1, options)],
  ['activations.results', ({ activations }, options) => activations.results(completed, options)],
  ['activations.download', ({ activations }, options) => activations.download(1, options).next()],
  ['activations.download', ({ activations }, options) => activations.download(completed, options).next()],
  ['cohorts.import', ({ cohorts }, options) => cohorts.import(data, {}, options)],
  ['projects.create', ({ projects }, options) => projects.create({ name: 'A' }, options)],
  ['uploads.reserve', ({ uploads }, options) => uploads.reserve({ kind: 'cohort', size: 1 }, options)],
  ['uploads.send', ({ uploads }, options) => uploads.send(reservation, data, options)],
  ['uploads.upload', ({ uploads }, options) => uploads.upload({ kind: 'cohort', data }, options)],
  ['reference.list', ({ reference }, options) => reference.list('web', 'domains', {}, options)],
  ['usage.get', ({ usage }, options) => usage.get({}, options)],
  ['usage.get', ({ usage }, options) => usage.buildBudget(options)],
  ['webhooks.list', ({ webhooks }, options) => webhooks.list(options)],
  ['mcp.send', ({ mcp }, options) => mcp.send({ jsonrpc: '2.0', id: 1, method: 'ping' }, options)],
  ['auth.login', ({ auth }, options) => auth.login(credentials, options)],
  ['auth.createApiToken', ({ auth }, options) => auth.createApiToken(credentials, options)],
  ['auth.createMcpToken', ({ auth }, options) => auth.createMcpToken(credentials, options)],
  ['auth.revokeApiTokens', ({ auth }, options) => auth.revokeApiTokens(credentials, options)],
  ['auth.revokeMcpTokens', ({ auth }, options) => auth.revokeMcpTokens(credentials, options)],
  ['GET /api/v2/x', (client, options) => client.request('GET', '/api/v2/x', options)],
  ['POST /api/v2/x', (client, options) => client.request('POST', '/api/v2/x', options)],
];

/** Options that the types do not know. */
const untyped = (options: object): never => Object.assign(Object.create(null), options) as never;

describe('an unknown option', () => {
  it.each(METHODS)('an unknown option of %s is refused, and nothing is sent', async (name, call) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server, { mcpToken: 'mcp-token' });
    for (const option of ['max_retries', 'priority', 'isPoll', 'onPermit']) {
      expect(await failureOf(call(client, untyped({ [option]: 'background' })))).toMatchObject({
        name: 'ConfigurationError',
        message: expect.stringContaining(`\`${option}\` is not an option of ${name}`),
      });
    }
    expect(await server.seen()).toEqual([]);
  });

  it.each<[object, string]>([
    [
      { idempotency_key: 'x' },
      '`idempotency_key` is not an option of audiences.create: it is spelled `idempotencyKey`.',
    ],
    [{ MaxRetries: 1 }, '`MaxRetries` is not an option of audiences.create: it is spelled `maxRetries`.'],
    [{ idempotencKey: 1 }, '`idempotencKey` is not an option of audiences.create. Did you mean `idempotencyKey`?'],
    [{ retries: 1 }, '`retries` is not an option of audiences.create.'],
    [[], 'The options of audiences.create must be an object.'],
  ])('is reported with the name that is probably meant: %j', async (options, message) => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const error = await failureOf(clientOf(server).audiences.create({ name: 'A' }, options));
    expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not-sent' });
    expect(String(error)).toContain(message);
    expect(await server.seen()).toEqual([]);
  });

  it('an unknown option of a get is reported with the options that a get has', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    await expect(clientOf(server).audiences.get(1, untyped({ page: 1 }))).rejects.toThrow(
      '`page` is not an option of audiences.get: use signal, timeout, maxRetries, maxRetryWait, deadline, headers, token, query, fetchOptions.',
    );
  });

  it('an unknown option of `toArray` is refused: `limit` misspelt would read all pages', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const rows = clientOf(server)
      .audiences.list()
      .toArray(untyped({ limt: 1 }));
    await expect(rows).rejects.toThrow('`limt` is not an option of `toArray`: use limit.');
  });
});

describe('the options of an idempotency key', () => {
  it.each(METHODS.filter(([name]) => !/create$|import/.test(name)))(
    'are refused by %s, which sends none',
    async (name, call) => {
      const server = await startServer([{ data: [wireAudience()] }]);
      const client = clientOf(server, { mcpToken: 'mcp-token' });
      const options = name.startsWith('POST')
        ? [{ onConflict: 'wait' }]
        : [{ idempotencyKey: 'k' }, { onConflict: 'wait' }];
      for (const option of options) {
        expect(await failureOf(call(client, untyped(option)))).toMatchObject({
          name: 'ConfigurationError',
          message: expect.stringContaining(`\`${Object.keys(option)[0]}\` is not an option of ${name}`),
        });
      }
      expect(await server.seen()).toEqual([]);
    },
  );

  it('are accepted by creates, by free requests, and where an override sets a key', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const options: CreateOptions = { idempotencyKey: 'k', onConflict: 'wait' };
    const client = clientOf(server, { operations: { 'audiences.delete': { retry: 'idempotency-key' } } });
    await client.audiences.create({ name: 'A' }, options);
    await client.request('POST', '/api/v2/x', options);
    await client.audiences.delete(1, untyped(options));
    expect((await server.seen()).map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k', 'k']);
  });

  it('are refused by a create whose override sends no key, unless they are undefined', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server, { operations: { 'audiences.create': { retry: 'never' } } });
    await expect(client.audiences.create({ name: 'A' }, { idempotencyKey: 'k' })).rejects.toThrow(
      '`idempotencyKey` is not an option of audiences.create, which sends no idempotency key.',
    );
    await client.audiences.create({ name: 'A' }, { idempotencyKey: undefined, onConflict: undefined });
    expect(await server.seen()).toHaveLength(1);
  });
});

describe('`extraBody`', () => {
  it('is an option of creates and reservations alone', async () => {
    const server = await startServer([{ data: [{ ...wireAudience(), ...reservation }] }]);
    const client = clientOf(server);
    const options = untyped({ extraBody: { a: 1 } });
    await client.audiences.create({ name: 'A' }, options);
    await client.uploads.reserve({ kind: 'cohort', size: 1 }, options);
    for (const call of [client.audiences.get(1, options), client.request('POST', '/api/v2/x', options)]) {
      await expect(call).rejects.toThrow('`extraBody` is not an option of ');
    }
    expect(await server.seen()).toHaveLength(2);
  });
});

describe('no options', () => {
  it('are `undefined`, `null` or an empty object', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    for (const options of [undefined, JSON.parse('null'), {}]) {
      await client.audiences.get(1, options);
      await client.request('GET', '/api/v2/x', options);
      await client.webhooks.list(options);
    }
    expect(await server.seen()).toHaveLength(9);
  });
});
