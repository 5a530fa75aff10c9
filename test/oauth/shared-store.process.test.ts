import '../support/nothing-left.ts';
import { readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { signIn } from '../support/oauth.ts';
import { ENDED, end, HOUR, isLocked, makeLockOlder, start, startExpired, TOKEN } from '../support/oauth-processes.ts';
import { ask } from '../support/started-process.ts';

const PAIR = {
  token: expect.stringMatching(/./),
  oauth: { grant: { token: expect.stringMatching(/./), refreshToken: expect.stringMatching(/./) } },
};

it('six processes with one token file refresh once when the service rejects the token of 60 calls', async () => {
  const { path, url, exchanges, statuses } = await startExpired();
  const children = await Promise.all(Array.from({ length: 6 }, () => start(path, url)));
  const tokens = await Promise.all(children.map((child) => ask(child, 'get')));
  expect(new Set(tokens).size).toBe(1);
  const results = await Promise.all(children.map((child) => ask(child, 'ten calls')));
  expect(results.flat()).toEqual(Array(60).fill(200));
  expect(exchanges()).toEqual([200, 200]);
  expect(statuses().sort()).toEqual([...Array(60).fill(200), ...Array(60).fill(401)]);
  expect(await readdir(dirname(path))).toEqual(['token.json']);
});

/** State after a kill, and the result of the next process. */
interface Aftermath {
  readonly pair: 'old' | 'new';
  /** Number of incomplete files. */
  readonly parts: number;
  readonly next: unknown;
  readonly exchanges: readonly number[];
}

/** The request did not reach the service, so the old pair is valid. */
const NOTHING_DONE: Aftermath = { pair: 'old', parts: 0, next: 200, exchanges: [200, 200] };
/** The new pair was lost with the process, and the old one is revoked. */
const LOST: Aftermath = { pair: 'old', parts: 0, next: ENDED, exchanges: [200, 200, 400] };
const SAVED: Aftermath = { pair: 'new', parts: 0, next: 200, exchanges: [200, 200] };

const STEPS: Readonly<Record<string, Aftermath>> = {
  'before /oauth/token': NOTHING_DONE,
  held: { ...NOTHING_DONE, exchanges: [200, 0, 200] },
  unheard: LOST,
  'after /oauth/token': LOST,
  half: { ...LOST, parts: 1 },
  renamed: SAVED,
  release: SAVED,
};

/** Starts a bench for the steps during the request; `arrived` is called when the service receives it. */
async function startAt(step: string) {
  const arrived = vi.fn();
  let late = false;
  // The service executes the request after its process was killed.
  const throughProxy = async (url: string): Promise<string> => {
    const proxy = await startFaultProxy(url, ({ path }) => {
      if (!late || path !== TOKEN) return undefined;
      arrived();
      return { kind: 'late', ms: 500 };
    });
    return proxy.url;
  };
  const bench = await startExpired(step === 'unheard' ? throughProxy : undefined);
  late = true;
  const on = ({ path }: { readonly path: string }): boolean => {
    if (path !== TOKEN) return false;
    arrived();
    return true;
  };
  if (step === 'held') bench.sandbox.faults.add({ on, delay: 10 * HOUR, times: 1 });
  return { ...bench, arrived };
}

/** Kills a process at a step of its refresh, and lets another one continue. */
async function killedAt(step: string): Promise<Aftermath> {
  const { path, url, exchanges, store, before, oauth, arrived } = await startAt(step);
  const child = await start(path, url, step, 'SIGKILL');
  child.send('call');
  if (step === 'held' || step === 'unheard') {
    await eventually(() => expect(arrived).toHaveBeenCalled());
    child.kill('SIGKILL');
  }
  await end(child);
  expect(child.signalCode).toBe('SIGKILL');
  expect(isLocked(path)).toBe(true);
  const left = await store.load();
  expect(left).toMatchObject(PAIR);
  const pair = left?.token === before?.token ? 'old' : 'new';
  if (pair === 'old') expect(left).toEqual(before);
  await makeLockOlder(path);
  const next = await ask(await start(path, url), 'call');
  const parts = (await readdir(dirname(path))).filter((name) => name.endsWith('.tmp')).length;
  expect(isLocked(path)).toBe(false);
  const made = exchanges();
  if (next !== 200) {
    expect(await store.load()).toMatchObject({ token: '' });
    await signIn(oauth);
    expect(await store.load()).toMatchObject(PAIR);
  }
  return { pair, parts, next, exchanges: made };
}

describe('a process that is killed during a refresh', () => {
  it('leaves one complete pair and a lock that the next process takes over, which then continues or requires a sign-in', async () => {
    const steps = Object.keys(STEPS);
    const seen = await Promise.all(steps.map(async (step) => [step, await killedAt(step)]));
    expect(Object.fromEntries(seen)).toEqual(STEPS);
  });
});
