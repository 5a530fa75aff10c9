import type { FieldErrors } from '../errors/api.ts';
import { WEB_VISITATION_LOOKBACK_DAYS } from '../limits.ts';
import type { AudienceCreate } from '../schemas/audience.ts';

const DAY = 86_400_000;

/** Clocks and time zones differ: what is a day too early may still be in time at the service. */
const GRACE_DAYS = 1;

/**
 * WebDomain datasets that start before the service's look-back window ("Rules known for creates",
 * rule 3). Anything that is not certain passes; the service decides.
 */
export function datasetErrors(body: AudienceCreate | undefined, now: number): FieldErrors {
  const earliest = now - (WEB_VISITATION_LOOKBACK_DAYS + GRACE_DAYS) * DAY;
  const errors: Record<string, string[]> = {};
  for (const [at, one] of Array.isArray(body?.dataset) ? body.dataset.entries() : []) {
    if (one?.analysis_type !== 'WebDomain' || typeof one.start_date !== 'string') continue;
    // The end of the day, anywhere: earlier than this is too early in every time zone.
    if (/^\d{4}-\d{2}-\d{2}$/.test(one.start_date) && Date.parse(one.start_date) + DAY <= earliest) {
      errors[`dataset.${at}.start_date`] = [
        `${one.start_date} is before the ${WEB_VISITATION_LOOKBACK_DAYS}-day window of WebDomain data.`,
      ];
    }
  }
  return errors;
}
