import { describe, expect, it } from 'vitest';
import { AudienceClient, type AudienceCreate, type CreateOptions } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { credentials } from '../../support/sandbox.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { wireAudience } from '../../support/wire-audience.ts';

const bodiesOf = async (server: Awaited<ReturnType<typeof startServer>>): Promise<unknown[]> =>
  (await server.seen()).map(({ body }) => JSON.parse(body));

describe('extraBody', () => {
  it('adds fields to the body of one create', async () => {
    const server = await startServer([{ data: wireAudience() }, { data: wireAudience() }]);
    const client = clientOf(server);
    const body = { name: 'Visitors' };
    await client.audiences.create(body, { extraBody: { my_field: { nested: [1] } } });
    await client.audiences.create(body);
    expect(await bodiesOf(server)).toEqual([{ name: 'Visitors', my_field: { nested: [1] } }, { name: 'Visitors' }]);
  });

  it('adds fields to the body of `createAndWait`, of an import and of a reservation', async () => {
    const sandbox = createSandbox({ jobs: { duration: 0 } });
    const added: unknown[] = [];
    const client = new AudienceClient({
      baseUrl: 'https://api.example.com',
      token: sandbox.accounts.create(credentials).token('api'),
      fetch: async (input, init) => {
        const request = new Request(input, init);
        const path = new URL(request.url).pathname;
        if (path.endsWith('/create')) added.push([path, (await request.clone().json()).my_field]);
        return sandbox.fetch(request);
      },
    });
    const data = new Blob(['eid\n1\n']);
    await client.audiences.createAndWait({ name: 'x' }, { extraBody: { my_field: 1 } });
    await client.cohorts.import(data, { name: 'x' }, { extraBody: { my_field: 2 } });
    await client.uploads.reserve({ kind: 'cohort', size: 9 }, { extraBody: { my_field: 3 } });
    await client.uploads.upload({ kind: 'cohort', data, fields: { my_field: 4 } });
    expect(added).toEqual([
      ['/api/v2/audiences/create', 1],
      ['/api/v2/uploads/create', undefined],
      ['/api/v2/cohorts/create', 2],
      ['/api/v2/uploads/create', 3],
      ['/api/v2/uploads/create', 4],
    ]);
  });

  it('is checked like the body', async () => {
    const server = await startServer([]);
    const creating = clientOf(server).activations.create({ audience_id: 1 }, { extraBody: { partner_id: 7 } });
    expect(await failureOf(creating)).toMatchObject({ local: true, errors: { partner_id: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    ['a promise of fields', () => ({ name: 'x' }), () => Promise.reject(new Error('x')), 'extraBody'],
    ['a promise as the body', () => Promise.reject(new Error('x')), () => ({ a: 1 }), 'body'],
    ['a body that writes itself', () => ({ toJSON: () => ({ name: 'x' }) }), () => ({ a: 1 }), 'body'],
    ['an array as the body', () => [], () => ({ a: 1 }), 'body'],
  ])('is refused with %s, and nothing is sent', async (_, body, extraBody, field) => {
    const server = await startServer([]);
    const options = { extraBody: extraBody() } as CreateOptions; // as JavaScript passes it
    const creating = clientOf(server).audiences.create(body() as AudienceCreate, options);
    expect(await failureOf(creating)).toMatchObject({ local: true, errors: { [field]: [expect.any(String)] } });
    expect(await server.seen()).toEqual([]);
  });

  it.each([
    [{ name: 'y', more: 1 }, 'must not set fields that the body also has (name).'],
    [[1], 'must be an object of fields to add to the body.'],
    ['x', 'must be an object of fields to add to the body.'],
  ])('is refused if it is %j', async (extraBody, message) => {
    const server = await startServer([]);
    const options = { extraBody } as CreateOptions; // as JavaScript passes it
    const creating = clientOf(server).audiences.create({ name: 'x', project_id: undefined }, options);
    expect(await failureOf(creating)).toMatchObject({ local: true, errors: { extraBody: [message] } });
    expect(await server.seen()).toEqual([]);
  });
});
