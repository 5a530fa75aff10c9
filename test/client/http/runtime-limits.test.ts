import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TimeoutError } from '../../../src/index.ts';
import { serve } from '../../support/file-server.ts';
import { clientOf, failureOf } from '../../support/server.ts';

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
