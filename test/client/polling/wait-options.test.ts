import { describe, expect, it } from 'vitest';
import { checkWaitOptions } from '../../../src/client/polling/wait-options.ts';
import type { WaitOptions } from '../../../src/index.ts';
import { type IdLike, idOf } from '../../../src/spec/job-status.ts';
import { startJobService } from '../../support/job-service.ts';
import { failureOf } from '../../support/server.ts';

/** Passes a value as a caller without types may. */
const untyped = (value: unknown): { readonly id: IdLike; readonly options: WaitOptions<unknown> } =>
  Object.assign(Object.create(null), { id: value, options: value });

describe('the id to wait for', () => {
  it('is a number, or the id of an object', () => {
    for (const target of [42, { id: 42 }]) expect(idOf(target)).toBe(42);
  });

  it.each([
    ['42', '"42"'],
    [Number.NaN, 'NaN'],
    [0, '0'],
    [-1, '-1'],
    [1.5, '1.5'],
    [2 ** 53, '9007199254740992'],
    [10n, '10'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{}, 'undefined'],
    [{ id: '7' }, '"7"'],
  ])('is refused without a request if it is %o', async (value, shown) => {
    const { client, reads } = startJobService();
    const { id } = untyped(value);
    const problem = `must be a positive integer, not ${shown}.`;
    const refusal = {
      name: 'ValidationError',
      local: true,
      errors: { id: [problem] },
      message: `audiences.get was not sent: id: ${problem}`,
    };
    expect(await failureOf(client.audiences.wait(id))).toMatchObject(refusal);
    expect(await failureOf(client.audiences.watch(id)[Symbol.asyncIterator]().next())).toMatchObject(refusal);
    expect(reads).toEqual([]);
  });
});

describe('options of a wait', () => {
  it('pass if they are valid', () => {
    const options = { timeout: 0.5, signal: AbortSignal.timeout(1_000), onUpdate: () => {}, request: { timeout: 1 } };
    for (const valid of [options, { timeout: undefined, signal: undefined }, undefined]) {
      expect(() => checkWaitOptions(valid)).not.toThrow();
    }
  });

  it.each([
    [{ timout: 5 }, '`timout` is not an option of a wait: use timeout, signal, onUpdate, request.'],
    [5, 'The options of a wait must be an object.'],
    [null, 'The options of a wait must be an object.'],
    [{ signal: new AbortController() }, '`signal` must be an AbortSignal'],
    [{ signal: null }, '`signal` must be an AbortSignal, such as the `signal` of an AbortController, but is null.'],
    [{ onUpdate: 'x' }, '`onUpdate` must be a function, but is a string.'],
    [{ request: null }, '`request` must be an object, but is null.'],
    [{ request: { deadlin: 5 } }, '`request.deadlin` is not an option of a wait: use timeout, maxRetries,'],
    [{ request: { timeout: Number.NaN } }, '`request.timeout` must be a number of 0 or more, not NaN.'],
    [{ request: { headers: { 'a b': 'x' } } }, '`request.headers` must not contain an invalid header'],
    [{ request: { headers: { authorization: 'x' } } }, '`request.headers` must not contain an invalid header'],
    [{ request: { headers: 'x' } }, '`request.headers` must not contain an invalid header'],
    [{ timeout: '30s' }, '`timeout` must be a number of 0 or more, not "30s": durations are in milliseconds.'],
    [{ timeout: -1 }, '`timeout` must be a number of 0 or more, not -1.'],
  ])('are refused if they are %o', (value, message) => {
    expect(() => checkWaitOptions(untyped(value).options)).toThrow(message);
  });

  it.each([0, 'x', null])('are refused by every method that takes them if they are %o', async (value) => {
    const { client, reads } = startJobService();
    const { options } = untyped(value);
    const refusal = { name: 'ConfigurationError', message: 'The options of a wait must be an object.' };
    const { audiences, cohorts } = client;
    expect(await failureOf(audiences.wait(1, options))).toMatchObject(refusal);
    expect(await failureOf(audiences.createAndWait({ name: 'A' }, { wait: options }))).toMatchObject(refusal);
    expect(await failureOf(audiences.watch(1, options)[Symbol.asyncIterator]().next())).toMatchObject({
      ...refusal,
      message: 'The options of a watch must be an object.',
    });
    expect(await failureOf(cohorts.import(new Uint8Array(3), {}, { wait: options }))).toMatchObject(refusal);
    expect(reads).toEqual([]);
  });

  it('are refused by a watch if it has no such option', async () => {
    const { client, reads } = startJobService();
    for (const name of ['onUpdate', 'timout']) {
      const { options } = untyped({ [name]: () => {} });
      const changes = client.audiences.watch(1, options)[Symbol.asyncIterator]();
      const message = `\`${name}\` is not an option of a watch: use timeout, signal, request.`;
      expect(await failureOf(changes.next())).toMatchObject({ name: 'ConfigurationError', message });
    }
    expect(reads).toEqual([]);
  });
});
