import { expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/terminal/exit-codes.ts';
import { eventually } from '../../support/eventually.ts';
import { startScene } from '../support/run-process.ts';

it('a create that was killed in flight is waited for when the same command is run again, and creates one audience', async () => {
  const { sandbox, start, json } = await startScene({
    faults: [{ on: 'audiences.create', inFlight: 600_000, times: 1 }],
  });
  const create = ['audiences', 'create', '--name', 'Visitors', '--fields', 'id', '--idempotency-key', 'order-4711'];
  const killed = start(create);
  await eventually(() => expect(sandbox.faults.list()).toEqual([]));
  killed.child.kill('SIGKILL');
  expect((await killed.ended).code).toBe('SIGKILL');
  const again = start(create);
  await eventually(() => expect(sandbox.log).toContainEqual(expect.objectContaining({ method: 'POST', status: 409 })));
  sandbox.faults.clear();
  const { code, out, err } = await again.ended;
  expect({ code, err }).toEqual({ code: EXIT.done, err: '' });
  expect(await json(['audiences', 'list'])).toMatchObject([{ id: Number(out) }]);
});
