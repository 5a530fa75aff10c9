import * as z from 'zod/mini';
import type { JsonObject } from '../util/json.ts';

/** A string with known values; the service may add others. */
export type OpenUnion<Known extends string> = Known | (string & Record<never, never>);

/** Purpose of an uploaded file ("Uploads"). */
export type UploadKind = OpenUnion<'poi_submission' | 'cohort'>;

/** An object whose fields the specification does not show. */
export type OpenObject = JsonObject;

/** Status ids of the lifecycle scale that the specification names, the 4xx family aside. */
export type LifecycleStatusId = 104 | 105 | 107 | 400 | (number & Record<never, never>);

/** Status ids of the cohort scale. 1 to 3 run, their names are not specified; 4 Completed, 5 Not Available. */
export type CohortStatusId = 1 | 2 | 3 | 4 | 5 | (number & Record<never, never>);

/** A resource named by id. */
export interface NamedId {
  readonly id: number;
  readonly name: string;
}

/** A status; known ids depend on the kind of resource. */
export interface Status<Id extends number = number> {
  readonly id: Id;
  readonly name: string;
}

/** The creator of a resource. */
export interface Creator {
  readonly name: string;
  readonly email: string;
}

/** How a kind of wire object is normalized and checked. */
export interface ResourceSchema<T> {
  /** Name of the kind in log lines. */
  readonly name: string;
  readonly schema: z.ZodMiniType;
  /** Fields that the service writes as `1`, `0` or a boolean; they become booleans before the check. */
  readonly flags?: readonly string[];
  /** Fields that must be as documented in both validation modes, besides id and status. */
  readonly required?: readonly string[];
  /** Carries the type; never set. */
  readonly type?: T;
}

/** Schemas that several objects share. */
export const statusSchema = z.looseObject({ id: z.int(), name: z.string() });
export const creatorSchema = z.looseObject({ name: z.string(), email: z.string() });
export const openObject = z.record(z.string(), z.unknown());
