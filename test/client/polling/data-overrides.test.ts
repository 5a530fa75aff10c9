import { describe, expect, it } from 'vitest';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { startJobService, waitFor } from '../../support/job-service.ts';

const MINUTE = 60_000;
const time = inVirtualTime();
const indefinitely = { timeout: Number.POSITIVE_INFINITY };

/** Throws as soon as the data shows a job that has completed. */
function throwAtEnd(data: unknown): unknown {
  if (JSON.stringify(data).includes('"id":104')) throw new TypeError('no such field');
  return data;
}

describe('a `data` override that throws', () => {
  it('a `data` override that throws on a single resource ends its wait', async () => {
    const service = startJobService({ client: { operations: { 'audiences.get': { data: throwAtEnd } } } });
    const [id = 0] = service.add(1);
    const waiting = waitFor(service, [id], indefinitely);
    await time.pass(MINUTE);
    service.set(id, 104);
    const reason = { code: 'callback-failed', cause: expect.objectContaining({ message: 'no such field' }) };
    await time.pass(MINUTE);
    expect(await time.until(waiting)).toMatchObject([{ reason }]);
  });

  it('a `data` override that throws on a list makes the client read each resource on its own', async () => {
    const service = startJobService({ client: { operations: { 'audiences.list': { data: throwAtEnd } } } });
    const ids = service.add(10);
    const waiting = waitFor(service, ids, indefinitely);
    await time.pass(MINUTE);
    for (const id of ids) service.set(id, 104);
    await time.pass(MINUTE);
    expect(await time.until(waiting)).toMatchObject(ids.map((id) => ({ value: { id } })));
  });
});
