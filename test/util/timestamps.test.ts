import { describe, expect, it } from 'vitest';
import { AudienceClient, ConfigurationError, parseTimestamp } from '../../src/index.ts';

describe('parseTimestamp', () => {
  it.each([
    ['2026-11-20 10:00:00', 'UTC', '2026-11-20T10:00:00.000Z'],
    ['2026-11-20 10:00:00', 'Europe/Berlin', '2026-11-20T09:00:00.000Z'],
    ['2026-07-20 10:00:00', 'Europe/Berlin', '2026-07-20T08:00:00.000Z'],
    ['2026-01-01 00:30:00', 'America/New_York', '2026-01-01T05:30:00.000Z'],
    // The clock shows 02:30 twice that night: the earlier one.
    ['2026-10-25 02:30:00', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
    // And never on this one: an hour on, as the clock does.
    ['2026-03-29 02:30:00', 'Europe/Berlin', '2026-03-29T00:30:00.000Z'],
  ])('reads %s in %s', (text, zone, iso) => {
    expect(parseTimestamp(text, zone)?.toISOString()).toBe(iso);
  });

  it.each([
    '',
    '2026-11-20',
    '2026-11-20T10:00:00',
    '2026-11-20 10:00:00Z',
    '2026-02-30 10:00:00',
    '2026-13-01 00:00:00',
  ])('returns undefined for %j', (text) => expect(parseTimestamp(text)).toBeUndefined());

  it('uses the time zone of a client', () => {
    const options = { baseUrl: 'https://api.example.com', token: 't', serverTimeZone: 'Asia/Tokyo' };
    const client = new AudienceClient(options);
    expect(client.parseTimestamp('2026-11-20 10:00:00')?.toISOString()).toBe('2026-11-20T01:00:00.000Z');
    expect(() => new AudienceClient({ ...options, serverTimeZone: 'Mars/Base' })).toThrow(ConfigurationError);
    expect(() => parseTimestamp('2026-11-20 10:00:00', 'Mars/Base')).toThrow(ConfigurationError);
  });
});
