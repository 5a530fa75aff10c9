import type { Transport } from '../http/index.ts';
import type { Scheduler } from '../polling/index.ts';
import { type AudienceCreate, audienceCreateSchema } from '../schemas/audience.ts';
import { type Estimate, estimateResource } from '../schemas/open-resources.ts';
import { datasetErrors } from './audiences.ts';
import { JobNamespace } from './resource.ts';

/** Estimates of an audience's size, made by a job with the lifecycle of audiences (assumed). */
export class Estimates extends JobNamespace<Estimate, AudienceCreate, 'estimates'> {
  /** @internal */
  constructor(transport: Transport, scheduler: Scheduler) {
    const plan = {
      name: 'estimates',
      kind: 'estimate',
      schema: estimateResource,
      body: audienceCreateSchema,
      check: datasetErrors,
    } as const;
    super(transport, plan, scheduler);
  }
}
