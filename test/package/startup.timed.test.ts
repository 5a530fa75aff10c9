import { expect, it } from 'vitest';
import { milliseconds } from '../../bench/support/cold-import.ts';
import { medianOfRounds } from '../../bench/support/rounds.ts';

it('a cold import takes at most 80 % of the time that stripe’s takes', async () => {
  const contenders = { nothing: '', own: "import 'audience-activation';", stripe: "import 'stripe';" };
  const times = await medianOfRounds(contenders, 9, milliseconds);
  const over = (name: keyof typeof contenders): number => (times.get(name) ?? 0) - (times.get('nothing') ?? 0);
  expect(over('stripe')).toBeGreaterThan(10);
  expect(over('own') / over('stripe')).toBeLessThanOrEqual(0.8);
});
