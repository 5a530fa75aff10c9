import type { ApiPromise, RequestOptions, Transport } from '../http/index.ts';
import type { JobGroup, Scheduler } from '../polling/index.ts';
import { type Audience, audienceResource } from '../schemas/audience.ts';
import { decodeNothing } from '../schemas/decode.ts';
import type { LookalikeCreate } from '../schemas/open-resources.ts';
import { targetSizeErrors } from './checks.ts';
import { JobResource } from './resource.ts';

/** Lookalikes: audiences grown from a completed seed. Results are audiences with `is_lookalike`. */
export class Lookalikes extends JobResource<Audience, LookalikeCreate, 'lookalikes'> {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport, scheduler: Scheduler, audiences: JobGroup<Audience>) {
    const [own, other] = [
      transport.settings.operations['lookalikes.get'],
      transport.settings.operations['audiences.get'],
    ];
    // Read elsewhere, their ids may be other ids than those of the audiences' list.
    const readAlike = own.path === other.path && own.override?.query === other.override?.query;
    const jobs = readAlike ? audiences : undefined;
    const plan = {
      name: 'lookalikes',
      kind: 'lookalike',
      schema: audienceResource,
      check: targetSizeErrors,
      jobs,
    } as const;
    super(transport, plan, scheduler);
    this.#transport = transport;
  }

  /**
   * Asks a running lookalike to stop: it ends at 400. One that is publishing already completes at
   * 104 anyway. Not retried if the outcome of a failure is unknown.
   */
  cancel(id: number, options: RequestOptions = {}): ApiPromise<void> {
    return this.#transport.call('lookalikes.cancel', { params: { id }, options, decode: decodeNothing });
  }
}
