import { expect, it } from 'vitest';
import { runs } from '../support/volume.ts';
import { killBatches } from './support/killed-batches.ts';

it('aud run creates nothing twice, loses no row, and completes all files, killed at random moments', async () => {
  const kills = runs(10, 10, 200);
  expect(await killBatches({ kills, batches: runs(5, 5, 12) })).toBe(kills);
}, 3_600_000);
