import type { JobResource } from '../../spec/job-status.ts';
import { onAbort, startTimer } from '../../util/abort.ts';
import type { Redactor } from '../../util/redact.ts';
import type { Job, JobSource, JobUpdate, Subscriber } from './job.ts';
import type { JobGroup } from './job-group.ts';
import { MAX_SLEEP_MS, timeoutError } from './wait-errors.ts';
import type { WaitReport } from './wait-report.ts';

/** A job is polled once more this long before a wait for it times out. */
const LAST_POLL_MS = 2_000;

/** The job that a subscription follows, and until when. */
export interface SubscriptionPlan<T extends JobResource> {
  readonly group: JobGroup<T>;
  readonly source: JobSource<T>;
  readonly id: number;
  /** Milliseconds; more than 0. */
  readonly timeout: number;
  readonly signal: AbortSignal | undefined;
  readonly redactor: Redactor;
  /** Set if there is a hook that observes waits. */
  readonly report: WaitReport | undefined;
}

/** Passes the states of a job on to one wait or watch, until the job ends, the wait fails, or it is stopped. */
export class Subscription<T extends JobResource> implements Subscriber<T> {
  readonly #plan: SubscriptionPlan<T>;
  readonly #subscriber: Subscriber<T>;
  readonly #job: Job<T>;
  readonly #stopListening: (() => void) | undefined;
  #stopTimer: () => void;
  #isStopped = false;

  constructor(plan: SubscriptionPlan<T>, subscriber: Subscriber<T>) {
    const { group, source, id, timeout, signal } = plan;
    this.#plan = plan;
    this.#subscriber = subscriber;
    // The job may have ended since its last poll: poll once more just before the timeout.
    const lead = Math.min(LAST_POLL_MS, timeout / 2);
    this.#stopTimer = startTimer(timeout - lead, () => this.#pollOnceMore(lead), MAX_SLEEP_MS);
    this.#stopListening = signal && onAbort(signal, () => this.onFailure(signal.reason));
    this.#job = group.startWait(source, id, this);
  }

  onUpdate(update: JobUpdate<T>): void {
    this.#plan.report?.update(update);
    // A hook may have aborted the wait.
    if (this.#isStopped) return;
    if (update.progress !== 'running') this.stop();
    this.#subscriber.onUpdate(update);
  }

  onFailure(error: unknown): void {
    this.#plan.report?.fail(error, this.#plan.signal);
    this.stop();
    this.#subscriber.onFailure(error);
  }

  stop(): void {
    this.#isStopped = true;
    this.#plan.report?.stop();
    this.#stopTimer();
    this.#stopListening?.();
    this.#plan.group.endWait(this.#job, this);
  }

  #pollOnceMore(lead: number): void {
    const { group, source, id, timeout, redactor } = this.#plan;
    const { kind } = source;
    this.#stopTimer = startTimer(
      lead,
      () => this.onFailure(timeoutError({ kind, id, timeout }, this.#job, redactor)),
      MAX_SLEEP_MS,
    );
    group.refresh(this.#job);
  }
}
