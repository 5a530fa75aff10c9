/** A JSON object whose fields are not checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** `T` with optional properties, which may also be `undefined` (`exactOptionalPropertyTypes`). */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * Fields of bodies that your service does not require, although the types do, by operation. It is empty: extend it.
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

/** The body of an operation, with the fields optional that {@link OptionalFields} names. */
export type BodyOf<Operation extends string, Body> = Operation extends keyof OptionalFields
  ? Omit<Body, OptionalFields[Operation]> & Optional<Pick<Body, Extract<keyof Body, OptionalFields[Operation]>>>
  : Body;

/** The envelope of a successful response (specification, "Response envelope"). */
export interface Envelope {
  /** A response with the status `error` rejects the call with an `ApiError` instead. */
  readonly status: 'success';
  /** Mirrors the HTTP status. */
  readonly code: number;
  /** Human-readable; log it, but branch on `status` and `code`. */
  readonly message: string;
  /** The payload; absent where there is none. */
  readonly data?: unknown;
}

/** A string with known values; the service may add others. */
export type OpenUnion<Known extends string> = Known | (string & Record<never, never>);

/** Kinds of identifier that can be delivered. The specification names these ("Other limits"). */
export type Identifier = OpenUnion<'EID' | 'SCID' | 'HEM' | 'MAID' | 'IP'>;

/** Purpose of an uploaded file, which also decides its maximum size. */
export type UploadKind = OpenUnion<'poi_submission' | 'cohort'>;

/**
 * Status ids of audiences, lookalikes, estimates and activations: 104 Completed, 105 DataStreaming (of activations),
 * 107 Additional Info, whose reason only the console shows, and 4xx for errors; 400 is a lookalike whose run was
 * cancelled. Any other one means that the job is running.
 */
export type LifecycleStatusId = 104 | 105 | 107 | 400 | (number & Record<never, never>);

/** Status ids of cohorts: 1 to 3 while the import runs, 4 Completed, 5 Not Available. */
export type CohortStatusId = 1 | 2 | 3 | 4 | 5 | (number & Record<never, never>);

/** A reference to a resource by id and name. */
export interface NamedId {
  /** Id by which the resource is read. */
  readonly id: number;
  /** Name of the resource with this id. */
  readonly name: string;
}

/** A status; known ids depend on the kind of resource. */
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
