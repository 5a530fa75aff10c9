import '../support/nothing-left.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';

/** Starts a process that creates an audience. */
const startCreate = (url: string, token: string) =>
  fork(new URL('./create-process.ts', import.meta.url), [url, token, 'order-4711']);

it.each([
  ['before the service has acted', { kind: 'late', ms: 400 }],
  ['after the service has acted', { kind: 'stall-headers' }],
  ['while the response arrives', { kind: 'stall-body' }],
] satisfies [string, Fault][])(
  'a create of a process killed %s happens once when it is started again',
  async (_, fault) => {
    const { url, account, client } = await startBench();
    let faults = 1;
    const proxy = await startFaultProxy(url, () => (faults-- > 0 ? fault : undefined));
    const start = () => startCreate(proxy.url, account.token('api'));
    const killed = start();
    const exited = once(killed, 'exit');
    await vi.waitFor(() => expect(proxy.passed).toHaveLength(1), { timeout: 60_000 });
    killed.kill('SIGKILL');
    await exited;
    const again = start();
    const [[id]] = await Promise.all([once(again, 'message'), once(again, 'exit')]);
    const { items } = await client.audiences.list();
    expect(items.map((audience) => audience.id)).toEqual([id]);
  },
);

it('a create of a process killed while it is in flight is waited for without an option when it is started again', async () => {
  const { url, account, client, sandbox } = await startBench({
    faults: [{ on: 'audiences.create', inFlight: 600_000, times: 1 }],
  });
  const killed = startCreate(url, account.token('api'));
  const exited = once(killed, 'exit');
  await vi.waitFor(() => expect(sandbox.faults.list()).toEqual([]), { timeout: 60_000 });
  killed.kill('SIGKILL');
  await exited;
  const again = startCreate(url, account.token('api'));
  const created = Promise.all([once(again, 'message'), once(again, 'exit')]);
  await vi.waitFor(() => expect(sandbox.log.map(({ status }) => status)).toContain(409), { timeout: 60_000 });
  sandbox.faults.clear();
  const [[id]] = await created;
  const { items } = await client.audiences.list();
  expect(items.map((audience) => audience.id)).toEqual([id]);
});
