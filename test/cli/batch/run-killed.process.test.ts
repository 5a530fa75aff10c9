import { expect, it } from 'vitest';
import { runs } from '../../support/volume.ts';
import { killBatches } from '../support/killed-batches.ts';

it('aud run creates nothing twice, loses no row, and completes all files, killed at random moments', async () => {
  const kills = runs(6, 20, 200);
  expect(await killBatches({ kills, batches: runs(2, 5, 12) })).toBe(kills);
}, 3_600_000);
