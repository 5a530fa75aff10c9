import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

describe('examples/next-route', () => {
  it('creates once under the caller’s key, maps errors to statuses, and handles a delivery once', async () => {
    const { stdout, stderr } = await runProgram(['examples/next-route/run.ts']);
    const created = /^Created: 201 (.*)$/m.exec(stdout)?.[1];
    const { id } = JSON.parse(created ?? '');
    expect(stdout.trim().split('\n')).toEqual([
      `Created: 201 ${created}`,
      `The same again: 201 ${created}`,
      expect.stringMatching(/^Another under its key: 409 /),
      expect.stringMatching(/^Without a key: 400 .*Idempotency-Key/),
      expect.stringMatching(/^Too old data: 422 .*"dataset\.0\.start_date":/),
      expect.stringMatching(new RegExp(`^List: 200 .*"items":\\[\\{"id":${id},"name":"Visitors",[^\\]]*\\],"page":1`)),
      expect.stringMatching(new RegExp(`^Event: audience ${id} holds \\d+ devices\\.$`)),
      'Delivered: audience.completed: 200',
      'Delivered again: 200',
    ]);
    expect(stderr).toBe('');
  });
});
