import { describe, expect, it } from 'vitest';
import { credentials, startSandbox } from '../support/sandbox-calls.ts';

describe('the envelope', () => {
  it('the envelope has status, code, message and data', async () => {
    const { call, token } = startSandbox();
    const { status, body } = await call('GET', '/api/v2/webhooks/index', { token });
    expect({ status, body }).toEqual({
      status: 200,
      body: { status: 'success', code: 200, message: expect.any(String), data: [] },
    });
  });

  it('the body of a 401 is a message only', async () => {
    const { call } = startSandbox();
    expect(await call('GET', '/api/v2/webhooks/index')).toMatchObject({
      status: 401,
      body: { message: 'Unauthenticated.' },
    });
  });

  it('a 422 maps fields to messages and has empty data', async () => {
    const { create, token } = startSandbox();
    const { status, body } = await create(token, undefined, { project_id: 1, name: 7 });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      status: 'error',
      code: 422,
      data: [],
      errors: { project_id: [expect.any(String)], name: [expect.any(String)] },
    });
  });

  it('a request without Accept: application/json is a 406', async () => {
    const { call } = startSandbox();
    for (const accept of ['*/*', 'application/json-seq', 'text/html;q=application/json']) {
      const response = await call('POST', '/api/v2/auth/login', { body: credentials, headers: { accept } });
      expect(response).toMatchObject({ status: 406 });
    }
    const accept = 'text/plain, application/json;q=0.5';
    expect((await call('POST', '/api/v2/auth/login', { body: credentials, headers: { accept } })).status).toBe(200);
  });

  it.each([
    ['/api/v2/nothing', 'Not found: the API has no operation POST /api/v2/nothing.'],
    ['/api/v2/audiences', 'Not found: the API has no operation POST /api/v2/audiences.'],
    ['/api/v1/audiences/create', 'Not found: the API is under /api/v2/.'],
    ['/', 'Not found: the API is under /api/v2/.'],
  ])('the 404 of the path %s names the mistake', async (path, message) => {
    const { call } = startSandbox();
    expect((await call('POST', path, { body: {} })).body).toEqual({ status: 'error', code: 404, message, data: [] });
  });
});
