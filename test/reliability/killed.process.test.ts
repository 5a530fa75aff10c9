import '../support/nothing-left.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Fault, startFaultProxy } from '../support/fault-proxy.ts';
import { startBench } from '../support/sandbox.ts';

/** When a process is killed, and what its request meets. */
const KILLS = [
  ['before the service has acted', { kind: 'late', ms: 400 }],
  ['after the service has acted', { kind: 'stall-headers' }],
  ['while the response arrives', { kind: 'stall-body' }],
] satisfies [string, Fault][];

it('a create of a process killed before, after or while the service responds happens once when it is started again', async () => {
  const { url, account, client } = await startBench();
  const token = account.token('api');

  /** Kills a process that creates, and starts it again; returns the id that the second one receives. */
  async function createTwice([key, fault]: (typeof KILLS)[number]): Promise<readonly [key: string, id: number]> {
    let faults = 1;
    const proxy = await startFaultProxy(url, () => (faults-- > 0 ? fault : undefined));
    const start = () => fork(new URL('./create-process.ts', import.meta.url), [proxy.url, token, key]);
    const killed = start();
    const exited = once(killed, 'exit');
    await eventually(() => expect(proxy.passed).toHaveLength(1));
    killed.kill('SIGKILL');
    await exited;
    const again = start();
    const [[id]] = await Promise.all([once(again, 'message'), once(again, 'exit')]);
    return [key, id];
  }

  const created = await Promise.all(KILLS.map(createTwice));
  const { items } = await client.audiences.list();
  expect(items.map(({ name, id }) => [name, id]).sort()).toEqual(created.toSorted());
});
