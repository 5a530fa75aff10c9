import { describe, expect, onTestFinished, test } from 'vitest';
import { AudienceClient, openApiDocument } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import type { ServiceContract } from '../../../src/spec/contract.ts';
import { isOperationName } from '../../../src/spec/operations.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { failureOf, quick } from '../../support/server.ts';
import { someOf } from '../../support/volume.ts';
import { following } from './support/contracts.ts';
import { LISTED, type ServiceDefinition } from './support/emulation.ts';
import { AUDIENCES, accountState, NO_LIMITS, ORIGIN, OWNER } from './support/filled-account.ts';
import { placeOf, repliesOf } from './support/two-services.ts';
import { type RunningVariant, startVariant } from './support/variant-service.ts';
import { variants } from './variants.ts';

const time = inVirtualTime();

/** Services that differ in what a settings file can hold, and the file. */
const differing = variants.flatMap(({ name, service, stopped }) => {
  const contract = service?.contract;
  return contract && stopped === undefined ? [{ name, service, contract }] : [];
});

type Case = (typeof differing)[number];

async function start(service: ServiceDefinition | undefined): Promise<RunningVariant> {
  const running = await startVariant(service);
  onTestFinished(() => running.close());
  return running;
}

function connect({ baseUrl, token, fetch }: RunningVariant, contract: ServiceContract): AudienceClient {
  const client = new AudienceClient({ ...quick, baseUrl, token, fetch, contract });
  onTestFinished(() => client.close());
  return client;
}

describe('a client with the settings of a service', () => {
  test.each(someOf(differing))('lists all rows of $name', async ({ service, contract }: Case) => {
    const running = await start(service);
    const client = connect(running, contract);
    for (const kind of LISTED) {
      const ids = (await running.resources()).filter((one) => one.kind === kind).map(({ id }) => id);
      const rows = await time.until(Promise.resolve(client[kind].list().toArray()));
      expect(rows.map(({ id }) => id)).toEqual(ids);
      const [id = 0] = ids;
      expect((await time.until(Promise.resolve(client[kind].get(id)))).id).toBe(id);
    }
    expect(await time.until(Promise.resolve(client.audiences.list({ per_page: 7 }).toArray()))).toHaveLength(AUDIENCES);
  });

  test.each(someOf(differing))('waits for the end of jobs of $name', async ({ service, contract }: Case) => {
    const running = await start(service);
    const client = connect(running, contract);
    const build = (status: number) => {
      let isEnded = false;
      return client.audiences.createAndWait(
        { name: `Ends at ${status}` },
        {
          wait: {
            onUpdate({ id }) {
              if (!isEnded) running.sandbox.jobs.finish('audience', id, status);
              isEnded = true;
            },
          },
        },
      );
    };
    expect((await time.until(build(104))).name).toBe('Ends at 104');
    const failure = await time.until(failureOf(build(107)));
    expect(failure).toMatchObject({ resource: { name: 'Ends at 107' } });
  });

  const deleting = differing.filter(({ service }) => !service?.missing?.includes('projects.delete'));

  test.each(someOf(deleting))('creates and deletes at $name', async ({ service, contract }: Case) => {
    const running = await start(service);
    const client = connect(running, contract);
    const before = await running.resources();
    const { id } = await time.until(Promise.resolve(client.projects.create({ name: 'Autumn' })));
    expect(await time.until(Promise.resolve(client.projects.get(id)))).toMatchObject({ name: 'Autumn' });
    await time.until(Promise.resolve(client.projects.delete(id)));
    expect(await running.resources()).toEqual(before);
  });
});

describe('a sandbox with the settings of a service', () => {
  // Differences that are functions are not in the settings.
  const asData = differing.filter(({ service }) => service?.traits === undefined && service?.paging === undefined);

  test.each(someOf(asData))('responds as $name', async ({ service, contract }: Case) => {
    const running = await start(service);
    const sandbox = createSandbox({
      contract,
      clock: 'manual',
      origin: ORIGIN,
      state: await accountState(true),
      limits: NO_LIMITS,
      jobs: { devices: 5_000 },
      deliver: async () => new Response(null, { status: 200 }),
    });
    onTestFinished(() => sandbox.close());
    // The same tokens, because they have ids, too.
    const account = sandbox.accounts.get(OWNER.email);
    const [, token = ''] = (['login', 'api', 'mcp'] as const).map((kind) => account.token(kind));
    const replies = await repliesOf(running, contract);
    expect(Object.values(replies).map(({ status }) => status)).toContain(200);
    expect(await repliesOf({ fetch: sandbox.fetch, token }, contract)).toEqual(replies);
  });

  test('reads ids that are a part of a segment', async () => {
    const paths = { list: '/*.json', get: '/*/id-{id}.json', delete: 'DELETE /*/{id}.json' };
    const contract = following(paths);
    const sandbox = createSandbox({ contract, clock: 'manual', origin: ORIGIN, state: await accountState(true) });
    onTestFinished(() => sandbox.close());
    const account = sandbox.accounts.get(OWNER.email);
    const [, token = ''] = (['login', 'api', 'mcp'] as const).map((kind) => account.token(kind));
    const replies = await repliesOf(await start({ contract }), contract);
    expect(await repliesOf({ fetch: sandbox.fetch, token }, contract)).toEqual(replies);
  });

  test('ends jobs at the ids of the settings', async () => {
    const statuses = { 'audience 120': 'completed', 'audience 106': 'failed' } as const;
    const sandbox = createSandbox({ contract: { statuses }, clock: 'manual', origin: ORIGIN });
    onTestFinished(() => sandbox.close());
    const token = sandbox.accounts.create(OWNER).token('api');
    const client = new AudienceClient({
      ...quick,
      baseUrl: ORIGIN,
      token,
      fetch: sandbox.fetch,
      contract: { statuses },
    });
    onTestFinished(() => client.close());
    for (const status of [120, 106]) sandbox.jobs.next('audience', status);
    const ids: number[] = [];
    for (const name of ['One', 'Two'])
      ids.push((await time.until(Promise.resolve(client.audiences.create({ name })))).id);
    await sandbox.advance(3_600_000);
    const [completed = 0, failed = 0] = ids;
    expect(await time.until(client.audiences.wait(completed))).toMatchObject({ status: { id: 120 } });
    expect(await time.until(failureOf(client.audiences.wait(failed)))).toMatchObject({
      resource: { status: { id: 106 } },
    });
  });
});

describe('a document with the settings of a service', () => {
  test.each(someOf(differing))('describes the requests of $name', ({ contract }: Case) => {
    const { paths } = openApiDocument({ contract });
    for (const name of Object.keys(contract.operations ?? {}).filter(isOperationName)) {
      const { method, path } = placeOf(contract, name);
      expect(paths[path]?.[method.toLowerCase()], name).toBeDefined();
    }
  });
});
