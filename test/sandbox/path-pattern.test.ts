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

  // With backtracking, these would take longer than any test may.
  it.each([
    ['/*/*/*/*/*/x', false],
    ['*'.repeat(500), true],
    ['/{a}{b}{c}{d}{e}{f}{g}x', false],
    ['*{a}*{b}*{c}*x', false],
  ])('%s is compared with a long path: %s', (pattern, isMatch) => {
    const matches = createPathMatcher(pattern);
    expect(matches('/'.repeat(2_000))).toBe(isMatch);
    expect(matches('/a'.repeat(1_000))).toBe(isMatch);
  });

  it('a pattern of paths that is too long is refused', () => {
    expect(() => createPathMatcher(`/${'x'.repeat(500)}`)).toThrow('`on` must have up to 500 characters, not 501');
  });
});
