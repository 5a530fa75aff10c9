import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiToken, type ClientOptions, type StoredToken } from '../../src/index.ts';
import { createWebhookReceiver } from '../../src/webhooks/index.ts';
import { delivery, SECRET, wireEvent } from '../support/deliveries.ts';
import type { Script, Step } from '../support/script.ts';
import { clientOf, startServer } from '../support/server.ts';
import { isWorking, startVirtualTime, type VirtualTime } from '../support/virtual-time.ts';
import { wireAudience } from '../support/wire-audience.ts';

const USERS = ['alice', 'bob', 'carol'];
const user = new AsyncLocalStorage<string>();

let time: VirtualTime;
let seen: Map<string, { calls: number; byOthers: unknown[] }>;

beforeEach(() => {
  seen = new Map();
  time = startVirtualTime(isWorking);
  const { setTimeout: virtual } = globalThis;
  // A real timer fires in the context in which it was set.
  const bound = (callback: () => void, ...rest: unknown[]) => virtual(AsyncResource.bind(callback), ...(rest as []));
  Object.assign(globalThis, { setTimeout: bound });
});

afterEach(() => time.end());

/** Records in whose context a callback runs. The user whose work it is about is named in `about`, or by an id from 1. */
function note(callback: string, about: unknown): void {
  const entry = seen.get(callback) ?? { calls: 0, byOthers: [] };
  seen.set(callback, entry);
  entry.calls++;
  const owner =
    typeof about === 'number' ? USERS[about - 1] : USERS.find((name) => JSON.stringify(about).includes(name));
  if (user.getStore() !== owner) entry.byOthers.push([owner, user.getStore(), about]);
}

/** Options whose callbacks all record their contexts. */
const noting = (): ClientOptions => ({
  logLevel: 'debug',
  logger: {
    error: (...line) => note('logger.error', line),
    warn: (...line) => note('logger.warn', line),
    info: (...line) => note('logger.info', line),
    debug: (...line) => note('logger.debug', line),
  },
  fetch(url, init) {
    note('fetch', url);
    return fetch(url, init);
  },
  around(event, next) {
    note('around', event.path);
    return next({
      wrapFetch: (send) => (url, init) => {
        note('wrapFetch', url);
        return send(url, init);
      },
    });
  },
  onRequest: ({ path }) => note('onRequest', path),
  onResponse: ({ path }) => note('onResponse', path),
  onRetry: ({ path }) => note('onRetry', path),
  shouldRetry({ path }) {
    note('shouldRetry', path);
    return true;
  },
  onWaiting: ({ path }) => note('onWaiting', path),
  onEnd: ({ path }) => note('onEnd', path),
  onWait: ({ id }) => note('onWait', id),
});

/** Lets all users work at the same time, each in a context of their own. */
const asEach = <T>(work: (name: string, id: number) => Promise<T>): Promise<T[]> =>
  time.until(Promise.all(USERS.map((name, at) => user.run(name, () => work(name, at + 1)))));

const pathOf = (name: string): string => `/api/v2/${name}`;
const scriptOf = (steps: readonly Step[]): Script =>
  Object.fromEntries(USERS.map((name) => [`GET ${pathOf(name)}`, steps]));

/** Expects that each of these callbacks was called, and none in the context of another user. */
function expectOwn(...callbacks: readonly string[]): void {
  expect(Object.fromEntries([...seen].map(([name, { byOthers }]) => [name, byOthers]))).toEqual(
    Object.fromEntries([...seen.keys()].map((name) => [name, []])),
  );
  expect([...seen.keys()]).toEqual(expect.arrayContaining([...callbacks]));
}

const OF_CALLS = ['around', 'wrapFetch', 'fetch', 'onRequest', 'onResponse', 'onEnd', 'logger.debug'];

describe('each callback runs in the async context of its own caller', () => {
  it('while calls queue at the rate limit', async () => {
    const client = clientOf(await startServer(scriptOf([{ data: [] }])), {
      ...noting(),
      rateLimits: { read: { limit: 1, interval: 7_000 } },
    });
    await asEach((name) => client.request('GET', pathOf(name)));
    await asEach((name) => client.request('GET', pathOf(name)));
    expectOwn(...OF_CALLS, 'onWaiting', 'logger.info');
  });

  it('while calls are retried, after a pause that the service asks for', async () => {
    const limited = { status: 429, headers: { 'retry-after': '8' } };
    const server = await startServer(scriptOf([{ status: 503 }, limited, { data: [] }]));
    const client = clientOf(server, noting());
    await asEach((name) => client.request('GET', pathOf(name)));
    expectOwn(...OF_CALLS, 'onRetry', 'shouldRetry', 'onWaiting', 'logger.info');
  });

  it('while calls ask for their tokens, and get others after a 401', async () => {
    const server = await startServer(scriptOf([{ bearer: 'second' }]));
    let current = 'first';
    const client = clientOf(server, {
      ...noting(),
      token: {
        async get({ rejected }) {
          note('token source', user.getStore());
          if (rejected === current) current = 'second';
          return current;
        },
      },
    });
    await asEach((name) => client.request('GET', pathOf(name)));
    expectOwn(...OF_CALLS, 'onRetry', 'token source');
  });

  it('while waits share polls, and a webhook of another context ends one of them', async () => {
    const rows = (status: number): unknown[] => USERS.map((_, at) => wireAudience(at + 1, { id: status, name: 'S' }));
    const singles = USERS.map((_, at) => [`GET /api/v2/audiences/${at + 1}`, [{ data: [rows(100)[at]] }]] as const);
    const lists = { 'GET /api/v2/audiences/index': [...Array(5).fill({ data: rows(100) }), { data: rows(104) }] };
    const { onWait } = noting();
    const polledBy = new Set<unknown>();
    const client = clientOf(await startServer({ ...Object.fromEntries(singles), ...lists }), {
      onWait,
      onRequest: () => void polledBy.add(user.getStore()),
    });
    const waiting = asEach(async (_, id) => {
      const states = async (): Promise<void> => {
        for await (const { id: watched } of client.audiences.watch(id)) note('watch', watched);
      };
      await Promise.all([
        client.audiences.wait(id, { onUpdate: (audience) => note('onUpdate', audience.id) }),
        states(),
      ]);
      note('the end of a wait', id);
    });
    await time.pass(4_000);
    const data = rows(104)[2] as Record<string, unknown>;
    user.run('mallory', () => client.waits.notify({ type: 'audience.completed', data }));
    await waiting;
    expectOwn('onUpdate', 'onWait', 'watch', 'the end of a wait');
    // A poll runs in the context of the wait that sends it.
    expect(USERS).toEqual(expect.arrayContaining([...polledBy]));
  });

  it('while they upload files', async () => {
    const slow = { upload: 'stall' } as const;
    const server = await startServer(Object.fromEntries(USERS.map((name) => [`PUT ${pathOf(name)}`, [slow]])));
    const client = clientOf(server, noting());
    await asEach(async (name) => {
      const slot = { reference: name, url: `${server.url}${pathOf(name)}`, expires_at: '2099-01-01T00:00:00Z' };
      const size = 2 ** 22;
      await client.uploads.send({ ...slot, size } as never, new Uint8Array(size), {
        onProgress: () => note('onProgress', name),
      });
    });
    expectOwn('around', 'wrapFetch', 'fetch', 'onRequest', 'onResponse', 'onEnd', 'onProgress');
  });

  it('while deliveries of webhooks arrive together', async () => {
    const receiver = createWebhookReceiver({
      secrets: SECRET,
      on: { 'audience.completed': ({ id }) => note('handler', id) },
      otherwise: ({ id }) => note('otherwise', id),
      onDelivery: ({ type, eventId = user.getStore() }) => note(`onDelivery ${type}`, eventId),
      aroundHandler({ eventId }, next) {
        note('aroundHandler', eventId);
        return next();
      },
      logger: { warn: (line) => note('logger.warn', line), error: (line) => note('logger.error', line) },
    });
    receiver.attach({ notify: ({ id }) => note('listener', id) });
    const send = async (event: object): Promise<number> => (await receiver.handle(await delivery(event))).status;
    await asEach((name) =>
      Promise.all([send(wireEvent(name)), send(wireEvent(name)), send(wireEvent(`${name} 2`, { type: 'unknown' }))]),
    );
    expectOwn(
      'handler',
      'otherwise',
      'onDelivery handled',
      'onDelivery busy',
      'aroundHandler',
      'listener',
      'logger.warn',
    );
  });
});

describe('work that several callers share', () => {
  it('runs in the context of the caller that began it: the renewal of a token', async () => {
    const contexts = new Set<unknown>();
    let stored: StoredToken | undefined = { token: 'old' };
    const store = {
      load: async () => stored,
      async save(token: StoredToken | undefined) {
        contexts.add(user.getStore());
        stored = token;
      },
      withLock: <R>(work: () => Promise<R>) => work(),
    };
    const issued = { data: { token: 'new', expires_at: '2099-01-01T00:00:00Z' } };
    const server = await startServer({ ...scriptOf([{ bearer: 'new' }]), '*': [issued] });
    const client = clientOf(server, {
      token: apiToken({ email: 'a@b.co', password: 's' }, { store }),
      onRequest: ({ bucket, path }) => (bucket === 'mint' ? contexts.add(user.getStore()) : note('onRequest', path)),
    });
    await asEach((name) => client.request('GET', pathOf(name)));
    expect([...contexts]).toEqual(['alice']);
    expectOwn('onRequest');
  });
});
