import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { runs } from '../support/volume.ts';

const WAITS = runs(20_000, 20_000, 100_000);

it(`${WAITS} waits leave nothing behind`, async () => {
  const child = fork(new URL('./waits-process.ts', import.meta.url), [String(WAITS)], { execArgv: ['--expose-gc'] });
  const [report] = await once(child, 'message');
  const { ended, size, heap } = report;
  expect(ended).toBe(WAITS);
  expect(size).toBe(0);
  // The first two tenths warm up; after that, 33 bytes a wait are allowed.
  expect(heap.at(-1) - heap[1]).toBeLessThan(0.8 * WAITS * 33);
});
