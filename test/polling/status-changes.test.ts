import { describe, expect, it } from 'vitest';
import { type Observer, StatusChanges } from '../../src/polling/status-changes.ts';
import type { Observed } from '../../src/spec/job-status.ts';

/** A walk whose changes the test tells. */
function walk() {
  const told: { observer?: Observer<Observed>; stopped: number } = { stopped: 0 };
  const changes = new StatusChanges<Observed>((observer) => {
    told.observer = observer;
    return () => told.stopped++;
  });
  const see = (id: number, progress: 'running' | 'completed' = 'running'): void =>
    told.observer?.onUpdate({ resource: { id: 1, status: { id, name: '' } }, progress, source: 'poll' });
  return { told, changes, see };
}

const statusOf = ({ value }: IteratorResult<Observed, undefined>): number | undefined => value?.status.id;

describe('a walk over changes', () => {
  it('begins with its first step, and tells each change once, in order', async () => {
    const { changes, told, see } = walk();
    expect(told.observer).toBeUndefined();
    const first = changes.next();
    see(100);
    expect(statusOf(await first)).toBe(100);
    for (const id of [100, 102, 102, 103]) see(id);
    see(104, 'completed');
    const rest: number[] = [];
    for await (const { status } of changes) rest.push(status.id);
    expect(rest).toEqual([102, 103, 104]);
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('serves steps that are taken at once one after the other', async () => {
    const { changes, see } = walk();
    const steps = [changes.next(), changes.next(), changes.next()];
    see(100);
    see(104, 'completed');
    expect((await Promise.all(steps)).map(statusOf)).toEqual([100, 104, undefined]);
  });

  it('ends by `return` while a step is under way, and looks no more', async () => {
    const { changes, told, see } = walk();
    const step = changes.next();
    await changes.return();
    expect(await step).toEqual({ done: true, value: undefined });
    expect(told.stopped).toBe(1);
    see(104, 'completed');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('throws what a wait fails with once, after what was seen before', async () => {
    const { changes, told, see } = walk();
    const first = changes.next();
    see(100);
    see(102);
    told.observer?.onFailure(new Error('enough'));
    expect(statusOf(await first)).toBe(100);
    expect(statusOf(await changes.next())).toBe(102);
    await expect(changes.next()).rejects.toThrow('enough');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});
