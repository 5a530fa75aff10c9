/** `T` with optional properties, which may also be `undefined` (`exactOptionalPropertyTypes`). */
export type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };
