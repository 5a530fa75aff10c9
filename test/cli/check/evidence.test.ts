import { describe, expect, test } from 'vitest';
import {
  fingerprint,
  fits,
  readBody,
  resourceIn,
  rowsIn,
  zoneName,
  zoneOffset,
} from '../../../src/cli/check/evidence.ts';

const envelope = (rest: object) => ({ status: 'success', code: 200, message: 'OK', ...rest });
const reply = (status: number, body: unknown) => ({
  status,
  headers: new Headers(),
  at: 0,
  ...readBody(typeof body === 'string' ? body : JSON.stringify(body)),
});

describe('rows and resources', () => {
  test('are found below a fixed list of keys, with their place', () => {
    expect(rowsIn(envelope({ data: [{ id: 1 }] }))).toEqual({ place: 'data', value: [{ id: 1 }] });
    expect(rowsIn(envelope({ data: { items: [{ id: 1 }], total: 1 } }))?.place).toBe('data.items');
    expect(rowsIn(envelope({ data: [], audiences: [{ id: 1 }] }))?.place).toBe('audiences');
    expect(rowsIn(envelope({ data: { 'My company': [{ id: 1 }] } }))).toBeUndefined();
    expect(rowsIn(envelope({ data: [{ id: 'a' }] }))?.value).toHaveLength(1);
    expect(rowsIn(envelope({ data: [{ name: 'a' }] }))).toBeUndefined();
  });

  test('are not found in two arrays without rows', () => {
    expect(rowsIn(envelope({ data: { items: [], total: 0 } }))?.place).toBe('data.items');
    expect(rowsIn(envelope({ data: { items: [], results: [] } }))).toBeUndefined();
  });

  test('are those of the id that was requested', () => {
    expect(resourceIn(envelope({ data: [{ id: 7 }] }), 7)?.place).toBe('data');
    expect(resourceIn(envelope({ data: { item: { id: 7 } } }), 7)?.place).toBe('data.item');
    expect(resourceIn(envelope({ data: [{ id: 8 }] }), 7)).toBeUndefined();
    expect(resourceIn(envelope({ data: [{ id: 7 }, { id: 8 }] }))).toBeUndefined();
  });

  test('have fields of their kind, and do not look like another one', () => {
    const audience = { id: 1, name: 'x', status: {}, is_lookalike: false, eligibility: {} };
    const cohort = { id: 1, name: 'x', status: {}, total_eids: 5, source: 'upload' };
    expect([fits('audiences', audience), fits('cohorts', audience), fits('projects', audience)]).toEqual([
      true,
      false,
      false,
    ]);
    expect([fits('audiences', cohort), fits('cohorts', cohort), fits('projects', cohort)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(fits('audiences', { id: 1 })).toBe(false);
    expect(fits('projects', { id: 1, name: 'x' })).toBe(true);
  });
});

describe('a fingerprint', () => {
  const notFound = (path: string) => reply(404, { message: `The route ${path} could not be found.` });

  test('is the same for two paths that do not exist', () => {
    expect(fingerprint(notFound('api/v2/check-0123/index'))).toBe(fingerprint(notFound('api/v2/cohorts/9')));
    expect(fingerprint(notFound('/api/v2/projects/5'))).toBe(fingerprint(notFound('/api/v2/check-ab/index')));
  });

  test('differs by status, kind of body and message', () => {
    const prints = [
      notFound('/x'),
      reply(403, { message: 'The route could not be found.' }),
      reply(404, { message: 'Audience not found.' }),
      reply(404, '<html>not found'),
      reply(404, ''),
    ].map(fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
  });
});

describe('a time zone', () => {
  const at = Date.UTC(2026, 0, 1, 12);

  test.each([
    ['2026-01-01 12:00:00', 0, 'UTC'],
    ['2026-01-01 11:53:00', 0, 'UTC'],
    ['2026-01-01 07:00:03', -300, 'Etc/GMT+5'],
    ['2026-01-02 02:00:00', 840, 'Etc/GMT-14'],
    ['2026-01-01 17:30:00', 330, '+05:30'],
    ['2026-01-01 17:45:00', 345, '+05:45'],
    ['2026-01-01 02:30:00', -570, '-09:30'],
  ])('follows from %s', (createdAt, minutes, name) => {
    expect(zoneOffset(createdAt, at)).toBe(minutes);
    expect(zoneName(minutes)).toBe(name);
  });

  test.each(['2026-01-01 12:15:00', '2025-12-01 12:00:00', '2026-01-01T12:00:00Z', undefined])(
    'does not follow from %s',
    (createdAt) => {
      expect(zoneOffset(createdAt, at)).toBeUndefined();
    },
  );
});
