import type { AudienceCreate } from '../../spec/audience.ts';
import type { Estimate } from '../../spec/open-resources.ts';
import type { BodyOf } from '../../spec/wire-values.ts';
import type { Transport } from '../http/transport.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { audienceCreateSchema } from '../schemas/audience-schema.ts';
import { estimateResource } from '../schemas/open-resource-schemas.ts';
import { datasetErrors } from './audiences.ts';
import { JobNamespace } from './resource.ts';

/** Estimates of an audience's size. The job of an estimate ends at status 104, 107 or 4xx (assumed). */
export class Estimates extends JobNamespace<Estimate, BodyOf<'estimates.create', AudienceCreate>, 'estimates'> {
  /** @internal */
  constructor(transport: Transport, polls: SharedPolls) {
    const plan = {
      name: 'estimates',
      kind: 'estimate',
      schema: estimateResource,
      body: audienceCreateSchema,
      check: datasetErrors,
    } as const;
    super(transport, plan, polls);
  }
}
