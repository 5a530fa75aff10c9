import { describe, expect, it } from 'vitest';
import { formatBytes, formatElapsed, printable } from '../../../src/cli/terminal/terminal.ts';
import { timeText } from '../../../src/cli/terminal/wait-notices.ts';
import { parseDuration } from '../../../src/util/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['90', 90_000],
    ['1.5', 1_500],
    ['250ms', 250],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0', 0],
  ])('reads %s as %i ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', 'soon', '-5', '5 m', '1e3', '10x', 'm'])('returns undefined for %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('texts for people', () => {
  it('abbreviate durations and sizes', () => {
    expect([5_000, 65_000, 3_725_000].map(formatElapsed)).toEqual(['0:05', '1:05', '1:02:05']);
    expect([0, 1_023, 1_024, 1.5 * 2 ** 20, 2 ** 31].map(formatBytes)).toEqual([
      '0 bytes',
      '1023 bytes',
      '1.0 KiB',
      '1.5 MiB',
      '2.0 GiB',
    ]);
  });

  it('round the end of a wait up to a second, so that it has passed then', () => {
    const at = Date.parse('2026-11-24T09:00:00Z');
    expect([at, at + 1, at + 999, at + 1_000].map(timeText)).toEqual([
      '2026-11-24T09:00:00Z',
      '2026-11-24T09:00:01Z',
      '2026-11-24T09:00:01Z',
      '2026-11-24T09:00:01Z',
    ]);
  });

  it('contain nothing that a terminal interprets', () => {
    const emoji = '👨‍👩‍👧 🏴󠁧󠁢󠁷󠁬󠁳󠁿 🇩🇪 👍🏽 ❤️';
    expect(printable(emoji)).toBe(emoji);
    expect(printable('a\u{e0041}b\u2066')).toBe('a?b?');
    expect(printable('a\u001b[31mb\u0007\nc\u202ed\u009b1m')).toBe('a?[31mb??c?d?1m');
  });
});
