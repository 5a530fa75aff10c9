import { describe, expect, it } from 'vitest';
import { codeBlock } from '../../../src/sandbox/console/highlight.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

describe('code on a page', () => {
  it('has strings, names, numbers and keywords in colours, escaped', async () => {
    const block = String(await codeBlock('x', 'JSON', '{ "a<b": "c", "n": 12, "t": true }'));
    expect(block).toContain('<span class="k">&quot;a&lt;b&quot;</span>: <span class="good">&quot;c&quot;</span>');
    expect(block).toContain('<span class="busy">12</span>');
    expect(block).toContain('<span class="k">true</span>');
  });

  it.each(['\\"', "\\'", '\\`', '"', ' #', '/', '1', 'new '])('with %j many times is shown in linear time', (part) =>
    expectLinearTime((size) => {
      const code = part.repeat(size / part.length);
      return () => codeBlock('x', 'Text', code);
    }, 20_000),
  );
});
