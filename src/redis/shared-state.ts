import type { UpdateSource } from '../client/index.ts';
import { NotFoundError, PermissionError } from '../errors/api-errors.ts';
import type { JobKind, JobResource, Progress } from '../spec/job-status.ts';
import { isObject, parseJson } from '../util/json.ts';
import { updatedAt } from '../util/timestamps.ts';

/** A job as processes share it: its kind and id, such as `audience:42`. */
export type JobName = string;

/** Returns the name of a job. */
export const nameOf = (kind: JobKind, id: number): JobName => `${kind}:${id}`;

/** Returns the kind and the id of a job. */
export function jobOf(name: JobName): readonly [kind: string, id: number] {
  const [kind = '', id] = name.split(':');
  return [kind, Number(id)];
}

/** The state of a job, published by the process that learned it. */
export interface SharedState {
  readonly job: JobName;
  /** `updated_at` of the resource in milliseconds, 0 if unknown. An older state does not replace a newer one. */
  readonly updatedAt: number;
  /** `refused`: the service does not show the job. Both others replace a running state in any order. */
  readonly phase: 'running' | 'ended' | 'refused';
  /** JSON. */
  readonly value: string;
}

/** The value of a state: a resource, or the error that its poll was refused with. */
interface SharedValue {
  readonly resource?: JobResource;
  readonly source?: UpdateSource;
  readonly error?: SharedError;
}

/** The parts of an error that do not depend on the process that met it. */
type SharedError = Pick<
  NotFoundError | PermissionError,
  'message' | 'status' | 'operation' | 'attempts' | 'method' | 'path' | 'requestId'
>;

/** Returns the state of a job whose resource a poll or an event has shown. */
export function stateOf(job: JobName, resource: JobResource, source: UpdateSource, progress: Progress): SharedState {
  const value: SharedValue = { resource, source };
  const phase = progress === 'running' ? 'running' : 'ended';
  return { job, updatedAt: Math.max(0, updatedAt(resource) || 0), phase, value: JSON.stringify(value) };
}

/**
 * Returns the state of a job that the service does not show (403, 404): that is the outcome for all processes.
 * `undefined` for any other error, which may concern only the process that has polled.
 */
export function refusalOf(job: JobName, error: unknown): SharedState | undefined {
  if (!NotFoundError.isInstance(error) && !PermissionError.isInstance(error)) return undefined;
  const { message, status, operation, attempts, method, path, requestId } = error;
  const request = { operation, attempts, method, path, ...(requestId !== undefined && { requestId }) };
  const value: SharedValue = { error: { message, status, ...request } };
  return { job, updatedAt: 0, phase: 'refused', value: JSON.stringify(value) };
}

/** Returns what a published value shows. */
export function readState(
  value: string,
): { readonly resource: JobResource; readonly source: UpdateSource } | { readonly error: Error } | undefined {
  const { resource, source, error }: { [K in keyof SharedValue]: unknown } = Object(parseJson(value));
  // It was written by this module, in this version of the keys.
  if (isObject(error)) return { error: errorOf(error as unknown as SharedError) };
  if (!isResource(resource)) return undefined;
  return { resource, source: source === 'webhook' ? 'webhook' : 'list' };
}

/** The process that wrote it has decoded it; one with stricter options must not wait for it indefinitely. */
const isResource = (value: unknown): value is JobResource =>
  isObject(value) && typeof value.id === 'number' && isObject(value.status) && typeof value.status.id === 'number';

function errorOf({ message, ...error }: SharedError): Error {
  const ErrorClass = error.status === 404 ? NotFoundError : PermissionError;
  return new ErrorClass(message, { ...error, headers: new Headers(), body: '' });
}
