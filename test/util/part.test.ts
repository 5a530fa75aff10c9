import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { clientTokens } from '../../src/auth/token-source.ts';
import { resolveOptions } from '../../src/client/client-options.ts';
import { ConnectionError } from '../../src/errors/call-errors.ts';
import { createClientState } from '../../src/http/client-state.ts';
import { createTransport } from '../../src/http/transport.ts';
import { createLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { part } from '../../src/util/part.ts';

describe('a part', () => {
  it('is loaded once, for all who ask for it, and then is there at once', async () => {
    let loads = 0;
    const numbers = part('numbers', () => {
      loads++;
      return Promise.resolve({ one: 1 });
    });
    expect(numbers.loaded).toBeUndefined();
    const both = await Promise.all([numbers.load(), numbers.load()]);
    expect(both).toEqual([{ one: 1 }, { one: 1 }]);
    expect(numbers.load()).toBe(numbers.loaded);
    expect(loads).toBe(1);
  });

  it('that cannot be loaded is told by a typed error, and tried again by the next call', async () => {
    const failures = [new TypeError('Failed to fetch dynamically imported module')];
    const fragile = part('waits', () => {
      const failure = failures.pop();
      return failure ? Promise.reject(failure) : Promise.resolve('here');
    });
    const error = await Promise.resolve(fragile.load()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'connection-failed', attempts: 0, operation: 'load waits' });
    expect(error).toMatchObject({ message: expect.stringMatching(/"waits".*nothing was sent/) });
    expect(await fragile.load()).toBe('here');
  });

  it('that a create lacks is tried again, and keeps it from being sent', async () => {
    let sent = 0;
    let loads = 0;
    const fetch = () => Promise.resolve(new Response(String(++sent)));
    const options = { baseUrl: 'https://api.example.com', fetch, maxRetries: 2, backoff: { min: 1, max: 2 } };
    const { settings, redactor, limits } = resolveOptions({ ...options, logLevel: 'off' });
    const tokens = { general: clientTokens('token'), mcp: clientTokens('token') };
    const state = createClientState({
      limiter: createLimiter(limits),
      redactor,
      tokens,
      answers: part('schemas', () => Promise.reject(new Error(`gone ${++loads}`))),
      readUsage: () => Promise.resolve(undefined),
    });
    const creating = createTransport(state, settings).call('audiences.create', { body: {}, decode: (data) => data });
    await expect(creating).rejects.toMatchObject({ name: 'ConnectionError', outcome: 'not-sent' });
    expect({ sent, loads }).toEqual({ sent: 0, loads: 3 });
  });
});

describe('while the parts of the built package are not loaded yet', () => {
  it('calls and waits can be aborted and closed, are counted, and share their reads once they begin', () => {
    const program = fileURLToPath(new URL('../support/parts-process.ts', import.meta.url));
    expect(JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' }))).toEqual({
      closed: 'client-closed',
      aborted: ['mine', 'mine', 'mine'],
      returned: { done: true },
      after: { done: true },
      walks: 0,
      size: 3,
      heard: false,
      statuses: [104, 104, 104],
      reads: 1,
      creates: 1,
      left: 0,
    });
  });
});
