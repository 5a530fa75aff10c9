import { Agent, interceptors, fetch as undiciFetch } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';

const CACHED = { fetchOptions: { cache: 'default' } } as const;

/** Starts a service whose responses a cache keeps, and reads an audience through the cache. */
async function startWithCache() {
  const sandbox = createSandbox({ clock: 'manual', faults: [{ on: 'audiences.get', maxAge: 3_600 }] });
  const account = sandbox.accounts.create({ email: 'me@example.com', password: 'a password' });
  const service = await sandbox.listen();
  onTestFinished(() => service.close());
  const dispatcher = new Agent().compose(interceptors.cache({ type: 'private' }));
  const fetch = (input: unknown, init: unknown) =>
    Reflect.apply(undiciFetch, undefined, [input, Object.assign({}, init, { dispatcher })]);
  const client = new AudienceClient({ baseUrl: service.url, token: account.token('api'), fetch });
  onTestFinished(() => client.close());
  const { id } = await client.audiences.create({ name: 'Visitors' });
  await client.audiences.get(id, CACHED);
  return { sandbox, client, id };
}

it('reads the state of a job from the service, although a cache on the way may keep responses for an hour', async () => {
  const { sandbox, client, id } = await startWithCache();
  sandbox.jobs.finish('audience', id, 104);
  expect(await client.audiences.wait(id)).toMatchObject({ status: { id: 104 } });
});

it('reads from a cache if the call asks for it', async () => {
  const { sandbox, client, id } = await startWithCache();
  sandbox.jobs.finish('audience', id, 104);
  const cached = await client.audiences.get(id, CACHED);
  expect(cached.status.id).not.toBe(104);
});
