import { ApiError, RateLimitError, ServerError } from '../errors/api.ts';
import { ConnectionError, ResponseError } from '../errors/call.ts';
import type { JobKind } from '../errors/job.ts';
import type { CallOptions, RequestOptions } from '../transport/settings.ts';
import { sleep } from '../transport/signal.ts';
import { type Observed, type Progress, progressOf } from './outcome.ts';

/** A kind of job and how its resource is read. */
export interface Observable<T extends Observed> {
  readonly kind: JobKind;
  read(id: number, options: CallOptions): Promise<T>;
}

/** What came of one look at a resource. */
export interface Observation<T> {
  readonly resource: T;
  readonly progress: Progress;
}

/** Time between two looks, give or take a tenth so that waits do not march in step. Milliseconds. */
const PERIOD = 2_000;
const JITTER = 0.1;

const period = (): number => PERIOD * (1 - JITTER + 2 * JITTER * Math.random());

/** Looks at a resource until its job has ended. Trouble on the way is ridden out; only a refusal ends it. */
export async function* observe<T extends Observed>(
  source: Observable<T>,
  id: number,
  signal: AbortSignal,
  request: Omit<RequestOptions, 'signal'> = {},
): AsyncGenerator<Observation<T>, void> {
  for (;;) {
    const resource = await look(source, id, { ...request, signal, priority: 'background' });
    if (resource) {
      const progress = progressOf(source.kind, resource);
      yield { resource, progress };
      if (progress !== 'running') return;
    }
    await sleep(period(), signal);
  }
}

async function look<T extends Observed>(
  source: Observable<T>,
  id: number,
  options: CallOptions,
): Promise<T | undefined> {
  try {
    return await source.read(id, options);
  } catch (error) {
    if (options.signal?.aborted || !passing(error)) throw error;
    return undefined;
  }
}

/** Whether a failed look says nothing about the job: the network, a proxy, a 429, a failing server. */
function passing(error: unknown): boolean {
  if (ConnectionError.isInstance(error)) return true;
  if (ServerError.isInstance(error) || RateLimitError.isInstance(error)) return true;
  if (ApiError.isInstance(error)) return error.status === 408;
  return ResponseError.isInstance(error) && error.code === 'not-an-envelope';
}
