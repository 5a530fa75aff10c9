import { describe, expect, it } from 'vitest';
import { StatusChanges } from '../../../src/client/polling/status-changes.ts';
import type { JobResource } from '../../../src/spec/job-status.ts';

/** Starts an iteration of the states that the test passes on. */
function iterate() {
  const end = Promise.withResolvers<void>();
  const job = { ...end, isFollowed: false, update: (_: number): void => {} };
  const changes = new StatusChanges<JobResource>((onState, left) => {
    job.isFollowed = true;
    job.update = (id) => onState({ id: 1, status: { id, name: '' } });
    left.addEventListener('abort', () => end.reject(left.reason));
    return end.promise;
  });
  return { changes, job };
}

const statusOf = ({ value }: IteratorResult<JobResource, undefined>): number | undefined => value?.status.id;

describe('an iteration of status changes', () => {
  it('begins with the first call of `next` and yields each change once, in order', async () => {
    const { changes, job } = iterate();
    expect(job.isFollowed).toBe(false);
    const first = changes.next();
    job.update(100);
    expect(statusOf(await first)).toBe(100);
    for (const id of [100, 102, 102, 103, 104]) job.update(id);
    job.resolve();
    const rest: number[] = [];
    for await (const { status } of changes) rest.push(status.id);
    expect(rest).toEqual([102, 103, 104]);
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('serves concurrent calls of `next` one after the other', async () => {
    const { changes, job } = iterate();
    const steps = [changes.next(), changes.next(), changes.next()];
    job.update(100);
    job.update(104);
    job.resolve();
    expect((await Promise.all(steps)).map(statusOf)).toEqual([100, 104, undefined]);
  });

  it('ends by `return` while a call of `next` is pending, and stops following the job', async () => {
    const { changes, job } = iterate();
    const step = changes.next();
    await changes.return();
    expect(await step).toEqual({ done: true, value: undefined });
    await expect(job.promise).rejects.toMatchObject({ name: 'AbortError' });
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });

  it('throws the error of the wait once, after the changes before it', async () => {
    const { changes, job } = iterate();
    const first = changes.next();
    job.update(100);
    job.update(102);
    job.reject(new Error('enough'));
    expect(statusOf(await first)).toBe(100);
    expect(statusOf(await changes.next())).toBe(102);
    await expect(changes.next()).rejects.toThrow('enough');
    expect(await changes.next()).toEqual({ done: true, value: undefined });
  });
});
