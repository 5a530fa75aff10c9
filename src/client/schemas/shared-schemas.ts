import * as z from 'zod/mini';

/** A schema that is built when it is first used. Create one with {@link lazily}: most programs use few of them. */
export interface LazySchema<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly build: () => Schema;
  built?: Schema;
}

/** Returns a schema that is built when it is first used. */
export const lazily = <Schema extends z.ZodMiniType>(build: () => Schema): LazySchema<Schema> => ({ build });

/** How objects of one kind in responses and events are normalized and checked. */
export interface ResourceSchema<T> {
  /** Name of the kind, under which differing fields are logged once. */
  readonly name: string;
  readonly schema: LazySchema;
  /** Fields that the service writes as `1`, `0` or a boolean; they become booleans before the check. */
  readonly flags?: readonly string[];
  /** Fields that must be as documented in both validation modes, in addition to `id` and `status`. */
  readonly required?: readonly string[];
  /** Never set; exists only for the type parameter. */
  readonly type?: T;
}

/** Schemas that several objects share. */
export const statusSchema = () => z.looseObject({ id: z.int(), name: z.string() });
export const creatorSchema = () => z.looseObject({ name: z.string(), email: z.string() });
export const openObject = () => z.looseObject({});
