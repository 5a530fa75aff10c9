import { describe, expect, it } from 'vitest';
import { createPathMatcher } from '../../src/sandbox/path-pattern.ts';

describe('a pattern of paths', () => {
  it.each([
    ['/a/{id}', '/a/7', true],
    ['/a/{id}', '/a/', false],
    ['/a/{id}', '/a/7/b', false],
    ['/a/{id}/b', '/a/seven/b', true],
    ['/a.b', '/aXb', false],
    ['*', '', true],
    ['*', '/anything/at/all', true],
    ['*/usage', '/api/v2/usage', true],
    ['*/usage', '/api/v2/usage/x', false],
    ['/a/*', '/a/', true],
    ['/a/*/c', '/a/b/c', true],
    ['/a*c*', '/ac', true],
    ['/a/{one}{two}', '/a/x', false],
    ['/a/{one}{two}', '/a/xy', true],
    ['/a/*{id}', '/a/b/c', true],
    ['/a/*{id}', '/a/b/', false],
  ])('%s and %s: %s', (pattern, path, isMatch) => {
    expect(createPathMatcher(pattern)(path)).toBe(isMatch);
  });

  it.each(['/*/*/*/*/*/x', '*'.repeat(500), '/{a}{b}{c}{d}{e}{f}{g}x', '*{a}*{b}*{c}*x'])(
    '%s is compared with a long path in little time',
    (pattern) => {
      const matches = createPathMatcher(pattern);
      const start = performance.now();
      matches('/'.repeat(2_000));
      matches('/a'.repeat(1_000));
      expect(performance.now() - start).toBeLessThan(500);
    },
  );

  it('a pattern of paths that is too long is refused', () => {
    expect(() => createPathMatcher(`/${'x'.repeat(500)}`)).toThrow('`on` must have up to 500 characters, not 501');
  });
});
