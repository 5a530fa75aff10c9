import type { JobResource } from '../../spec/job-status.ts';
import { RESOURCE_PAGE_CAP } from '../../spec/limits.ts';
import { isObject } from '../../util/json.ts';
import type { Transport } from '../http/transport.ts';
import type { JobRow } from '../polling/job.ts';
import { JobTable } from '../polling/job-table.ts';
import type { SharedPolls } from '../polling/shared-polls.ts';
import type { DecodeContext } from '../schemas/decode.ts';
import { decodeComplete } from '../schemas/decode.ts';
import type { ResourceSchema } from '../schemas/shared-schemas.ts';
import { largestPage, nextStart, type PageStart, queryOf, startOf } from './paging.ts';

/** Namespaces whose lists contain the resources of jobs. */
export type JobListName = 'audiences' | 'activations' | 'cohorts';

/** Creates a table of jobs whose waits poll the pages of a list. */
export function listedJobs<T extends JobResource>(
  transport: Transport,
  polls: SharedPolls,
  { name, schema }: { readonly name: JobListName; readonly schema: ResourceSchema<T> },
): JobTable<T> {
  const { paging, logger } = transport.settings;
  const pageSize = largestPage(RESOURCE_PAGE_CAP, paging);
  /** Number of rows per page, for paging by offset. The service may return fewer rows per page than requested. */
  let rowsPerPage = pageSize;
  /** Starts of pages, if only the previous page contains the start of the next page. */
  const starts: PromiseLike<PageStart>[] = [];
  return new JobTable<T>({
    polls,
    name,
    warn: (message) => logger.warn(message),
    readPage: async (page, options) => {
      const start = startOf(page, rowsPerPage, paging) ?? (await starts[page]);
      if (start === undefined && page > 1) return [];
      const reading = transport.call(`${name}.list`, {
        query: queryOf({ page, per_page: pageSize }, start, paging),
        options,
        decode: (data, context) => {
          if (!Array.isArray(data)) throw context.fail('`data` must be an array');
          if (page === 1) rowsPerPage = data.length || pageSize;
          const next = nextStart(start, data.length, paging, context.envelope);
          return { next, rows: data.flatMap((row) => readRow(row, schema, context) ?? []) };
        },
      });
      starts[page + 1] = reading.then(
        ({ next }) => next,
        () => undefined,
      );
      return (await reading).rows;
    },
  });
}

/** Returns the parts of a resource in a list row or a webhook event, or `undefined` without an id. */
export function readRow<T>(
  value: unknown,
  schema: ResourceSchema<T>,
  context: Pick<DecodeContext, 'validation'>,
): JobRow<T> | undefined {
  if (!isObject(value) || typeof value.id !== 'number') return undefined;
  const { id, status } = value;
  return {
    id,
    ...(isObject(status) && typeof status.id === 'number' && { status: status.id }),
    resource: decodeComplete(value, schema, context),
  };
}
