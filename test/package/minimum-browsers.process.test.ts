import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MINIMUM_BROWSERS, minimumVersions, newerBuiltIns } from '../../scripts/minimum-browsers.ts';

describe('the oldest browsers that are supported', () => {
  it('have every built-in that the sources use', () => {
    expect(minimumVersions()).toEqual(MINIMUM_BROWSERS);
    // The type checker reads all of the sources, which takes long beside other tests.
  });

  it('are the documented ones', () => {
    const { chrome, firefox, safari } = MINIMUM_BROWSERS;
    const versions = `Chrome and Edge ${chrome}, Firefox ${firefox}, Safari ${safari}`;
    for (const file of ['docs/support.md', 'docs/browsers.md']) expect(readFileSync(file, 'utf8')).toContain(versions);
  });

  it('lack what the browser tests delete', () => {
    const names = newerBuiltIns(MINIMUM_BROWSERS);
    const missing = [
      'Request.body',
      'ReadableStream.@@asyncIterator',
      'Symbol.asyncDispose',
      'Promise.try',
      'URLPattern',
    ];
    expect(names).toEqual(expect.arrayContaining(missing));
    for (const name of ['AbortSignal.any', 'Promise.withResolvers', 'Response.body', 'fetch'])
      expect(names).not.toContain(name);
  });
});
