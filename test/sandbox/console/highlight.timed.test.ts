import { expect, it } from 'vitest';
import { codeBlock } from '../../../src/sandbox/console/highlight.ts';

it.each(['\\"', "\\'", '\\`', '"', ' #', '/', '1', 'new '])(
  'code with %j many times is shown in little time',
  async (part) => {
    const start = performance.now();
    await codeBlock('x', 'Text', part.repeat(20_000 / part.length));
    expect(performance.now() - start).toBeLessThan(300);
  },
);
