import type { DecodeContext, Transport } from '../http/transport.ts';
import type { JobGroup } from '../polling/job-group.ts';
import type { Listing, Row } from '../polling/job-source.ts';
import type { SharedJobs } from '../polling/room.ts';
import type { ResourceSchema } from '../schemas/common.ts';
import { decodeComplete } from '../schemas/decode.ts';
import type { Observed } from '../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../spec/limits.ts';
import { isObject } from '../util/json.ts';

/** Lists in which waits find the resources of jobs. */
export type JobListName = 'audiences' | 'activations' | 'cohorts';

/** What tells one group of jobs from another. */
export interface JobGroupPlan<T> {
  readonly schema: ResourceSchema<T>;
  /** Of the namespace. */
  readonly name: string;
  /** Where they are listed, if anywhere. */
  readonly listed?: JobListName | undefined;
}

/** The jobs that waits look at together, of one kind or of more. */
export function sharedJobs<T extends Observed>(
  transport: Transport,
  { schema, name, listed }: JobGroupPlan<T>,
): SharedJobs<T> {
  const { logger } = transport.settings;
  let shared: JobGroup<T> | undefined;
  return {
    group({ JobGroup, scheduler }) {
      shared ??= new JobGroup<T>({
        scheduler,
        name,
        ...(listed && { listing: listing(transport, listed, schema) }),
        warn: (message) => logger.warn(message),
      });
      return shared;
    },
  };
}

function listing<T>(transport: Transport, name: JobListName, schema: ResourceSchema<T>): Listing<T> {
  return {
    rows: (page, options) =>
      transport.call(`${name}.list`, {
        query: { page, per_page: RESOURCE_PAGE_CAP },
        options,
        decode: (data, context) => {
          if (!Array.isArray(data)) throw context.fail('`data` is no list');
          return data.flatMap((row) => readRow(row, schema, context) ?? []);
        },
      }),
  };
}

/** A resource as far as a row or an event tells it; `undefined` where there is none. */
export function readRow<T>(
  value: unknown,
  schema: ResourceSchema<T>,
  context: Pick<DecodeContext, 'validation'>,
): Row<T> | undefined {
  if (!isObject(value) || typeof value.id !== 'number') return undefined;
  const { id, status } = value;
  return {
    id,
    ...(isObject(status) && typeof status.id === 'number' && { status: status.id }),
    resource: decodeComplete(value, schema, context),
  };
}
