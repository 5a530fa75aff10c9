import { afterEach, describe, expect, it } from 'vitest';
import { AudienceClient, type Paging } from '../../../src/index.ts';
import { createSandbox } from '../../../src/sandbox/index.ts';
import { inVirtualTime } from '../../support/in-virtual-time.ts';
import { credentials } from '../../support/sandbox.ts';

const MINUTE = 60_000;
const time = inVirtualTime();
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

/** Waits for jobs on several pages, which end one after another within four minutes, while others are created. Returns the reads. */
async function waitForMany(paging: Paging): Promise<{ readonly pages: number; readonly single: number }> {
  const many = { limit: 10_000, interval: MINUTE };
  const contract = { paging: { ...paging, maxSize: 20 } };
  const sandbox = createSandbox({
    contract,
    limits: { write: many, buildsPerHour: 10_000, buildsPerDay: 10_000 },
    jobs: { duration: ({ id }) => (id % 4) * MINUTE + 30_000 },
  });
  const token = sandbox.accounts.create(credentials).token('api');
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token,
    fetch: sandbox.fetch,
    contract,
    rateLimits: { write: many },
  });
  ended.push(
    () => client.close(),
    () => sandbox.close(),
  );
  const create = async () => (await client.audiences.create({ name: 'A' })).id;
  const ids = await time.until(Promise.all(Array.from({ length: 26 }, create)));
  const before = sandbox.log.length;
  const waits = ids.map((id) => client.audiences.wait(id));
  const others = setInterval(() => void create(), MINUTE);
  const audiences = await time.until(Promise.all(waits));
  clearInterval(others);
  expect(audiences.every(({ status }) => status.id === 104)).toBe(true);
  const reads = sandbox.log.slice(before).filter(({ method }) => method === 'GET');
  const pages = reads.filter(({ path }) => path.endsWith('/index')).length;
  return { pages, single: reads.length - pages };
}

describe('waits for many jobs', () => {
  it('read pages by an offset or a cursor as they read numbered ones', async () => {
    const numbered = await waitForMany({ style: 'page', param: 'page', size: 'per_page' });
    const offset = await waitForMany({ style: 'offset', param: 'offset', size: 'limit' });
    const cursor = await waitForMany({ style: 'cursor', param: 'after', size: 'first', next: 'meta.next' });
    for (const { pages, single } of [offset, cursor]) {
      expect(pages).toBeLessThan(numbered.pages * 1.2);
      expect(single).toBeLessThan(numbered.single + 5);
    }
  });
});
