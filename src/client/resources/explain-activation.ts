import type { Audience } from '../../spec/audience.ts';
import { AUDIENCE_STATUS, statusText } from '../../spec/job-status.ts';
import { ACTIVATION_MINIMUM, LOOKALIKE_ACTIVATION_MINIMUM, MAPPING_KEY_RETENTION_DAYS } from '../../spec/limits.ts';
import type { Identifier, OpenUnion } from '../../spec/wire-values.ts';
import { isObject } from '../../util/json.ts';

/** A reason that blocks or limits an activation. */
export interface ActivationRemark {
  /** Code to branch on, from this package or from the `eligibility` of the audience. */
  readonly code: OpenUnion<
    'not_completed' | 'too_few_devices' | 'affinity_device_coverage' | 'audience_expired' | 'not_allowed'
  >;
  /** Explanation for people, in English. */
  readonly message: string;
}

/** Result of {@link explainActivation}. */
export interface ActivationVerdict {
  /** `true` if there are no `blockers`. The service may still refuse the activation. */
  readonly allowed: boolean;
  /** Reasons that block the activation. Empty if `allowed` is true. */
  readonly blockers: readonly ActivationRemark[];
  /** Restrictions that do not block the activation. */
  readonly notices: readonly ActivationRemark[];
}

/** Options of {@link explainActivation}. */
export interface ExplainOptions {
  /** The identifier to deliver, such as `MAID`, `IP`, `EID`, `SCID` or `HEM`. */
  readonly identifier?: Identifier | undefined;
  /** Time at which to activate the audience, in milliseconds since 1970. @default now */
  readonly now?: number | undefined;
}

const DAY = 86_400_000;

/** Identifiers whose delivery needs mapping keys (specification, "Mapping-key retention"). */
const KEYED_IDENTIFIERS: readonly string[] = ['MAID', 'IP'];

const AFFINITY = 'AffinityTransactions data needs more than twice as many unique EIDs as unique SCIDs.';

/** Returns the objects in an array, or an empty array if the service sent another value. */
const objectsIn = <T extends object>(list: readonly T[] | undefined): readonly T[] =>
  Array.isArray(list) ? list.filter((item): boolean => isObject(item)) : [];

/** Returns the reasons or notices of the service that have a code. */
const codedIn = <T extends { readonly code: string }>(list: readonly T[] | undefined): readonly T[] =>
  objectsIn(list).filter(({ code }) => typeof code === 'string');

/**
 * Returns the end of an audience's mapping-key retention, or `undefined` for a lookalike, and if no dataset has a valid
 * end date.
 */
function keysDeletedAt({ dataset, is_lookalike }: Audience): number | undefined {
  const ends = is_lookalike ? [] : objectsIn(dataset).map(({ end_date }) => Date.parse(end_date));
  const valid = ends.filter((end) => !Number.isNaN(end));
  return valid.length > 0 ? Math.max(...valid) + (MAPPING_KEY_RETENTION_DAYS + 1) * DAY : undefined;
}

function expiry(audience: Audience, now: number): { blocked: readonly string[]; message: string } | undefined {
  const notice = codedIn(audience.eligibility?.notices).find(({ code }) => code === 'audience_expired');
  if (notice) {
    const { blocks_identifiers } = notice;
    const blocked = Array.isArray(blocks_identifiers) ? blocks_identifiers : KEYED_IDENTIFIERS;
    return {
      blocked,
      message: `The audience has expired, so the service can no longer deliver ${blocked.join(' and ')}.`,
    };
  }
  const deletedAt = keysDeletedAt(audience);
  if (deletedAt === undefined || now < deletedAt) return undefined;
  const days = `${MAPPING_KEY_RETENTION_DAYS} days after the latest dataset end date`;
  const message = `The service keeps mapping keys until ${days} (assumed: UTC days, not for lookalikes), so it can no longer deliver ${KEYED_IDENTIFIERS.join(' and ')}.`;
  return { blocked: KEYED_IDENTIFIERS, message };
}

function sizeBlocker({ is_lookalike, results_count, eligibility }: Audience): ActivationRemark | undefined {
  const minimum = is_lookalike ? LOOKALIKE_ACTIVATION_MINIMUM : ACTIVATION_MINIMUM;
  // Assumed: `metrics.unique_eids` or, if it is missing, `results_count` is the number of unique devices.
  const devices = eligibility?.metrics?.unique_eids ?? results_count;
  if (!(devices < minimum)) return undefined;
  const kind = is_lookalike ? 'a lookalike' : 'an audience';
  return {
    code: 'too_few_devices',
    message: `The audience has ${devices} unique devices (assumed: its unique EIDs or \`results_count\`). To activate ${kind}, the service requires at least ${minimum} devices.`,
  };
}

/**
 * Explains whether an audience can be activated, according to its fields and the rules of the specification. Sends no
 * request. The service may decide differently.
 *
 * @example
 * const { allowed, blockers } = explainActivation(audience, { identifier: 'MAID' });
 */
export function explainActivation(audience: Audience, options: ExplainOptions = {}): ActivationVerdict {
  const { now = Date.now() } = options;
  const identifier = options.identifier?.toUpperCase();
  const blockers: ActivationRemark[] = [];
  const notices: ActivationRemark[] = [];
  const { status, eligibility, is_activation_allowed } = audience;
  if (status.id !== AUDIENCE_STATUS.completed) {
    const message = `The audience has the status ${statusText(status)}. Only an audience with status ${AUDIENCE_STATUS.completed} can be activated (assumed).`;
    blockers.push({ code: 'not_completed', message });
  }
  const size = sizeBlocker(audience);
  if (size) blockers.push(size);
  const { is_affinity = false, unique_eids = 0, unique_scids = null } = eligibility?.metrics ?? {};
  const reasons = codedIn(eligibility?.reasons);
  const isReported = reasons.some(({ code }) => code === 'affinity_device_coverage');
  if (is_affinity && !isReported && unique_scids !== null && unique_eids <= 2 * unique_scids) {
    blockers.push({ code: 'affinity_device_coverage', message: AFFINITY });
  }
  for (const { code } of reasons) {
    blockers.push({
      code,
      message:
        code === 'affinity_device_coverage'
          ? AFFINITY
          : `The service returned the reason "${code}", which blocks the activation.`,
    });
  }
  const expired = expiry(audience, now);
  if (expired) {
    const isBlocked = identifier !== undefined && expired.blocked.includes(identifier);
    (isBlocked ? blockers : notices).push({ code: 'audience_expired', message: expired.message });
  }
  for (const { code, blocks_identifiers } of codedIn(eligibility?.notices)) {
    if (code === 'audience_expired') continue;
    const blocked: readonly string[] = Array.isArray(blocks_identifiers) ? blocks_identifiers : [];
    const isBlocked = identifier !== undefined && blocked.includes(identifier);
    const effect = blocked.length > 0 ? `, which blocks the delivery of ${blocked.join(' and ')}` : '';
    (isBlocked ? blockers : notices).push({ code, message: `The service returned the notice "${code}"${effect}.` });
  }
  const refused = eligibility?.allowed === false || is_activation_allowed === false;
  if (refused && blockers.length === 0) {
    blockers.push({
      code: 'not_allowed',
      message: 'The service does not allow the activation and returned no reason.',
    });
  }
  return { allowed: blockers.length === 0, blockers, notices };
}
