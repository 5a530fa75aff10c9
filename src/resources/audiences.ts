import type { Transport } from '../http/transport.ts';
import type { WaitContext } from '../polling/poller.ts';
import type { SharedJobs } from '../polling/room.ts';
import { type Audience, type AudienceCreate, audienceResource } from '../schemas/audience.ts';
import { datasetErrors } from './checks.ts';
import { ListedJobResource } from './resource.ts';
import { sharedJobs } from './shared-jobs.ts';

/** Audiences: built from datasets by a job that ends at 104, 107 or a 4xx status. */
export class Audiences extends ListedJobResource<Audience, AudienceCreate, 'audiences'> {
  /** @internal */
  constructor(transport: Transport, waits: WaitContext, jobs: SharedJobs<Audience>) {
    const check = (body: unknown) => datasetErrors(body, Date.now());
    super(transport, { name: 'audiences', kind: 'audience', schema: audienceResource, check, jobs }, waits);
  }
}

/** The jobs of the audiences' list, lookalikes among them. */
export function audienceJobs(transport: Transport): SharedJobs<Audience> {
  return sharedJobs(transport, { schema: audienceResource, name: 'audiences', listed: 'audiences' });
}
