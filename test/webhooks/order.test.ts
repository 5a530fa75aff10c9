import { expect, it } from 'vitest';
import { isEvent } from '../../src/webhooks/events.ts';
import { isOutdated } from '../../src/webhooks/index.ts';
import { wireEvent } from '../support/deliveries.ts';

const eventAt = (updated_at: unknown) => {
  const event: unknown = wireEvent('evt_1', { data: { id: 1, updated_at } });
  if (!isEvent(event)) throw new Error('It must be an event.');
  return event;
};

it.each([
  ['2026-11-21 10:00:00', '2026-11-21 10:00:01', true],
  ['2026-11-21 10:00:01', '2026-11-21 10:00:01', false],
  ['2026-11-21 10:00:02', '2026-11-21 10:00:01', false],
  [undefined, '2026-11-21 10:00:01', false],
  ['2026-11-21 10:00:00', undefined, false],
  ['2026-11-21 10:00:00', '2026-11-21T08:00:00.000Z', false],
  ['2026-11-21 10:00:00', '2026-11-21T13:00:00+02:00', true],
  ['2026-11-21 10:00:00', new Date('2026-11-21T10:00:01Z'), true],
  ['2026-11-21 10:00:00', Date.UTC(2026, 10, 21, 9), false],
  ['2026-11-21 10:00:00', null, false],
])('`isOutdated` compares an event of %s with a state of %s: %s', (eventTime, updated_at, outdated) => {
  expect(isOutdated(eventAt(eventTime), { updated_at })).toBe(outdated);
  expect(isOutdated(eventAt(eventTime), undefined)).toBe(false);
});
