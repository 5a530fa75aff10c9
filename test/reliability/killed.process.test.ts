import '../support/nothing-left.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';

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
    const start = () =>
      fork(new URL('../support/create-process.ts', import.meta.url), [proxy.url, account.token('api'), 'order-4711']);
    const killed = start();
    const exited = once(killed, 'exit');
    await vi.waitFor(() => expect(proxy.passed).toHaveLength(1), { timeout: 10_000 });
    killed.kill('SIGKILL');
    await exited;
    const again = start();
    const [[id]] = await Promise.all([once(again, 'message'), once(again, 'exit')]);
    const { items } = await client.audiences.list();
    expect(items.map((audience) => audience.id)).toEqual([id]);
  },
);
