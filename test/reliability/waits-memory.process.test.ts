import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

it('a hundred thousand waits leave nothing behind', async () => {
  const child = fork(new URL('./waits-process.ts', import.meta.url), { execArgv: ['--expose-gc'] });
  const [report] = await once(child, 'message');
  const { ended, size, heap } = report;
  expect(ended).toBe(100_000);
  expect(size).toBe(0);
  // The first two tenths warm up; after that, ten bytes a wait are allowed.
  expect(heap.at(-1) - heap[1]).toBeLessThan(900_000);
});
