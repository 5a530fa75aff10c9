import type { FieldErrors } from '../../errors/error-details.ts';
import type { Audience } from '../../spec/audience.ts';
import { LOOKALIKE_TARGET_SIZE } from '../../spec/limits.ts';
import type { LookalikeCreate } from '../../spec/open-resources.ts';
import type { BodyOf } from '../../spec/wire-values.ts';
import { formatValue } from '../../util/input-checks.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { ApiPromise, Transport } from '../http/transport.ts';
import type { JobTable } from '../polling/job-table.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import { audienceResource } from '../schemas/audience-schema.ts';
import { decodeNothing } from '../schemas/decode.ts';
import { lookalikeCreateSchema } from '../schemas/open-resource-schemas.ts';
import { JobNamespace } from './resource.ts';

/** Returns an error for a `config.target_size` out of range (specification, "Rules known for creates", rule 5). */
function targetSizeErrors(body: unknown): FieldErrors {
  const { target_size }: { readonly target_size?: unknown } = Object(Object(body).config);
  const { min, max } = LOOKALIKE_TARGET_SIZE;
  const isValid = Number.isInteger(target_size) && Number(target_size) >= min && Number(target_size) <= max;
  if (target_size === undefined || isValid) return {};
  return { 'config.target_size': [`must be an integer from ${min} to ${max}, not ${formatValue(target_size)}.`] };
}

/** Lookalikes: audiences similar to a completed seed audience. A lookalike is an audience with `is_lookalike`. */
export class Lookalikes extends JobNamespace<Audience, BodyOf<'lookalikes.create', LookalikeCreate>, 'lookalikes'> {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport, polls: SharedPolls, audiences: JobTable<Audience>) {
    const { 'lookalikes.get': get, 'audiences.get': audienceGet } = transport.settings.operations;
    // If an override reads lookalikes from another path or with another query, their ids might differ from the ids in
    // the list of audiences.
    const isReadAlike = get.path === audienceGet.path && get.override?.query === audienceGet.override?.query;
    const jobs = isReadAlike ? audiences : undefined;
    const plan = {
      name: 'lookalikes',
      kind: 'lookalike',
      schema: audienceResource,
      body: lookalikeCreateSchema,
      check: targetSizeErrors,
      jobs,
    } as const;
    super(transport, plan, polls);
    this.#transport = transport;
  }

  /**
   * Cancels a running lookalike, which then ends at status 400. A lookalike that is being published completes at status
   * 104 instead. The client retries the request only if the service certainly did not act.
   */
  cancel(id: number, options?: RequestOptions): ApiPromise<void> {
    return this.#transport.call('lookalikes.cancel', { params: { id }, options, decode: decodeNothing });
  }
}
