import * as z from 'zod/mini';

/** A schema that is built at its first use, because most programs use few schemas. Create one with {@link lazily}. */
export interface LazySchema<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly build: () => Schema;
  built?: Schema;
}

/** Returns a schema that is built at its first use. */
export const lazily = <Schema extends z.ZodMiniType>(build: () => Schema): LazySchema<Schema> => ({ build });

/** Describes how to normalize and check the objects of one kind in responses and events. */
export interface ResourceSchema<T> {
  /** Name of the kind in log lines about differing fields. */
  readonly name: string;
  readonly schema: LazySchema;
  /** Fields that the service writes as `1`, `0` or a boolean. The client converts them to booleans before the check. */
  readonly flags?: readonly string[];
  /** Fields that must match the documentation in both validation modes, in addition to `id` and `status`. */
  readonly required?: readonly string[];
  /** Never set. Exists only for the type parameter. */
  readonly type?: T;
}

/** Schemas that several objects share. */
export const statusSchema = () => z.looseObject({ id: z.int(), name: z.string() });
export const creatorSchema = () => z.looseObject({ name: z.string(), email: z.string() });
export const openObject = () => z.looseObject({});
