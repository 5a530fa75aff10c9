import { describe, expect, it } from 'vitest';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

describe('an ApiPromise', () => {
  it('resolves to the payload, by one request however often it is awaited', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const call = clientOf(server).audiences.get(42);
    expect(await call).toBe(await call);
    expect(await call.then(({ id }) => id)).toBe(42);
    expect(await Promise.all([call, call])).toHaveLength(2);
    expect(await server.seen()).toHaveLength(1);
  });

  it('returns response, envelope, request id and attempts', async () => {
    const server = await startServer([
      { status: 503 },
      { data: [wireAudience()], message: 'Here.', headers: { 'x-request-id': 'req-7' } },
    ]);
    const { data, response, envelope, requestId, attempts } = await clientOf(server).audiences.get(42).withResponse();
    expect(data.id).toBe(42);
    expect(response.status).toBe(200);
    expect(response.url).toBe(`${server.url}/api/v2/audiences/42`);
    expect(envelope).toMatchObject({ status: 'success', code: 200, message: 'Here.' });
    expect({ requestId, attempts }).toEqual({ requestId: 'req-7', attempts: 2 });
  });

  it('returns the raw response of a success with an unread body, whatever its data', async () => {
    const server = await startServer([{ data: 'odd' }]);
    const response = await clientOf(server).audiences.get(42).asResponse();
    expect(response.bodyUsed).toBe(false);
    expect(await response.json()).toMatchObject({ data: 'odd' });
  });

  it('rejects from each of its methods when the call fails', async () => {
    const server = await startServer([{ status: 404 }]);
    const call = clientOf(server).audiences.get(42);
    const errors = await Promise.all([
      failureOf(call),
      failureOf(call.asResponse()),
      failureOf(call.withResponse()),
      call.catch((error) => error),
      call.then(undefined, (error) => error),
      failureOf(call.finally(() => {})),
    ]);
    expect(new Set(errors).size).toBe(1);
  });

  it('has a key that can be read immediately on creates only', async () => {
    const server = await startServer([{ data: [wireAudience()] }]);
    const client = clientOf(server);
    const create = client.audiences.create({ name: 'A' }, { idempotencyKey: 'mine' });
    expect(create.idempotencyKey).toBe('mine');
    const get = client.audiences.get(1);
    expect(get.idempotencyKey).toBeUndefined();
    await Promise.all([create, get]);
  });
});
