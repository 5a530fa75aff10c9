import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Fetch, type FetchOptions, TimeoutError } from '../../../src/index.ts';
import { serve } from '../../support/file-server.ts';
import { clientOf, failureOf, startServer } from '../../support/server.ts';
import { startStorage } from '../../support/storage.ts';

describe("a limit of the runtime's own", () => {
  it.each([
    ['headersTimeout', { headersTimeout: 50 }, '{}', 10_000],
    ['bodyTimeout', { bodyTimeout: 50 }, '{', 0],
  ])('is a timeout whose message names `%s` and the way out', async (name, limits, text, delay) => {
    const { url } = await serve((_, response) => {
      setTimeout(() => response.write(text), delay).unref();
    });
    const dispatcher = new Agent(limits);
    onTestFinished(() => dispatcher.destroy());
    const fetch = (input: unknown, init: unknown) =>
      Reflect.apply(undiciFetch, undefined, [input, Object.assign({}, init, { dispatcher })]);
    const error = await failureOf(clientOf({ url }, { fetch, maxRetries: 0 }).audiences.create({ name: 'Visitors' }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      code: 'attempt-timeout',
      outcome: 'unknown',
      message: expect.stringContaining(`within the \`${name}\` of the runtime`),
      advice: expect.stringContaining(`fetchOptions: { dispatcher: new Agent({ ${name}: 0 }) }`),
    });
  });
});

describe('a client in Node', () => {
  const warnings = () => {
    const warned: string[] = [];
    const ignore = (): void => {};
    const logger = { error: ignore, warn: (message: string) => warned.push(message), info: ignore, debug: ignore };
    return { warned, options: { logger, logLevel: 'warn' } as const };
  };
  const answers = [{ data: {} }, { data: {} }];
  const fetchOptions = (dispatcher: Agent): FetchOptions => ({ dispatcher }) as object;

  it('warns once that its `fetch` ends requests before a `timeout` of more than 300 s, and says the way out', async () => {
    const { warned, options } = warnings();
    const client = clientOf(await startServer(answers), { ...options, timeout: 600_000 });
    for (const _ of answers) await client.request('GET', '/anything');
    expect(warned).toEqual([
      expect.stringMatching(/^`timeout` is 600000 ms, .* after 300000 ms .*`fetchOptions: \{ dispatcher: new Agent/),
    ]);
  });

  it('warns of an `idleTimeout` of more than 300 s', async () => {
    const { warned, options } = warnings();
    const { client } = await startStorage([{}], options);
    await client.uploads.upload({ kind: 'cohort', data: new Uint8Array(8) }, { idleTimeout: 600_000 });
    expect(warned).toEqual([expect.stringContaining('`idleTimeout` is 600000 ms')]);
  });

  it.each([
    ['the timeout is 300 s', () => ({ timeout: 300_000 })],
    ['the user passes a `fetch`', () => ({ timeout: 600_000, fetch: (...args: Parameters<Fetch>) => fetch(...args) })],
    ['the user passes a dispatcher', (agent: Agent) => ({ timeout: 600_000, fetchOptions: fetchOptions(agent) })],
  ])('does not warn if %s', async (_, optionsOf) => {
    const { warned, options } = warnings();
    const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    onTestFinished(() => agent.destroy());
    await clientOf(await startServer(answers), { ...options, ...optionsOf(agent) }).request('GET', '/anything');
    expect(warned).toEqual([]);
  });
});
