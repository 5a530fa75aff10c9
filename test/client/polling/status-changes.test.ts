import { describe, expect, it } from 'vitest';
import type { Subscriber } from '../../../src/client/polling/job.ts';
import { StatusChanges } from '../../../src/client/polling/status-changes.ts';
import type { JobResource } from '../../../src/spec/job-status.ts';

/** Starts an iteration whose updates the test delivers. */
function iterate() {
  const state: { subscriber?: Subscriber<JobResource>; stopped: number } = { stopped: 0 };
  const changes = new StatusChanges<JobResource>((subscriber) => {
    state.subscriber = subscriber;
    return { stop: () => state.stopped++ };
  });
  const update = (id: number, progress: 'running' | 'completed' = 'running'): void =>
    state.subscriber?.onUpdate({
      resource: { id: 1, status: { id, name: '' } },
      progress,
      source: 'poll',
      startedAt: 0,
    });
  return { state, changes, update };
}

const statusOf = ({ value }: IteratorResult<JobResource, undefined>): number | undefined => value?.status.id;

describe('an iteration of status changes', () => {
  it('begins with the first call of `next` and yields each change once, in order', async () => {
    const { changes, state, update } = iterate();
    expect(state.subscriber).toBeUndefined();
    const first = changes.next();
    update(100);
    expect(statusOf(await first)).toBe(100);
    for (const id of [100, 102, 102, 103]) update(id);
    update(104, 'completed');
    const rest: number[] = [];
    for await (const { status } of changes) rest.push(status.id);
    expect(rest).toEqual([102, 103, 104]);
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('serves concurrent calls of `next` one after the other', async () => {
    const { changes, update } = iterate();
    const steps = [changes.next(), changes.next(), changes.next()];
    update(100);
    update(104, 'completed');
    expect((await Promise.all(steps)).map(statusOf)).toEqual([100, 104, undefined]);
  });

  it('ends by `return` while a call of `next` is pending, and unsubscribes', async () => {
    const { changes, state, update } = iterate();
    const step = changes.next();
    await changes.return();
    expect(await step).toEqual({ done: true, value: undefined });
    expect(state.stopped).toBe(1);
    update(104, 'completed');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('throws the error of the wait once, after the changes before it', async () => {
    const { changes, state, update } = iterate();
    const first = changes.next();
    update(100);
    update(102);
    state.subscriber?.onFailure(new Error('enough'));
    expect(statusOf(await first)).toBe(100);
    expect(statusOf(await changes.next())).toBe(102);
    await expect(changes.next()).rejects.toThrow('enough');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});
