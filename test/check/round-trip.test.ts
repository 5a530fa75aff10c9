import { describe, expect, onTestFinished, test } from 'vitest';
import { AudienceClient, openApiDocument } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import type { Paging, ServiceContract } from '../../src/spec/contract.ts';
import { isOperationName, type OperationName, operations } from '../../src/spec/operations.ts';
import { isObject, type JsonObject } from '../../src/util/json.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { failureOf, quick } from '../support/server.ts';
import { setAt } from './support/exchange.ts';
import { AUDIENCES, accountState, NO_LIMITS, ORIGIN, OWNER } from './support/filled-account.ts';
import { LISTED, type RunningVariant, type ServiceDefinition, startVariant } from './support/variant-service.ts';
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
  test.each(differing)('lists all rows of $name', async ({ service, contract }: Case) => {
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

  test.each(differing)('waits for the end of jobs of $name', async ({ service, contract }: Case) => {
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

  test.each(deleting)('creates and deletes at $name', async ({ service, contract }: Case) => {
    const running = await start(service);
    const client = connect(running, contract);
    const before = await running.resources();
    const { id } = await time.until(Promise.resolve(client.projects.create({ name: 'Autumn' })));
    expect(await time.until(Promise.resolve(client.projects.get(id)))).toMatchObject({ name: 'Autumn' });
    await time.until(Promise.resolve(client.projects.delete(id)));
    expect(await running.resources()).toEqual(before);
  });
});

/** Sends requests to a service, and returns what is comparable of its responses. */
function requester(fetch: RunningVariant['fetch'], token: string, next: string | undefined) {
  return async (method: string, path: string, body?: object) => {
    const response = await fetch(`${ORIGIN}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const json: unknown = await response.json();
    const { message, ...envelope } = isObject(json) ? json : {};
    const cursor = next?.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), envelope);
    return {
      status: response.status,
      headers: [...response.headers.keys()].filter((name) => name.endsWith('-id')),
      cursor,
      // Cursors have a form of their own.
      envelope: next === undefined || cursor === undefined ? envelope : setAt(envelope, next, typeof cursor),
    };
  };
}

/** Returns the query of the first or the second page, of two rows each. */
function pageQuery({ style, param, size }: Paging, cursor: unknown): string {
  const position = style === 'cursor' ? cursor : style === 'offset' ? 2 : 2;
  const query = new URLSearchParams(size === undefined ? {} : { [size]: '2' });
  if (cursor !== undefined) query.set(param, String(position));
  return query.toString();
}

const firstId = (envelope: JsonObject, place: string): number => {
  const found = place.split('.').reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), envelope);
  const row: unknown = Array.isArray(found) ? found[0] : found;
  return isObject(row) ? Number(row.id) : 0;
};

/** Returns where an operation is, and where its payload is. */
function placeOf({ operations: differing = {} }: ServiceContract, name: OperationName) {
  const { method = operations[name].method, path = operations[name].path, data = 'data' } = differing[name] ?? {};
  return { method, path, data };
}

const STANDARD: Paging = { style: 'page', param: 'page', size: 'per_page' };

describe('a sandbox with the settings of a service', () => {
  // Differences that are functions are not in the settings.
  const asData = differing.filter(({ service }) => service?.traits === undefined && service?.paging === undefined);

  test.each(asData)('responds as $name', async ({ service, contract }: Case) => {
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
    const next = contract.paging?.next;
    // The same tokens, because they count as ids do.
    const [, token = ''] = (['login', 'api', 'mcp'] as const).map((kind) =>
      sandbox.accounts.get(OWNER.email).token(kind),
    );
    const sides = [requester(running.fetch, running.token, next), requester(sandbox.fetch, token, next)] as const;
    const both = async (
      method: string,
      path: (cursor: unknown) => string,
      body?: object,
      cursors: readonly unknown[] = [],
    ) => {
      const [one, other] = await Promise.all(sides.map((send, side) => send(method, path(cursors[side]), body)));
      if (!one || !other) throw new Error('There are two services.');
      const { cursor, ...seen } = one;
      const { cursor: ofOther, ...seenByOther } = other;
      expect(seenByOther, `${method} ${path(cursor)}`).toEqual(seen);
      return { ...one, cursors: [cursor, ofOther] };
    };
    const at = (name: OperationName) => placeOf(contract, name);
    const paging = contract.paging ?? STANDARD;
    for (const kind of LISTED) {
      const { path, data } = at(`${kind}.list`);
      const first = await both('GET', () => `${path}?${pageQuery(paging, undefined)}`);
      const cursors = paging.style === 'cursor' ? first.cursors : [2, 2];
      await both('GET', (cursor) => `${path}?${pageQuery(paging, cursor)}`, undefined, cursors);
      const id = firstId(first.envelope, data);
      expect(id).toBeGreaterThan(0);
      const { path: one } = at(`${kind}.get`);
      await both('GET', () => one.replace('{id}', String(id)));
      await both('GET', () => one.replace('{id}', '999999'));
    }
    const { method: create, path: creates, data: place } = at('projects.create');
    const { envelope } = await both(create, () => creates, { name: 'Autumn' });
    const { method, path } = at('projects.delete');
    await both(method, () => path.replace('{id}', String(firstId(envelope, place))));
  });

  test('ends jobs at the ids of the settings', async () => {
    const statuses = { 'audience 120': 'completed', 'audience 106': 'failed' } as const;
    const sandbox = createSandbox({ contract: { statuses }, clock: 'manual', origin: ORIGIN });
    onTestFinished(() => sandbox.close());
    const token = sandbox.accounts.create(OWNER).token('api');
    for (const status of [120, 106]) sandbox.jobs.next('audience', status);
    const send = requester(sandbox.fetch, token, undefined);
    for (const name of ['One', 'Two']) await send('POST', '/api/v2/audiences/create', { name });
    await sandbox.advance(3_600_000);
    const { envelope } = await send('GET', '/api/v2/audiences/index');
    expect(envelope.data).toMatchObject([{ status: { id: 106 } }, { status: { id: 120 } }]);
  });
});

describe('a document with the settings of a service', () => {
  test.each(differing)('describes the requests of $name', ({ contract }: Case) => {
    const { paths } = openApiDocument({ contract });
    for (const name of Object.keys(contract.operations ?? {}).filter(isOperationName)) {
      const { method, path } = placeOf(contract, name);
      expect(paths[path]?.[method.toLowerCase()], name).toBeDefined();
    }
  });
});
