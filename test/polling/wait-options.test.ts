import { describe, expect, it } from 'vitest';
import type { WaitOptions } from '../../src/index.ts';
import { checkOptions, idProblem } from '../../src/polling/wait-options.ts';
import { type IdLike, idOf } from '../../src/spec/job-status.ts';

/** What a caller without types may give. */
const untyped = (value: unknown): { readonly id: IdLike; readonly options: WaitOptions<unknown> } =>
  Object.assign(Object.create(null), { id: value, options: value });

describe('the id to wait for', () => {
  it('is a positive integer, or what has one', () => {
    for (const target of [42, { id: 42 }]) {
      expect(idOf(target)).toBe(42);
      expect(idProblem(idOf(target))).toBeUndefined();
    }
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
  ])('is not %o, and the error says so', (given, shown) => {
    expect(idProblem(idOf(untyped(given).id))).toBe(
      `${shown} is no id; give a positive integer, or an object with such an \`id\`.`,
    );
  });
});

describe('options of a wait', () => {
  it('pass as they are', () => {
    const options = { timeout: 0.5, signal: AbortSignal.timeout(1_000), onUpdate: () => {}, request: { timeout: 1 } };
    expect(checkOptions(options)).toBe(options);
    expect(checkOptions({ timeout: undefined, signal: undefined })).toEqual({});
  });

  it.each([
    [{ timout: 5 }, '`timout` is no option of a wait: use timeout, signal, onUpdate, request.'],
    [5, 'Options of a wait are an object, not 5.'],
    [null, 'Options of a wait are an object, not null.'],
    [{ signal: new AbortController() }, '`signal` must be an AbortSignal'],
    [{ signal: null }, '`signal` must be an AbortSignal'],
    [{ onUpdate: 'x' }, '`onUpdate` must be a function.'],
    [{ request: null }, '`request` of a wait is an object, not null.'],
    [{ request: { deadlin: 5 } }, '`request.deadlin` is no option of a wait'],
    [{ request: { timeout: Number.NaN } }, '`timeout` is NaN'],
    [{ request: { headers: { 'a b': 'x' } } }, '`request` of a wait: headers: "a b"'],
    [{ timeout: Number.NaN }, '`timeout` is NaN'],
    [{ timeout: -1 }, '`timeout` is -1'],
  ])('are not %o', (given, message) => {
    expect(() => checkOptions(untyped(given).options)).toThrow(message);
  });
});
