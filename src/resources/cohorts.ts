import { type Cohort, type CohortCreate, cohortSchema } from '../schemas/cohort.ts';
import type { Transport } from '../transport/transport.ts';
import type { WaitContext } from '../waiting/wait.ts';
import { ListedJobResource } from './resource.ts';

/** Cohorts: imported from files, on a scale of their own that ends at 4 Completed or 5 Not Available. */
export class Cohorts extends ListedJobResource<Cohort, CohortCreate, 'cohorts'> {
  constructor(transport: Transport, waits: WaitContext) {
    super(transport, { name: 'cohorts', kind: 'cohort', shape: { schema: cohortSchema } }, waits);
  }
}
