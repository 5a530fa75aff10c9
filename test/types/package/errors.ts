/** Compiled against the built package: what is known of an error after `isInstance`. */

import {
  type AnyAudienceError,
  ApiError,
  type AudienceClient,
  AudienceError,
  type BuildBudget,
  BuildBudgetError,
  type Cohort,
  ConnectionError,
  type Estimate,
  JobError,
  JobFailedError,
  type JobKind,
  NotFoundError,
  OAuthError,
  RateLimitError,
  ResultsNotReadyError,
  WaitTimeoutError,
} from 'audience-activation';
import { WebhookVerificationError } from 'audience-activation/webhooks';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._: Equal<A, B> extends true ? [] : [never]): void => {};

export function byCode(error: unknown): string | undefined {
  if (!AudienceError.isInstance(error)) return undefined;
  switch (error.code) {
    case 'rate-limited':
    case 'build-budget-exhausted':
      return error.retryAt?.toISOString();
    case 'validation-failed':
      return error.errors.name?.[0];
    case 'authentication-failed':
      return error.reason;
    case 'job-failed':
    case 'wait-timeout':
      same<typeof error.kind, JobKind>();
      return error.kind;
    case 'attempt-timeout':
    case 'connection-failed':
      return error.operation;
    case 'reauthorization-required':
      return error.error;
    case 'webhook-invalid':
      return error.reason;
    case 'file-changed':
      return error.path;
    case 'client-closed':
      // @ts-expect-error nothing was sent
      return error.status;
    default:
      return error.message;
  }
}

export function byClass(error: unknown): void {
  if (ApiError.isInstance(error) && error.code === 'validation-failed') same<typeof error.local, boolean>();
  if (ApiError.isInstance(error) && error.code === 'api-error') same<typeof error.status, number>();
  // @ts-expect-error the code of another class
  if (ApiError.isInstance(error) && error.code === 'job-failed') console.log(error);
  if (NotFoundError.isInstance(error)) same<typeof error.code, 'not-found'>();
  if (RateLimitError.isInstance(error) && error.code === 'build-budget-exhausted') {
    same<typeof error.budget, BuildBudget | undefined>();
  }
  if (BuildBudgetError.isInstance(error)) same<typeof error.code, 'build-budget-exhausted'>();
  if (OAuthError.isInstance(error)) same<typeof error.error, string>();
  if (WebhookVerificationError.isInstance(error)) same<typeof error.code, 'webhook-invalid'>();
  if (error instanceof AudienceError && NotFoundError.isInstance(error)) same<typeof error.status, number>();
}

export function jobs(error: unknown): void {
  if (JobError.isInstance(error) && error.kind === 'cohort') {
    const cohort: Cohort = error.resource;
    console.log(cohort, error.resource.total_eids.toFixed());
  }
  if (JobFailedError.isInstance(error) && error.kind === 'activation') console.log(error.resource.datastreams.length);
  if (JobError.isInstance(error)) {
    same<typeof error.code, 'job-failed' | 'job-needs-info' | 'job-cancelled'>();
    console.log(error.resource.status.name, error.resource.id.toFixed());
    // @ts-expect-error only cohorts have it
    console.log(error.resource.total_eids.toFixed());
  }
  if (WaitTimeoutError.isInstance(error) && error.kind === 'estimate') {
    const estimate: Estimate | undefined = error.resource;
    console.log(estimate);
  }
  if (ResultsNotReadyError.isInstance(error)) console.log(error.resource.partner.name);
}

export function lists(errors: unknown[], outcomes: readonly (Error | number)[]): void {
  same<ReturnType<typeof onlyMissing>, NotFoundError[]>();
  const match = errors.find(RateLimitError.isInstance);
  console.log(match?.retryAt, outcomes.filter(ConnectionError.isInstance)[0]?.operation);
  const all: AnyAudienceError[] = errors.filter(AudienceError.isInstance);
  console.log(all.map(({ code }) => code));
}
const onlyMissing = (errors: unknown[]) => errors.filter(NotFoundError.isInstance);

/** The reason of a rejection is typed as that of the platform's promises. */
export async function rejections(client: AudienceClient): Promise<void> {
  const call = client.audiences.get(1);
  await call.catch((error) => error.code);
  await call.then(undefined, (error) => error.code);
  await client.audiences.wait(1).catch((error) => error.code);
  same<Parameters<typeof call.catch>, Parameters<ReturnType<typeof client.audiences.wait>['catch']>>();
  const kept = await call.catch(() => undefined);
  same<typeof kept, Awaited<typeof call> | undefined>();
}
