/** Compiled with the types that openapi-typescript generates: each object is assignable to that of this package, and the reverse. */

import type * as Ours from 'audience-activation';
import type { components } from './generated/immutable.js';

type Theirs = components['schemas'];
/** The client makes a boolean of what the service sends as `1` or `false`. */
type Normalized<T> = { readonly [K in keyof T]: K extends 'is_activation_allowed' ? boolean : T[K] };
/** The named fields, at any depth: in JSON Schema, objects are open. */
type Named<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer I)[]
    ? readonly Named<I>[]
    : T extends object
      ? { readonly [K in keyof T as string extends K ? never : K]: Named<T[K]> }
      : T;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : 'theirs is not ours') : 'ours is not theirs';
type Mutual<A, B> = Same<Named<A>, Named<B>>;
/** All fields that can be set, at any depth: what a body must have is assumed, and not checked by the compiler. */
type Complete<T> = T extends string | number
  ? T
  : T extends readonly (infer I)[]
    ? Complete<I>[]
    : T extends object
      ? { [K in keyof T as [T[K]] extends [undefined] ? never : K]-?: Complete<Exclude<T[K], undefined>> }
      : T;
type MutualBody<A, B> = Same<Complete<Named<A>>, Complete<Named<B>>>;
const yes: {
  readonly Audience: Mutual<Ours.Audience, Normalized<Theirs['Audience']>>;
  readonly Activation: Mutual<Ours.Activation, Theirs['Activation']>;
  readonly Cohort: Mutual<Ours.Cohort, Theirs['Cohort']>;
  readonly Estimate: Mutual<Ours.Estimate, Theirs['Estimate']>;
  readonly Project: Mutual<Ours.Project, Theirs['Project']>;
  readonly Schedule: Mutual<Ours.Schedule, Theirs['Schedule']>;
  readonly Usage: Mutual<Ours.Usage, Theirs['Usage']>;
  readonly UploadReservation: Mutual<Ours.UploadReservation, Theirs['UploadReservation']>;
  readonly WebhookEndpoint: Mutual<Ours.WebhookEndpoint, Theirs['WebhookEndpoint']>;
  readonly AudienceCreate: MutualBody<Ours.AudienceCreate, Theirs['AudienceCreate']>;
  readonly ActivationCreate: MutualBody<Ours.ActivationCreate, Theirs['ActivationCreate']>;
  readonly CohortCreate: Mutual<Ours.CohortCreate, Theirs['CohortCreate']>;
  readonly LookalikeCreate: MutualBody<Ours.LookalikeCreate, Theirs['LookalikeCreate']>;
  readonly ProjectCreate: Mutual<Ours.ProjectCreate, Theirs['ProjectCreate']>;
  readonly ScheduleCreate: Mutual<Ours.ScheduleCreate, Theirs['ScheduleCreate']>;
  readonly UploadRequest: MutualBody<Ours.UploadRequest, Theirs['UploadRequest']>;
  readonly Credentials: Mutual<Ours.Credentials, Theirs['Credentials']>;
  readonly IssuedToken: Mutual<Ours.IssuedToken, Theirs['IssuedToken']>;
  readonly ExpiringToken: Mutual<Ours.ExpiringToken, Theirs['ExpiringToken']>;
  readonly Revocation: Mutual<Ours.Revocation, Theirs['Revocation']>;
} = {
  Audience: true,
  Activation: true,
  Cohort: true,
  Estimate: true,
  Project: true,
  Schedule: true,
  Usage: true,
  UploadReservation: true,
  WebhookEndpoint: true,
  AudienceCreate: true,
  ActivationCreate: true,
  CohortCreate: true,
  LookalikeCreate: true,
  ProjectCreate: true,
  ScheduleCreate: true,
  UploadRequest: true,
  Credentials: true,
  IssuedToken: true,
  ExpiringToken: true,
  Revocation: true,
};
console.log(yes);
