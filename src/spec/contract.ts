import type { Statuses } from './job-status.ts';
import type { Bucket } from './limits.ts';
import type { Method, OperationName, RetryPolicy } from './operations.ts';

/**
 * Differences between a service and the assumptions of this package, as data: for the client, the command, the OpenAPI
 * document and the sandbox. Its JSON schema is `audience-activation/contract.schema.json`.
 */
export interface ServiceContract {
  /** Address of the schema, for editors. */
  readonly $schema?: string | undefined;
  /** Operations that differ, by name. */
  readonly operations?: Readonly<Partial<Record<OperationName, ContractOperation | undefined>>> | undefined;
  /** How lists are paged. @default `page` and `per_page` */
  readonly paging?: Paging | undefined;
  /** Progress by kind and status id, such as `"audience 106": "failed"`. Ids of an audience count for lookalikes, too. */
  readonly statuses?: Statuses | undefined;
  /** Time zone of the service's `Y-m-d H:i:s` timestamps. @default 'UTC' */
  readonly serverTimeZone?: string | undefined;
  /** Response header with the request id. @default 'x-request-id' */
  readonly requestIdHeader?: string | undefined;
  /** How waits poll: `get` if the rows of lists have no `status`. */
  readonly waits?:
    | {
        /** `list` polls pages of the list, `get` polls each job by its id. */
        readonly via?: 'list' | 'get' | undefined;
      }
    | undefined;
  /** How the links to result files behave. */
  readonly results?: ResultLinks | undefined;
  /** Findings of `audience-activation check`; nothing else reads them. */
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
  /** When a failed request may be sent again. */
  readonly retry?: RetryPolicy | undefined;
  /** Where the payload is, as a path from the envelope: `data.item`. @default 'data' */
  readonly data?: string | undefined;
}

/** How lists are paged. */
export interface Paging {
  /** By the number of the page, by the rows to skip, or by a cursor that each page has for the next one. */
  readonly style: 'page' | 'offset' | 'cursor';
  /** Query parameter of the number, the offset or the cursor. */
  readonly param: string;
  /** Query parameter of the rows per page. Without it, none is sent. */
  readonly size?: string | undefined;
  /** Most rows that a page has, if fewer than documented. */
  readonly maxSize?: number | undefined;
  /** Where a page has the next cursor, or an address that contains it, as a path from the envelope. */
  readonly next?: string | undefined;
}

/** Paging by the number of the page (assumed). */
export const PAGE_NUMBERS: Paging = { style: 'page', param: 'page', size: 'per_page' };

/** How the links to result files of activations behave. */
export interface ResultLinks {
  /** Whether downloads follow redirects, up to 10. Pages cannot. @default false */
  readonly redirect?: boolean | undefined;
  /** Whether links on the origin of the service get the token. No other origin gets it. @default false */
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
