import { APPS_PAGE_SIZE, REFERENCE_PAGE_CAP } from '../../spec/limits.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import type { RequestOptions } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import { referenceRow } from '../schemas/open-resource-schemas.ts';
import { type ListParams, listPages, type PagePromise } from './page.ts';

/** Groups of reference tables (specification, "Pagination"). */
export type ReferenceDataset = 'common' | 'web' | 'ctv' | 'apps';

/** Reference tables contain the values to which filters and datasets refer. Their fields are not specified. */
export class Reference {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists the rows of a table. A page has 500 rows by default and at most. A page of `apps` has 250 rows by default,
   * without a maximum.
   */
  list(
    dataset: ReferenceDataset,
    name: string,
    params?: ListParams,
    options?: RequestOptions,
  ): PagePromise<JsonObject> {
    const apps = dataset === 'apps';
    const plan = {
      operation: 'reference.list',
      schema: referenceRow,
      hasNoIds: true,
      size: apps ? APPS_PAGE_SIZE : REFERENCE_PAGE_CAP,
      cap: apps ? Number.MAX_SAFE_INTEGER : REFERENCE_PAGE_CAP,
      path: { dataset, name },
    } as const;
    return listPages(this.#transport, plan, params, options);
  }
}
