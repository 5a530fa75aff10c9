import '../support/nothing-left.ts';
import { expect, it } from 'vitest';
import { AudienceClient } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { inVirtualTime } from '../support/in-virtual-time.ts';
import { credentials } from '../support/sandbox.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';

const CREATES = runs(60, 600, 3_000);
const SHARE = 0.35;
/** Failures in a row that the default `maxRetries` allows. */
const MAX_FAILURES = 4;
const UNLIMITED = { limit: 1e9, interval: 60_000 };

const time = inVirtualTime();

it('creates with default options all return while 35 % of the requests fail or are cut, and none is doubled', async () => {
  const random = seeded('creates with default options');
  const limits = { write: UNLIMITED, buildsPerHour: 1e9, buildsPerDay: 1e9 };
  const sandbox = createSandbox({ limits });
  const failures = new Map<string, number>();
  let failed = 0;
  const client = new AudienceClient({
    baseUrl: 'http://localhost',
    token: sandbox.accounts.create(credentials).token('api'),
    logLevel: 'off',
    rateLimits: { write: UNLIMITED },
    async fetch(input, init) {
      const request = new Request(input, init);
      const key = request.headers.get('idempotency-key') ?? '';
      const inARow = failures.get(key) ?? 0;
      if (random() >= SHARE || inARow === MAX_FAILURES) return sandbox.fetch(request);
      failures.set(key, inARow + 1);
      failed++;
      const kind = random();
      if (kind < 0.3) return new Response('unavailable', { status: 503 });
      // The service acts, and its response is lost.
      if (kind < 0.8) await sandbox.fetch(request);
      throw new TypeError('fetch failed', { cause: new Error('socket hang up') });
    },
  });
  const creates = Array.from({ length: CREATES }, (_, at) => client.audiences.create({ name: `Audience ${at}` }));
  const created = await time.until(Promise.all(creates));
  expect(failed / (failed + CREATES)).toBeGreaterThan(0.2);
  expect(new Set(created.map(({ id }) => id)).size).toBe(CREATES);
  const names = (await time.until(client.audiences.list().toArray({ limit: 2 * CREATES }))).map(({ name }) => name);
  expect(names).toHaveLength(CREATES);
  expect(new Set(names).size).toBe(CREATES);
  await client.close();
});
