import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

describe('examples/worker', () => {
  it('starts a build once in workerd, responds immediately, and stores the result of the webhook', async () => {
    const { stdout, stderr } = await runProgram(['examples/worker/run.ts']);
    const id = /^Started: 202 \{"id":(\d+),"idempotencyKey":"order-4711"\}$/m.exec(stdout)?.[1];
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^Bundled in \d+ KiB\.$/);
    expect(lines.slice(1, 4)).toEqual([
      `Started: 202 {"id":${id},"idempotencyKey":"order-4711"}`,
      `The same again: 202 {"id":${id},"idempotencyKey":"order-4711"}`,
      `Running: 200 {"id":${id},"status":"Queued","results_count":0,"source":"service"}`,
    ]);
    expect(lines[4]).toBe('Delivered: audience.completed: 200');
    expect(JSON.parse(lines[5]?.replace('Ended: 200 ', '') ?? '')).toMatchObject({
      id: Number(id),
      status: 'Completed',
      results_count: expect.any(Number),
      source: 'webhook',
    });
    expect(lines.slice(6)).toEqual(['Not genuine: 400 ', 'Not there: 404 {"code":"not-found"}']);
    // workerd may report a connection that was closed by new options.
    const logged = stderr
      .trim()
      .split('\n')
      .filter((line) => !/Broken pipe|^stack:/.test(line));
    // The receiver logs why it refused the delivery that was not genuine.
    expect(logged).toEqual([expect.stringMatching(/A delivery was refused: .*Service-Signature/)]);
  });
});
