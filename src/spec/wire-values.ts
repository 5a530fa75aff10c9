/** A JSON object whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `T` with optional properties, which may also be `undefined` (`exactOptionalPropertyTypes`). */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * Body fields, by operation, that the types require but your service does not. This interface is empty: extend it.
 *
 * @example
 * declare module 'audience-activation' {
 *   interface OptionalFields {
 *     'audiences.create': 'name';
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: users extend it.
export interface OptionalFields {}

/** The body of an operation. The fields that {@link OptionalFields} names are optional. */
export type BodyOf<Operation extends string, Body> = Operation extends keyof OptionalFields
  ? Omit<Body, OptionalFields[Operation]> & Optional<Pick<Body, Extract<keyof Body, OptionalFields[Operation]>>>
  : Body;

/** The envelope of a successful response (specification, "Response envelope"). */
export interface Envelope {
  /** Always `success`: if the status is `error`, the call rejects with an `ApiError`. */
  readonly status: 'success';
  /** Mirrors the HTTP status. */
  readonly code: number;
  /** Human-readable text. Log it, but branch on `status` and `code`. */
  readonly message: string;
  /** The payload, if there is one. */
  readonly data?: unknown;
}

/** A string with known values; the service may add others. */
export type OpenUnion<Known extends string> = Known | (string & Record<never, never>);

/** Kinds of identifier that the service can deliver (specification, "Other limits"). */
export type Identifier = OpenUnion<'EID' | 'SCID' | 'HEM' | 'MAID' | 'IP'>;

/** Purpose of an uploaded file, which also decides its maximum size. */
export type UploadKind = OpenUnion<'poi_submission' | 'cohort'>;

/**
 * Status ids of audiences, lookalikes, estimates and activations: 104 Completed, 105 DataStreaming (activations only),
 * 107 Additional Info and 4xx errors. For a lookalike, 400 means that it was cancelled while running. With 105 and all
 * other ids, the job is running.
 */
export type LifecycleStatusId = 104 | 105 | 107 | 400 | (number & Record<never, never>);

/** Status ids of cohorts: 1 to 3 while the import runs, 4 Completed, 5 Not Available. */
export type CohortStatusId = 1 | 2 | 3 | 4 | 5 | (number & Record<never, never>);

/** A reference to a resource by id and name. */
export interface NamedId {
  /** Id of the resource. */
  readonly id: number;
  /** Name of the resource. */
  readonly name: string;
}

/** A status. The known ids depend on the kind of resource. */
export interface Status<Id extends number = number> {
  /** Numeric status. Branch on this, not on `name`. */
  readonly id: Id;
  /** Name for people, such as `Completed`. */
  readonly name: string;
}

/** The creator of a resource. */
export interface Creator {
  /** Name of the user. */
  readonly name: string;
  /** Email address of the user. */
  readonly email: string;
}
