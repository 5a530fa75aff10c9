import { ApiError, AuthenticationError, NotFoundError, PermissionError } from '../errors/api-errors.ts';
import { ResponseError } from '../errors/call-errors.ts';
import type { UpdateSource } from '../polling/index.ts';
import type { JobKind, JobResource } from '../spec/job-status.ts';
import { isObject, parseJson } from '../util/json.ts';
import { updatedAt } from '../util/timestamps.ts';

/** A job as processes share it: its kind and id, such as `audience:42`. */
export type JobName = string;

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
  /** True if the job has ended, or cannot be read. */
  readonly isFinal: boolean;
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
interface SharedError extends Pick<ApiError, 'message' | 'status' | 'operation' | 'attempts'> {
  readonly method?: string;
  readonly path?: string;
  readonly requestId?: string | undefined;
}

/** Returns the state of a job whose resource a poll or an event has shown. */
export function stateOf(job: JobName, resource: JobResource, source: UpdateSource, isFinal: boolean): SharedState {
  const value: SharedValue = { resource, source };
  return { job, updatedAt: Math.max(0, updatedAt(resource) || 0), isFinal, value: JSON.stringify(value) };
}

/**
 * Returns the final state of a job that the service refuses to show, or whose resource cannot be decoded: it is the
 * outcome for all processes. `undefined` for an error that concerns the process which has polled.
 */
export function failureStateOf(job: JobName, error: unknown): SharedState | undefined {
  if (AuthenticationError.isInstance(error)) return undefined;
  if (!ApiError.isInstance(error) && !ResponseError.isInstance(error)) return undefined;
  const { message, status, operation, attempts, requestId } = error;
  const request = ApiError.isInstance(error) && { method: error.method, path: error.path };
  const value: SharedValue = { error: { message, status, operation, attempts, requestId, ...request } };
  return { job, updatedAt: 0, isFinal: true, value: JSON.stringify(value) };
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

/** The process that wrote it has decoded it; one with stricter options must not wait for it forever. */
const isResource = (value: unknown): value is JobResource =>
  isObject(value) && typeof value.id === 'number' && isObject(value.status) && typeof value.status.id === 'number';

function errorOf({ message, method, path, requestId, ...error }: SharedError): Error {
  const details = { ...error, body: '', ...(requestId !== undefined && { requestId }) };
  if (method === undefined || path === undefined) {
    return new ResponseError(message, { ...details, code: 'response-invalid' });
  }
  const ErrorClass = error.status === 404 ? NotFoundError : error.status === 403 ? PermissionError : ApiError;
  return new ErrorClass(message, { ...details, method, path, headers: new Headers() });
}
