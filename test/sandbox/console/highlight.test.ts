import { describe, expect, it } from 'vitest';
import { codeBlock } from '../../../src/sandbox/console/highlight.ts';

describe('code on a page', () => {
  it('has strings, names, numbers and keywords in colours, escaped', async () => {
    const block = String(await codeBlock('x', 'JSON', '{ "a<b": "c", "n": 12, "t": true }'));
    expect(block).toContain('<span class="k">&quot;a&lt;b&quot;</span>: <span class="s">&quot;c&quot;</span>');
    expect(block).toContain('<span class="n">12</span>');
    expect(block).toContain('<span class="k">true</span>');
  });
});
