/** An id, or an object with one. */
export type IdLike = number | { readonly id: number };

/** Returns the id of a target. */
export const idOf = (target: IdLike): number => (typeof target === 'object' && target !== null ? target.id : target);
