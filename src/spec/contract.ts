import type { Statuses } from './job-status.ts';
import type { Bucket } from './limits.ts';
import type { Method, OperationName, RetryPolicy } from './operations.ts';

/**
 * Differences between your service and the assumptions of this package. The client, the command, the OpenAPI document
 * and the sandbox take them into account. The JSON schema is `audience-activation/contract.schema.json`.
 */
export interface ServiceContract {
  /** URL of the JSON schema, with which editors check the file. */
  readonly $schema?: string | undefined;
  /** Operations that differ, by name, such as `audiences.get`. */
  readonly operations?: Readonly<Partial<Record<OperationName, ContractOperation | undefined>>> | undefined;
  /** How lists are paged. @default `page` and `per_page` */
  readonly paging?: Paging | undefined;
  /**
   * Job states by kind of job and status id, such as `"audience 106": "failed"`. Entries for `audience` also apply to
   * lookalikes.
   */
  readonly statuses?: Statuses | undefined;
  /** Time zone of the service's `Y-m-d H:i:s` timestamps. @default 'UTC' */
  readonly serverTimeZone?: string | undefined;
  /** Response header with the request id. @default 'x-request-id' */
  readonly requestIdHeader?: string | undefined;
  /** How waits poll jobs. */
  readonly waits?:
    | {
        /**
         * `list` reads pages of the list. `get` reads each job by its id; choose `get` if the rows of lists have no
         * `status`.
         */
        readonly via?: 'list' | 'get' | undefined;
      }
    | undefined;
  /** How the links to result files behave. */
  readonly results?: ResultLinks | undefined;
  /** Findings of `audience-activation check`. The client ignores them. */
  readonly checked?: ContractCheck | undefined;
}

/** How an operation of the service differs. */
export interface ContractOperation {
  /** HTTP method. */
  readonly method?: Method | undefined;
  /** Path below the base URL; `{name}` marks a parameter. */
  readonly path?: string | undefined;
  /** The rate bucket that counts the request. */
  readonly bucket?: Bucket | undefined;
  /** When the client may send a failed request again. */
  readonly retry?: RetryPolicy | undefined;
  /** Path of the payload in the envelope, such as `data.item`. @default 'data' */
  readonly data?: string | undefined;
}

/** How lists are paged. */
export interface Paging {
  /** `page`: by page number; `offset`: by number of rows to skip; `cursor`: by the cursor in the previous page. */
  readonly style: 'page' | 'offset' | 'cursor';
  /** Name of the query parameter for the page number, the offset or the cursor. */
  readonly param: string;
  /** Name of the query parameter for the number of rows per page. If not set, the client does not send the number. */
  readonly size?: string | undefined;
  /** Maximum number of rows per page, if lower than documented. */
  readonly maxSize?: number | undefined;
  /** Path, in the envelope, of the next cursor or of a URL that contains the cursor. Required for `cursor`. */
  readonly next?: string | undefined;
}

/** Paging by page number (assumed). */
export const PAGE_NUMBERS: Paging = { style: 'page', param: 'page', size: 'per_page' };

/** How the links to result files of activations behave. */
export interface ResultLinks {
  /** Whether downloads follow up to 10 redirects. Downloads in a browser page never do. @default false */
  readonly redirect?: boolean | undefined;
  /**
   * Whether requests for links on the origin of the service contain the client's token. Requests to other origins never
   * do.
   * @default false
   */
  readonly bearer?: boolean | undefined;
}

/** Findings of a check. */
export interface ContractCheck {
  /** Day of the check, `YYYY-MM-DD`. */
  readonly at: string;
  /** Kinds of requests that the check was allowed to send. */
  readonly level: 'read' | 'write' | 'build';
  /** Ids of the assumptions that responses have confirmed. */
  readonly confirmed: readonly string[];
  /** Ids of the assumptions that are likely to hold. */
  readonly likely: readonly string[];
}
