import type { Transport } from '../http/index.ts';
import type { JobGroup, Scheduler } from '../polling/index.ts';
import { type Audience, type AudienceCreate, audienceResource } from '../schemas/audience.ts';
import { datasetErrors } from './checks.ts';
import { ListedJobResource } from './resource.ts';
import { listedJobs } from './shared-jobs.ts';

/** Audiences: built from datasets by a job that ends at 104, 107 or a 4xx status. */
export class Audiences extends ListedJobResource<Audience, AudienceCreate, 'audiences'> {
  /** @internal */
  constructor(transport: Transport, scheduler: Scheduler, jobs: JobGroup<Audience>) {
    const check = (body: unknown) => datasetErrors(body, Date.now());
    super(transport, { name: 'audiences', kind: 'audience', schema: audienceResource, check, jobs }, scheduler);
  }
}

/** Returns the group of the jobs that the list of audiences shows, lookalikes among them. */
export function audienceJobs(transport: Transport, scheduler: Scheduler): JobGroup<Audience> {
  return listedJobs(transport, scheduler, { name: 'audiences', schema: audienceResource });
}
