import type { Transport } from '../http/transport.ts';
import type { JobGroup } from '../polling/job-group.ts';
import type { PollContext } from '../polling/poller.ts';
import type { Scheduler } from '../polling/scheduler.ts';
import type { Audience, AudienceCreate } from '../schemas/audience.ts';
import type { Shape } from '../schemas/decode.ts';
import { datasetErrors } from './checks.ts';
import { ListedJobResource } from './resource.ts';
import { listedJobs } from './shared-jobs.ts';

/** The wire object; `is_activation_allowed` arrives as `1` or `false` and becomes a boolean. */
export const audienceShape: Shape<Audience> = {
  schema: 'audience',
  mend: (wire) =>
    wire.is_activation_allowed === 1 || wire.is_activation_allowed === 0
      ? { ...wire, is_activation_allowed: wire.is_activation_allowed === 1 }
      : wire,
};

/** Audiences: built from datasets by a job that ends at 104, 107 or a 4xx status. */
export class Audiences extends ListedJobResource<Audience, AudienceCreate, 'audiences'> {
  /** @internal */
  constructor(transport: Transport, waits: PollContext, jobs: JobGroup<Audience>) {
    const check = (body: unknown) => datasetErrors(body, Date.now());
    super(transport, { name: 'audiences', kind: 'audience', shape: audienceShape, check, jobs }, waits);
  }
}

/** Returns the group of the jobs that the list of audiences shows, lookalikes among them. */
export function audienceJobs(transport: Transport, scheduler: Scheduler): JobGroup<Audience> {
  return listedJobs(transport, scheduler, { name: 'audiences', shape: audienceShape });
}
