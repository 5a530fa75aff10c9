import type { QueryValue } from '../spec/operations.ts';

/** `T` with optional properties, which may also be `undefined` (`exactOptionalPropertyTypes`). */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Properties that `T` names. An interface has no index signature, so it cannot be assigned to `T` itself. */
type Named<T> = { readonly [K in keyof T as string extends K ? never : K]: T[K] };

/** A JSON object with the fields of `T` and any others: an object literal, or a value typed by an interface. */
export type RequestBody<T> = T | (Named<T> & object & { readonly [Symbol.iterator]?: undefined });

/** Constraint for a query of any type, also an interface, whose properties can all be sent. */
export type QueryOf<Q> = { readonly [K in keyof Q]: QueryValue | readonly QueryValue[] };
