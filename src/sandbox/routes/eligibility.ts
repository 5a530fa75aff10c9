import type { Audience, Eligibility } from '../../schemas/audience.ts';
import { ACTIVATION_MINIMUM, DAY, LOOKALIKE_ACTIVATION_MINIMUM, RETENTION_DAYS } from '../service-limits.ts';

/** Identifiers that can be delivered ("Mapping-key retention"). */
export const IDENTIFIERS: readonly string[] = ['EID', 'SCID', 'HEM', 'MAID', 'IP'];

/** Identifiers that mapping keys deliver; gone when the keys are ("Mapping-key retention"). */
export const KEYED_IDENTIFIERS: readonly string[] = ['MAID', 'IP'];

/** Whether the mapping keys of a standard audience are gone: 90 days after its latest dataset ended. */
export function isExpired({ dataset, is_lookalike }: Audience, now: number): boolean {
  if (is_lookalike) return false;
  const ends = dataset.map(({ end_date }) => Date.parse(end_date)).filter((end) => !Number.isNaN(end));
  return ends.length > 0 && now >= Math.max(...ends) + (RETENTION_DAYS + 1) * DAY;
}

/** Why and how an audience may be activated, at a moment. */
export function eligibilityOf(audience: Audience, now: number): Eligibility {
  const { metrics } = audience.eligibility;
  // "Affinity coverage rule": unique EIDs must exceed twice the unique SCIDs.
  const covered = !metrics.is_affinity || metrics.unique_eids > 2 * (metrics.unique_scids ?? 0);
  const expired = isExpired(audience, now);
  return {
    allowed: covered && enoughDevices(audience),
    reasons: covered ? [] : [{ code: 'affinity_device_coverage' }],
    notices: expired ? [{ code: 'audience_expired', blocks_identifiers: [...KEYED_IDENTIFIERS] }] : [],
    metrics,
  };
}

/** 500 devices, for lookalikes 1,000. */
export function enoughDevices({ results_count, is_lookalike }: Audience): boolean {
  return results_count >= (is_lookalike ? LOOKALIKE_ACTIVATION_MINIMUM : ACTIVATION_MINIMUM);
}
