import '../support/nothing-left.ts';
import { describe, expect, it } from 'vitest';
import { AudienceError, ConfigurationError, JobError, memoryTokenStore } from '../../src/index.ts';
import { type RedisClient, redisTokenStore } from '../../src/redis/index.ts';
import { ping, signIn, startOAuthBench } from '../support/oauth.ts';
import { recentDataset, startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const jobs = { duration: 0 };
const data = new TextEncoder().encode('email\nann@example.com\n');

describe('the error of a call', () => {
  it('the error of a response that is too large for a create tells to repeat it with its key, which a larger `maxResponseBytes` lets succeed', async () => {
    const { connect, account, client } = await startBench();
    const token = account.token('api');
    const error = await failureOf(connect({ token, maxResponseBytes: 10 }).projects.create({ name: 'One' }));
    if (!AudienceError.isInstance(error) || !error.idempotencyKey) throw error;
    expect(error.outcome).toBe('unknown');
    const options = { idempotencyKey: error.idempotencyKey };
    const { id } = await connect({ token, maxResponseBytes: 100_000 }).projects.create({ name: 'One' }, options);
    expect(await client.projects.list().toArray()).toMatchObject([{ id }]);
  });
});

it('a token source that fails after a lost response does not say that nothing was created', async () => {
  const { connect, sandbox, account } = await startBench();
  sandbox.faults.add({ on: 'projects.create', cut: 'after', times: 1 });
  const tokens = [account.token('api')];
  const get = async (): Promise<string> => tokens.pop() ?? Promise.reject(new ConfigurationError('Wrong store.'));
  const client = connect({ token: { get }, backoff: { min: 1, max: 1 } });
  const error = await failureOf(client.projects.create({ name: 'One' }));
  expect(error).toMatchObject({ outcome: 'unknown', advice: expect.stringContaining('may have been created') });
});

describe('the error of an upload', () => {
  it.each([
    [403, 'unusable', 'The slot can no longer be used'],
    [400, 'unknown', 'The slot might no longer be usable'],
  ])(
    'the error of an upload after a %i says that the slot is %s, and another reservation succeeds',
    async (status, slot, text) => {
      const { sandbox, client } = await startBench({ jobs });
      const reservation = await client.uploads.reserve({ kind: 'cohort', size: data.length });
      const release = sandbox.faults.add({ on: 'PUT /uploads/*', status });
      const error = await failureOf(client.uploads.send(reservation, data));
      expect(error).toMatchObject({ slot });
      expect(String(error)).toContain(`${text}: reserve another slot and upload again.`);
      release();
      const another = await client.uploads.reserve({ kind: 'cohort', size: data.length });
      const { reference } = await client.uploads.send(another, data);
      expect(await client.cohorts.create({ name: 'x', upload_reference: reference })).toMatchObject({ name: 'x' });
    },
  );
});

it('the error of an import whose create failed carries the upload, which `cohorts.create` claims', async () => {
  const { sandbox, client } = await startBench({ jobs });
  const release = sandbox.faults.add({ on: 'cohorts.create', cut: 'before' });
  const error = await failureOf(client.cohorts.import(data, { name: 'Customers' }, { maxRetries: 0 }));
  if (!AudienceError.isInstance(error) || !error.upload || !error.idempotencyKey) throw error;
  expect(error.advice).toContain('`cohorts.create` can claim it with `error.upload.reference` until');
  release();
  const body = { name: 'Customers', upload_reference: error.upload.reference };
  const { id } = await client.cohorts.create(body, { idempotencyKey: error.idempotencyKey });
  expect(await client.cohorts.list().toArray()).toMatchObject([{ id }]);
});

describe('the error of a job that ended without success', () => {
  it.each([
    [107, 'change the definition, and create the audience again with a new idempotency key'],
    [401, 'create the audience again with a new idempotency key'],
  ])(
    'the error of a job that ended at %i says that a new attempt needs a new key: the old key returns the same one, a new key builds another',
    async (status, advice) => {
      const { client, sandbox } = await startBench({ jobs });
      sandbox.jobs.next('audience', status);
      const body = { name: 'One', dataset: recentDataset() };
      const build = (idempotencyKey: string) => client.audiences.createAndWait(body, { idempotencyKey });
      const error = await failureOf(build('k'));
      if (!JobError.isInstance(error)) throw error;
      expect(error.advice).toContain(advice);
      expect(error.advice).toContain('For 24 hours, the old key returns this resource');
      expect(await failureOf(build('k'))).toMatchObject({ name: error.name, id: error.id });
      const { id } = await build('k2');
      expect(id).not.toBe(error.id);
      expect(await client.usage.buildBudget()).toMatchObject({ hour: { used: 2 } });
    },
  );

  it('the error of a failed cohort says to upload again, under a new key: the same upload cannot be claimed again', async () => {
    const { client, sandbox } = await startBench({ jobs });
    sandbox.jobs.next('cohort', 5);
    const { reference } = await client.uploads.upload({ kind: 'cohort', data });
    const body = { name: 'Customers', upload_reference: reference };
    const error = await failureOf(client.cohorts.createAndWait(body, { idempotencyKey: 'k' }));
    if (!JobError.isInstance(error)) throw error;
    expect(error.advice).toContain('upload the file again and create the cohort with a new idempotency key');
    expect(await failureOf(client.cohorts.create(body, { idempotencyKey: 'k2' }))).toMatchObject({
      errors: { upload_reference: [expect.any(String)] },
    });
    const again = await client.cohorts.import(data, { name: 'Customers' }, { idempotencyKey: 'k3' });
    expect(again).toMatchObject({ status: { id: 4 } });
  });

  it('the error of a failed cohort of an audience does not say to upload a file', async () => {
    const { client, sandbox } = await startBench({ jobs });
    const { id } = await client.audiences.createAndWait({ name: 'Visitors' });
    sandbox.jobs.next('cohort', 5);
    const error = await failureOf(client.cohorts.createAndWait({ source_audience_id: id }));
    expect(error).toMatchObject({
      name: 'JobFailedError',
      advice: expect.stringContaining('safely create the cohort'),
    });
  });
});

/** The metadata of the authorization server, without a field. */
const without =
  (field: string): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).includes('oauth-authorization-server')) return response;
    const { [field]: _, ...metadata } = Object(await response.json());
    return Response.json(metadata);
  };

describe('the error of a sign-in', () => {
  it('the error of a sign-in at a server that registers no clients says to set `client`, with which it succeeds', async () => {
    const { oauth, clientWith, url, store } = await startOAuthBench();
    await signIn(oauth);
    const { client_id } = JSON.parse(
      /\{"client_id":"[^"]+"\}/.exec(
        JSON.stringify(await store.load()).replace(/.*"client_id":"([^"]+)".*/, '{"client_id":"$1"}'),
      )?.[0] ?? '{}',
    );
    const options = { fetch: without('registration_endpoint') };
    const error = await failureOf(clientWith(memoryTokenStore(), options).authorize());
    expect(String(error)).toContain('Set `client` to a registered client.');
    const registered = clientWith(memoryTokenStore(), { ...options, client: { client_id } });
    await signIn(registered);
    expect(await ping(registered, url)).toBe(200);
  });

  it('the error of an authorization server that cannot revoke names `forget()`, which deletes the tokens from the store', async () => {
    const { store, clientWith } = await startOAuthBench();
    const oauth = clientWith(store, { fetch: without('revocation_endpoint') });
    await signIn(oauth);
    expect(String(await failureOf(oauth.revoke()))).toContain('To delete the tokens from the store, call `forget()`.');
    await oauth.forget();
    expect(await store.load()).toBeUndefined();
  });
});

it('the error of a key in Redis without a token says to delete it or use another, and both work', async () => {
  const values = new Map([['k', 'odd']]);
  const evaluate = async (_source: string, { keys: [key = ''], arguments: [from, to] }: Command): Promise<unknown> => {
    if (to === undefined) return values.get(key) ?? null;
    values.set(key, to);
    return from === undefined ? 0 : 1;
  };
  const redis: RedisClient = { evalSha: evaluate, eval: evaluate };
  const load = (key: string) => redisTokenStore(redis, { key }).load();
  expect(String(await failureOf(Promise.resolve(load('k'))))).toContain('Delete the key, or use another key.');
  expect(await load('another')).toBeUndefined();
  values.delete('k');
  expect(await load('k')).toBeUndefined();
  await redisTokenStore(redis, { key: 'k' }).save({ token: 'a-token' });
  expect(await load('k')).toMatchObject({ token: 'a-token' });
});

interface Command {
  readonly keys: string[];
  readonly arguments: string[];
}
