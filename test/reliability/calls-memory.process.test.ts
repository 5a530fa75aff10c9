import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { serve } from '../support/file-server.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';

const CALLS = runs(4_000, 4_000, 200_000);
const ABORTED = runs(2_000, 2_000, 100_000);

const success = JSON.stringify({ status: 'success', code: 200, message: '', data: [] });

/** Responds, or does not, by the path. */
const respond: RequestListener = ({ url }, response) => {
  if (url === '/api/v2/stalled') return;
  response.writeHead(url === '/api/v2/busy' ? 503 : 200, { 'retry-after': '60', 'content-type': 'application/json' });
  if (url === '/api/v2/half') response.write(success.slice(0, 20));
  else response.end(success);
};

it(`${CALLS} calls of one client, and ${ABORTED} that are aborted, leave nothing behind`, async () => {
  const server = await serve(respond);
  const seed = Math.floor(seeded('aborted calls')() * 2 ** 31);
  const child = fork(new URL('./calls-process.ts', import.meta.url), [server.url, CALLS, ABORTED, seed].map(String), {
    execArgv: ['--expose-gc'],
  });
  onTestFinished(() => void child.kill());
  const exit = new AbortController();
  child.once('exit', () => exit.abort());
  const [{ ends, listeners, left, heap }] = await once(child, 'message', { signal: exit.signal });
  console.info(JSON.stringify({ ends, heap }));
  expect(ends.succeeded).toBe(CALLS);
  expect(ends.aborted).toBe(ABORTED);
  // Before the first attempt, in it, and in the wait after it.
  expect(ends['aborted in attempt 0']).toBeGreaterThan(0);
  expect(ends['aborted in attempt 1']).toBeGreaterThan(ABORTED / 2);
  expect(Object.keys(ends).filter((end) => /^(?:failed|failure|listeners)/.test(end))).toEqual([]);
  expect(listeners).toBe(0);
  expect(left).toEqual([]);
  await eventually(() => expect(server.busy()).toBe(0));
  // The first two tenths warm up; after that, ten bytes a call are allowed at full length.
  expect(heap.at(-1) - heap[1]).toBeLessThan(2 ** 21);
}, 1_800_000);
