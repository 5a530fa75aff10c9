import type { FieldErrors } from '../../errors/error-details.ts';
import type { Audience, AudienceCreate } from '../../spec/audience.ts';
import { WEB_VISITATION_LOOKBACK_DAYS } from '../../spec/limits.ts';
import type { BodyOf } from '../../spec/wire-values.ts';
import type { Transport } from '../http/transport.ts';
import type { JobTable } from '../polling/job-table.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { audienceCreateSchema, audienceResource } from '../schemas/audience-schema.ts';
import { ListedJobNamespace } from './resource.ts';
import { listedJobs } from './shared-jobs.ts';

/**
 * Days added to the window, because in the time zone of the service, which is unknown, it may still be the previous
 * day.
 */
const GRACE_DAYS = 1;

const DAY = 86_400_000;

/**
 * Returns errors for WebDomain datasets that certainly start before the 45-day window (specification, "Rules known for
 * creates", rule 3). Leaves all other datasets to the service.
 */
export function datasetErrors(body: unknown): FieldErrors {
  const earliest = Date.now() - (WEB_VISITATION_LOOKBACK_DAYS + GRACE_DAYS) * DAY;
  const errors: Record<string, string[]> = {};
  const { dataset }: { readonly dataset?: unknown } = Object(body);
  for (const [at, entry] of Array.isArray(dataset) ? dataset.entries() : []) {
    const { analysis_type, start_date } = Object(entry);
    if (analysis_type !== 'WebDomain' || !/^\d{4}-\d{2}-\d{2}$/.test(start_date)) continue;
    // A start date is before the window only when its day has ended.
    if (Date.parse(start_date) + DAY <= earliest) {
      const window = `${WEB_VISITATION_LOOKBACK_DAYS}-day window of WebDomain data`;
      errors[`dataset.${at}.start_date`] = [`${start_date} is before the ${window}.`];
    }
  }
  return errors;
}

/** Audiences. A job builds an audience, and ends at status 104, 107 or 4xx. */
export class Audiences extends ListedJobNamespace<Audience, BodyOf<'audiences.create', AudienceCreate>, 'audiences'> {
  /** @internal */
  constructor(transport: Transport, polls: SharedPolls, jobs: JobTable<Audience>) {
    const plan = {
      name: 'audiences',
      kind: 'audience',
      schema: audienceResource,
      body: audienceCreateSchema,
      check: datasetErrors,
      jobs,
    } as const;
    super(transport, plan, polls);
  }
}

/** Returns the table of the jobs in the list of audiences, which includes lookalikes. */
export function audienceJobs(transport: Transport, polls: SharedPolls): JobTable<Audience> {
  return listedJobs(transport, polls, { name: 'audiences', schema: audienceResource });
}
