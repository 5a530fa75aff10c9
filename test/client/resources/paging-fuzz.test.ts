import { describe, expect, it } from 'vitest';
import { AudienceClient, type Paging } from '../../../src/index.ts';
import { seeded } from '../../support/seeded.ts';
import { quick } from '../../support/server.ts';
import { runs } from '../../support/volume.ts';

const random = seeded('paging');
const oneOf = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0];

/** A service with a list, and what a contract says of it. */
interface Service {
  readonly rows: number;
  readonly paging: Paging;
  /** Rows of a page, if the request does not name a number, and at most. */
  readonly size: number;
  readonly cap: number;
  /** Value in place of the cursor of the last page. */
  readonly end: null | '' | undefined;
  /** Cursors are within addresses; a cursor may lead to an empty page before the rows. */
  readonly hasAddresses: boolean;
  readonly hasEmptyPages: boolean;
}

function randomService(): Service {
  const style = oneOf('page', 'offset', 'cursor');
  const size = oneOf('limit', undefined);
  // A client cannot guess other maximums of pages that it may choose the size of.
  const cap = oneOf(10, 25, 50, 100, 7, 40);
  const isNamed = cap === 7 || cap === 40 || oneOf(true, false);
  return {
    rows: oneOf(0, 1, 7, 8, 24, 25, 26, 49, 50, 51, 99, 100, 101, 131, 250),
    paging: {
      style,
      param: 'at',
      size,
      ...(isNamed && { maxSize: cap }),
      ...(style === 'cursor' && { next: 'meta.next' }),
    },
    size: Math.min(cap, oneOf(10, 25)),
    cap: size === undefined ? cap : Math.min(cap, 100),
    end: oneOf(null, '', undefined),
    hasAddresses: oneOf(true, false),
    hasEmptyPages: oneOf(true, false),
  };
}

/** Returns the `fetch` of a service, which ends the test after more requests than its list can need. */
function fetchOf({ rows, paging, size, cap, end, hasAddresses, hasEmptyPages }: Service) {
  let left = 2 * rows + 10;
  return async (url: Request | URL | string): Promise<Response> => {
    if (left-- === 0) throw new Error('The list has no end.');
    const query = new URL(String(url)).searchParams;
    const perPage = Math.min(Number(query.get('limit') ?? (paging.size === undefined ? cap : size)), cap);
    const [at = '', isEmpty] = (query.get('at') ?? '0').split('-');
    const start = paging.style === 'page' ? (Number(at) - 1) * perPage : Number(at);
    const next = isEmpty ? start : start + perPage;
    const cursor = `${next}${!isEmpty && hasEmptyPages ? '-empty' : ''}`;
    const data = Array.from({ length: isEmpty ? 0 : Math.max(0, Math.min(rows - start, perPage)) }, (_, index) => ({
      id: start + index + 1,
    }));
    const meta = { next: next >= rows ? end : hasAddresses ? `/list?limit=1&at=${cursor}` : cursor };
    return Response.json({ status: 'success', code: 200, message: '', data, meta });
  };
}

describe('lists of services that page in many ways', () => {
  it('have every row once, and an end', async () => {
    for (let n = runs(15, 300, 20_000); n > 0; n--) {
      const service = randomService();
      const { paging, rows } = service;
      await using client = new AudienceClient({
        ...quick,
        baseUrl: 'http://localhost',
        token: 'test-token',
        rateLimits: false,
        maxRetries: 0,
        fetch: fetchOf(service),
        contract: { paging },
      });
      const listed = await client.projects.list().toArray();
      expect(
        listed.map(({ id }) => id),
        JSON.stringify(service),
      ).toEqual(Array.from({ length: rows }, (_, index) => index + 1));
    }
  });
});
