import type { QueryValue } from '../spec/operations.ts';

/** `T` with optional properties, which may also be `undefined` (`exactOptionalPropertyTypes`). */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The properties of `T` without its index signature, so that values whose type is an interface can be assigned. */
type Named<T> = { readonly [K in keyof T as string extends K ? never : K]: T[K] };

/** A JSON object with the fields of `T` and any others: an object literal, or a value typed by an interface. */
export type RequestBody<T> =
  | T
  | (Named<T> &
      object & {
        /** Refuses arrays. */
        readonly [Symbol.iterator]?: undefined;
      });

/** Constraint for the type of a query, which may be an interface: each property must be a value that can be sent. */
export type QueryOf<Q> = { readonly [K in keyof Q]: QueryValue | readonly QueryValue[] };
