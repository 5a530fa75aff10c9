import type { Audience, Eligibility } from '../../spec/audience.ts';
import { DAY, MIN_DEVICES_TO_ACTIVATE, MIN_DEVICES_TO_ACTIVATE_LOOKALIKE, RETENTION_DAYS } from '../service-limits.ts';

/** Identifiers that the service can deliver (specification, "Mapping-key retention"). */
export const IDENTIFIERS: readonly string[] = ['EID', 'SCID', 'HEM', 'MAID', 'IP'];

/**
 * Identifiers that the service can deliver only while it keeps the mapping keys (specification, "Mapping-key
 * retention").
 */
export const KEYED_IDENTIFIERS: readonly string[] = ['MAID', 'IP'];

/**
 * Returns whether the mapping keys of an audience have been deleted, 90 days after the end of its latest dataset. The
 * service keeps the keys of lookalikes.
 */
export function isExpired({ dataset, is_lookalike }: Audience, now: number): boolean {
  if (is_lookalike) return false;
  const ends = dataset.map(({ end_date }) => Date.parse(end_date)).filter((end) => !Number.isNaN(end));
  return ends.length > 0 && now >= Math.max(...ends) + (RETENTION_DAYS + 1) * DAY;
}

/** Returns the current eligibility of an audience for activation. */
export function eligibilityOf(audience: Audience, now: number): Eligibility {
  const { metrics } = audience.eligibility;
  // Unique EIDs must exceed twice the unique SCIDs (specification, "Affinity coverage rule").
  const isCovered = !metrics.is_affinity || metrics.unique_eids > 2 * (metrics.unique_scids ?? 0);
  const blocked = { code: 'audience_expired', blocks_identifiers: [...KEYED_IDENTIFIERS] };
  return {
    allowed: isCovered && audience.results_count >= minDevicesOf(audience),
    reasons: isCovered ? [] : [{ code: 'affinity_device_coverage' }],
    notices: isExpired(audience, now) ? [blocked] : [],
    metrics,
  };
}

/** Returns the minimum number of devices of an audience to activate: 500, for lookalikes 1,000. */
export const minDevicesOf = ({ is_lookalike }: Audience): number =>
  is_lookalike ? MIN_DEVICES_TO_ACTIVATE_LOOKALIKE : MIN_DEVICES_TO_ACTIVATE;
