import { WaitTimeoutError } from '../../errors/job-errors.ts';
import type { JobKind, JobResource } from '../../spec/job-status.ts';
import { isReason } from '../../util/call-site.ts';
import { emit } from '../../util/run-hooks.ts';
import { parseTimestamp } from '../../util/timestamps.ts';
import type { JobUpdate } from './job.ts';
import type { WaitEnd, WaitInfo, WaitSettings, WaitStep } from './wait-events.ts';

let waits = 0;

/** Passes the steps of one wait or watch to the hooks. */
export class WaitReport {
  readonly #settings: WaitSettings;
  readonly #wait: WaitInfo;
  readonly #startedAt = performance.now();
  /** Earliest known time at which the job may have ended. */
  #mayHaveEndedAt = this.#startedAt;
  #status: number | undefined;
  #hasEnded = false;

  /** Reports that a wait starts. */
  constructor(settings: WaitSettings, kind: JobKind, id: number) {
    this.#settings = settings;
    this.#wait = { waitId: `wait_${++waits}`, kind, id };
    this.#emit({ type: 'started' });
  }

  /** Reports a state of the job, and the end of the wait if the job has ended. */
  update({ resource, state, source, startedAt, callId }: JobUpdate<JobResource>): void {
    const { id: status } = resource.status;
    const from = this.#status;
    this.#status = status;
    if (source !== 'webhook') this.#emit({ type: 'polled', source, status, ...(callId && { callId }) });
    if (status !== from) this.#emit({ type: 'changed', source, status, ...(from !== undefined && { from }) });
    if (state !== 'running') this.#end(state, { source, lateness: this.#latenessOf(resource) });
    // A webhook event may arrive long after the state that it reports.
    if (callId !== undefined) this.#mayHaveEndedAt = Math.max(this.#mayHaveEndedAt, startedAt);
  }

  /** Reports that the wait has ended although the job has not. Only the first call has an effect. */
  fail(error: unknown, signal: AbortSignal | undefined): void {
    const outcome = isReason(error, [signal]) ? 'aborted' : 'failure';
    this.#end(WaitTimeoutError.isInstance(error) ? 'timeout' : outcome, { error });
  }

  /** Reports that the caller has stopped waiting. Only the first call has an effect. */
  stop(): void {
    this.#end('aborted', {});
  }

  #end(outcome: WaitEnd['outcome'], details: Pick<WaitEnd, 'source' | 'lateness' | 'error'>): void {
    const status = this.#status;
    const duration = performance.now() - this.#startedAt;
    this.#emit({ type: 'ended', outcome, duration, ...(status !== undefined && { status }), ...details });
  }

  #latenessOf(resource: object): number {
    const atMost = performance.now() - this.#mayHaveEndedAt;
    const text = 'updated_at' in resource ? String(resource.updated_at) : '';
    const endedAt = parseTimestamp(text, this.#settings.serverTimeZone);
    return endedAt ? Math.max(0, Math.min(atMost, Date.now() - endedAt.getTime())) : atMost;
  }

  /** Reports a step, unless the wait has ended: a hook may have aborted it. */
  #emit(step: WaitStep): void {
    if (this.#hasEnded) return;
    this.#hasEnded = step.type === 'ended';
    emit(this.#settings, 'onWait', () => ({ ...this.#wait, ...step }));
  }
}
