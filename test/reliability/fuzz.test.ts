import '../support/nothing-left.ts';
import { expect, it, onTestFinished } from 'vitest';
import { AudienceClient, AudienceError } from '../../src/index.ts';
import { quickly } from '../support/quickly.ts';
import { seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';
import { wireAudience } from '../support/wire-audience.ts';
import { damaged, pick } from './support/mutations.ts';

const CASES = runs(400, 4_000, 100_000);

const STATUSES = [
  200, 200, 200, 200, 201, 204, 206, 299, 400, 401, 403, 404, 406, 408, 409, 410, 418, 422, 429, 451, 500, 502, 503,
  504, 599,
];

/** Returns a response with any status, which may be damaged. */
function answer(random: () => number): Response {
  const status = pick(random, STATUSES);
  const outcome = status < 400 ? 'success' : 'error';
  const more = { message: 'text', data: [wireAudience()], errors: { name: ['wrong'] } };
  return damaged(random, status, { status: outcome, code: status, ...more });
}

it(
  `${CASES} mutated responses end in data or a typed error, and none hangs`,
  () =>
    quickly(async () => {
      const random = seeded('fuzz of answers');
      const client = new AudienceClient({
        baseUrl: 'http://localhost',
        token: () => 'test-token',
        rateLimits: false,
        backoff: { min: 0, max: 0 },
        maxRetries: 1,
        maxRetryWait: 1,
        logLevel: 'off',
        fetch: async () => answer(random),
      });
      onTestFinished(() => client.close());
      const kinds = new Map<string, number>();
      for (let at = 0; at < CASES; at++) {
        const calls = [
          () => client.audiences.get(42),
          () => client.audiences.create({ name: 'x' }, { deadline: 2_000 }),
          () => client.audiences.list(),
          () => client.usage.get(),
          () => client.webhooks.list(),
          () => client.auth.login({ email: 'a@example.com', password: 'secret' }),
          () => client.audiences.delete(1),
        ];
        const outcome = await pick(random, calls)().then(
          () => 'data',
          (error: unknown) => (AudienceError.isInstance(error) ? error.code : `untyped: ${String(error)}`),
        );
        kinds.set(outcome, (kinds.get(outcome) ?? 0) + 1);
      }
      expect([...kinds.keys()].filter((kind) => kind.startsWith('untyped'))).toEqual([]);
      expect(kinds.size).toBeGreaterThan(8);
    }),
  600_000,
);
