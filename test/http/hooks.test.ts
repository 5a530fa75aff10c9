import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, startServer } from '../support/server.ts';
import { wireAudience } from '../support/wire-audience.ts';

describe('hooks', () => {
  it('receive each request, response and retry', async () => {
    const server = await startServer([{ status: 503 }, { data: [wireAudience()], headers: { 'x-request-id': 'r2' } }]);
    const events: unknown[] = [];
    const client = clientOf(server, {
      onRequest: (event) => events.push(['request', event]),
      onResponse: ({ duration, ...event }) => events.push(['response', event, duration >= 0]),
      onRetry: ({ error, wait, ...event }) => events.push(['retry', event, error.name, wait >= 0]),
    });
    await client.audiences.create({}, { idempotencyKey: 'k' });
    const of = (attempt: number) => ({
      operation: 'audiences.create',
      method: 'POST',
      path: '/api/v2/audiences/create',
      attempt,
      idempotencyKey: 'k',
    });
    expect(events).toEqual([
      ['request', of(1)],
      ['response', { ...of(1), status: 503 }, true],
      ['retry', of(1), 'ServerError', true],
      ['request', of(2)],
      ['response', { ...of(2), status: 200, requestId: 'r2' }, true],
    ]);
  });

  it('that throw are logged and harm no call', async () => {
    const server = await startServer([{ data: [] }]);
    const lines: string[] = [];
    const logger = { error: (line: string) => lines.push(line), warn() {}, info() {}, debug() {} };
    const broken = () => {
      throw new Error('broken hook');
    };
    const client = clientOf(server, { logger, logLevel: 'error', onRequest: broken, onResponse: broken });
    expect(await client.webhooks.list()).toEqual([]);
    expect(lines).toEqual(['A hook threw: broken hook', 'A hook threw: broken hook']);
  });
});

describe('a logger', () => {
  it('gets what its level allows, and may fail', async () => {
    const server = await startServer([{ status: 503 }, { data: [] }]);
    const lines: string[] = [];
    const at = (level: string) => (message: string) => lines.push(`${level} ${message}`);
    const logger = { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
    await clientOf(server, { logger, logLevel: 'info' }).webhooks.list();
    expect(lines).toEqual([expect.stringMatching(/^info webhooks.list is retried in \d+ ms: /)]);
    const failing = () => {
      throw new Error('full disk');
    };
    const broken = { error: failing, warn: failing, info: failing, debug: failing };
    expect(await clientOf(server, { logger: broken, logLevel: 'debug' }).webhooks.list()).toEqual([]);
  });
});

describe('withOptions', () => {
  it('changes options for the derived client only, on the same token', async () => {
    const server = await startServer([{ status: 503 }]);
    const client = clientOf(server, { maxRetries: 2 });
    const derived = client.withOptions({ maxRetries: 0, headers: { 'x-extra': '1' } });
    await failureOf(derived.webhooks.list());
    expect(await server.seen()).toHaveLength(1);
    await failureOf(client.webhooks.list());
    const seen = await server.seen();
    expect(seen).toHaveLength(4);
    expect(seen.map(({ headers }) => headers['x-extra'])).toEqual(['1', undefined, undefined, undefined]);
    expect(seen.every(({ headers }) => headers.authorization === 'Bearer test-token')).toBe(true);
  });

  it('refuses what belongs to a client for life', () => {
    const client = clientOf({ url: 'http://127.0.0.1:1' });
    const other: object = { token: 'other' };
    expect(() => client.withOptions(other)).toThrow(/`token` cannot be changed/);
  });
});
