import { isNewer, type JobSubscription, type JobUpdate, type Scheduler, type WaitObserver } from '../client/index.ts';
import { ApiError } from '../errors/api-errors.ts';
import type { JobKind, JobResource } from '../spec/job-status.ts';
import { startTimer } from '../util/abort.ts';
import { messageOf } from '../util/callbacks.ts';
import { type JobName, jobOf, nameOf, readState, refusalOf, type SharedState, stateOf } from './shared-state.ts';
import type { SharedWaitsNews, WaitStore } from './wait-store.ts';

/** Time between two reports. Milliseconds. */
const REPORT_PERIOD_MS = 300;
/** Time between two reports while Redis fails. Milliseconds. */
const FAILED_PERIOD_MS = 1_000;
/** How long after the report that has won it the lead is used. Shorter than the lease: clocks and replies are late. */
const LEAD_MS = 1_700;
/** Time until an awaited job is reported again, a third of that after which it expires. Milliseconds. */
const RENEWAL_MS = 10_000;
/** Failed reports in a row after which this process polls for itself. */
const MAX_FAILURES = 2;
/** Time without a leader after which this process polls for itself, because none is able to. Milliseconds. */
const MAX_LEADERLESS_MS = 5_000;
/** How long a process does not lead after its polls have failed for its own reason. Milliseconds. */
const UNABLE_MS = 60_000;
/** A leader whose polls fail without a response, so often in a row and for so long, releases the lead. */
const MAX_FAILED_POLLS = 3;
const MAX_FAILING_MS = 5_000;
/** A leader also releases the lead if a poll has no response for so long: half of the default `timeout`. */
const MAX_SILENCE_MS = 15_000;
/** Maximum jobs or states in one report. */
const MAX_BATCH = 1_000;
/** Maximum states that wait to be published. */
const MAX_OUTBOX = 10_000;

/** `leader`: polls for all processes. `follower`: receives states. `alone`: polls for itself, because Redis fails. */
type FleetRole = 'leader' | 'follower' | 'alone';

/**
 * One process of those that share their waits. It reports the jobs that its client awaits, and delivers the states that
 * others publish. As the leader it subscribes to the jobs of all, and publishes what their polls show.
 */
export class FleetMember implements WaitObserver {
  readonly #store: WaitStore;
  readonly #scheduler: Scheduler;
  readonly #warn: (message: string) => void;
  readonly #id = crypto.randomUUID();
  /** How many waits of this process await each job, and when it is reported again. */
  readonly #awaited = new Map<JobName, { count: number; reportAt: number }>();
  /** Jobs that this process polls for others. */
  readonly #followed = new Map<JobName, JobSubscription>();
  readonly #refresh = new Set<JobName>();
  /** States to publish with the next report; of each job the latest. */
  readonly #outbox = new Map<JobName, SharedState>();
  #polls = 0;
  #changesAfter = -1;
  #jobsAfter = 0;
  #role: FleetRole = 'follower';
  #leadsUntil = Number.NEGATIVE_INFINITY;
  #unableUntil = Number.NEGATIVE_INFINITY;
  #leaderSeenAt: number | undefined;
  #failedPolls = 0;
  #failingSince: number | undefined;
  #failures = 0;
  #reporting: Promise<void> | undefined;
  #isClosed = false;
  /** True while a report waits for Redis to recover. */
  #isRetrying = false;
  #stopTimer: (() => void) | undefined;

  constructor(store: WaitStore, scheduler: Scheduler, warn: (message: string) => void) {
    this.#store = store;
    this.#scheduler = scheduler;
    this.#warn = warn;
  }

  /** True if this process polls the jobs that it awaits, and those of others if it leads. */
  get polls(): boolean {
    return this.#role === 'alone' || (this.#role === 'leader' && performance.now() < this.#leadsUntil);
  }

  /** Reports a job as awaited from now on. */
  onStart(kind: JobKind, id: number): void {
    const job = nameOf(kind, id);
    const awaited = this.#awaited.get(job);
    if (awaited) awaited.count++;
    else this.#awaited.set(job, { count: 1, reportAt: Number.NEGATIVE_INFINITY });
    this.#reportSoon();
  }

  /** Ends the reports of a job; the leader polls it until it expires. */
  onEnd(kind: JobKind, id: number): void {
    const job = nameOf(kind, id);
    const awaited = this.#awaited.get(job);
    if (awaited && --awaited.count === 0) this.#awaited.delete(job);
  }

  /** Asks the leader to poll a job as soon as possible. */
  onRefresh(kind: JobKind, id: number): void {
    if (this.polls) return;
    this.#refresh.add(nameOf(kind, id));
    this.#reportSoon();
  }

  /** Publishes what an event shows; if `data` is incomplete, asks for a poll. */
  onEvent(kinds: readonly JobKind[], id: number, data: unknown): void {
    for (const kind of kinds) {
      const job = nameOf(kind, id);
      const target = this.#scheduler.target(kind);
      const resource = target?.decode(data);
      if (target && resource) this.#publish(stateOf(job, resource, 'webhook', target.progressOf(resource)));
      else if (!this.polls || !this.#followed.has(job)) {
        this.#refresh.add(job);
        this.#reportSoon();
      }
    }
  }

  onPoll(): void {
    if (this.#role === 'leader') this.#polls++;
  }

  /** Counts failed polls: a leader that does not reach the service lets another process lead. */
  onPollEnd(error?: unknown): void {
    if (error === undefined) {
      this.#failedPolls = 0;
      this.#failingSince = undefined;
      return;
    }
    if (this.#role !== 'leader' || ApiError.isInstance(error)) return;
    const now = performance.now();
    this.#failingSince ??= now;
    if (++this.#failedPolls >= MAX_FAILED_POLLS && now - this.#failingSince > MAX_FAILING_MS) this.#giveUp(error);
  }

  /** Ends the reports, and with the last one the lead. */
  async close(): Promise<void> {
    const isLeader = this.#role === 'leader';
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#awaited.clear();
    this.#setRole('follower');
    await this.#reporting;
    if (isLeader || this.#outbox.size > 0) await this.#send().catch(() => {});
  }

  /** Subscribes to a job on behalf of other processes; of one that is subscribed to already, requests a poll. */
  #follow(job: JobName): void {
    const followed = this.#followed.get(job);
    if (followed) {
      followed.refresh();
      return;
    }
    const [kind, id] = jobOf(job);
    let last: JobResource | undefined;
    const subscription = this.#scheduler.target(kind)?.subscribe(id, {
      onUpdate: ({ resource, source, progress }: JobUpdate<JobResource>) => {
        const isFinal = progress !== 'running';
        if (isFinal || isNewer(resource, last)) this.#publish(stateOf(job, resource, source, progress));
        last = resource;
        if (isFinal) this.#unfollow(job);
      },
      onFailure: (error) => {
        this.#unfollow(job);
        const state = refusalOf(job, error);
        if (state) this.#publish(state);
        else this.#giveUp(error);
      },
    });
    if (subscription) this.#followed.set(job, subscription);
  }

  #unfollow(job: JobName): void {
    this.#followed.get(job)?.unsubscribe();
    this.#followed.delete(job);
  }

  #publish(state: SharedState): void {
    // While Redis fails, the oldest are dropped: the jobs are polled when it responds again.
    const [oldest] = this.#outbox.keys();
    if (oldest !== undefined && this.#outbox.size >= MAX_OUTBOX) this.#outbox.delete(oldest);
    this.#outbox.set(state.job, state);
    this.#reportSoon();
  }

  /** Releases the lead, because this process cannot poll. */
  #giveUp(error: unknown): void {
    this.#warn(`This process cannot poll for the others, and lets another one do it for a minute: ${messageOf(error)}`);
    this.onPollEnd();
    this.#unableUntil = performance.now() + UNABLE_MS;
    this.#setRole('follower');
    this.#reportSoon();
  }

  /** True if this process has jobs to poll. */
  get #hasJobs(): boolean {
    return this.#awaited.size + this.#followed.size > 0;
  }

  /** Reports in a microtask, so that several jobs are reported together. A failing Redis is not asked more often. */
  #reportSoon(): void {
    if (this.#reporting || this.#isClosed || this.#isRetrying) return;
    this.#stopTimer?.();
    this.#reporting = Promise.resolve().then(() => this.#report());
  }

  #reportAfter(ms: number): void {
    this.#stopTimer?.();
    this.#isRetrying = this.#failures > 0;
    this.#stopTimer = startTimer(ms, () => {
      this.#isRetrying = false;
      this.#reporting = this.#report();
    });
  }

  async #report(): Promise<void> {
    let next = REPORT_PERIOD_MS;
    const isSilent = this.#scheduler.oldestPollAge > MAX_SILENCE_MS;
    // A leader whose lease has ended was stopped itself, and has not seen the responses yet.
    if (isSilent && this.#role === 'leader' && this.polls) this.#giveUp('a poll had no response for 15 s');
    try {
      await this.#send();
      if (this.#failures >= MAX_FAILURES) this.#warn('Redis responds again: waits are shared with other processes.');
      this.#failures = 0;
      if (this.#toReport(performance.now()).length + this.#outbox.size > 0) next = 0;
    } catch (error) {
      if (!this.#isClosed) this.#onFailedReport(error);
      next = FAILED_PERIOD_MS;
    }
    this.#reporting = undefined;
    if (this.#isClosed) return;
    if (this.#hasJobs || this.#outbox.size + this.#refresh.size > 0) this.#reportAfter(next);
    // The report after the last wait releases the lead.
    else if (this.#role === 'leader') this.#reportAfter(0);
  }

  /** Sends a report with what is to be published, and applies the reply. Once closed, it releases the lead. */
  async #send(): Promise<void> {
    const now = performance.now();
    const awaited = this.#toReport(now);
    const refresh = [...this.#refresh].slice(0, MAX_BATCH);
    const states = [...this.#outbox.values()].slice(0, MAX_BATCH);
    const polls = this.#polls;
    const news = await this.#store.report({
      process: this.#id,
      canLead: !this.#isClosed && now >= this.#unableUntil && this.#hasJobs,
      awaited,
      refresh,
      states,
      polls,
      changesAfter: this.#changesAfter,
      jobsAfter: this.#jobsAfter,
    });
    this.#polls -= polls;
    for (const job of refresh) this.#refresh.delete(job);
    for (const state of states) if (this.#outbox.get(state.job) === state) this.#outbox.delete(state.job);
    if (this.#isClosed) return;
    this.#renew(awaited, now);
    await this.#apply(news, awaited, now);
  }

  /** Returns the jobs to report next: those that are due, the new ones included. */
  #toReport(now: number): JobName[] {
    const jobs: JobName[] = [];
    for (const [job, { reportAt }] of this.#awaited) if (reportAt <= now && jobs.push(job) === MAX_BATCH) break;
    return jobs;
  }

  #renew(jobs: readonly JobName[], now: number): void {
    for (const job of jobs) {
      const awaited = this.#awaited.get(job);
      if (awaited) awaited.reportAt = now + RENEWAL_MS;
    }
  }

  async #apply(news: SharedWaitsNews, reported: readonly JobName[], sentAt: number): Promise<void> {
    const hasLostData = news.position < this.#changesAfter;
    // A job that is reported again is read, too: a change that was missed is then at most ten seconds late.
    const changed = news.changed.filter((job) => this.#awaited.has(job) || this.#followed.has(job));
    const toRead = [...new Set([...changed, ...reported])];
    for (let start = 0; start < toRead.length; start += MAX_BATCH) {
      const jobs = toRead.slice(start, start + MAX_BATCH);
      const states = await this.#store.states(jobs);
      for (const [index, job] of jobs.entries()) this.#receive(job, states[index]);
    }
    // Only now: if the states could not be read, the next report returns the changes again.
    this.#changesAfter = news.position;
    this.#applyRole(news, sentAt);
    if (!hasLostData) return;
    // Report all jobs again, and receive all that other processes report.
    for (const awaited of this.#awaited.values()) awaited.reportAt = Number.NEGATIVE_INFINITY;
    this.#jobsAfter = 0;
  }

  #applyRole({ role, position, follow, unfollow, pollAges }: SharedWaitsNews, sentAt: number): void {
    if (this.#isClosed) return;
    const now = performance.now();
    if (role !== 'none' || this.#leaderSeenAt === undefined) this.#leaderSeenAt = now;
    // It may have released the lead while the report was under way.
    if (role !== 'leader' || now < this.#unableUntil) {
      this.#setRole(role === 'none' && now - this.#leaderSeenAt > MAX_LEADERLESS_MS ? 'alone' : 'follower');
      return;
    }
    this.#leadsUntil = sentAt + LEAD_MS;
    this.#jobsAfter = position;
    if (this.#role !== 'leader') this.#scheduler.rate.restore(pollAges);
    this.#setRole('leader');
    for (const job of follow) this.#follow(job);
    for (const job of unfollow) this.#unfollow(job);
    this.#scheduler.wake();
  }

  #setRole(role: FleetRole): void {
    if (role !== 'leader') {
      this.#jobsAfter = 0;
      for (const job of [...this.#followed.keys()]) this.#unfollow(job);
    }
    if (role === this.#role) return;
    this.#role = role;
    this.#scheduler.wake();
  }

  #receive(job: JobName, value: string | undefined): void {
    const state = value === undefined ? undefined : readState(value);
    if (!state) return;
    const [kind, id] = jobOf(job);
    if ('error' in state) this.#scheduler.failJob(kind, id, state.error);
    else this.#scheduler.deliver(kind, id, state.resource, state.source);
  }

  /** After some failed reports, which include what is to be published, this process releases the lead and polls alone. */
  #onFailedReport(error: unknown): void {
    this.#failures++;
    if (this.#failures < MAX_FAILURES) return;
    if (this.#failures === MAX_FAILURES) {
      this.#warn(`Redis failed, so this process polls for its own waits until it responds: ${messageOf(error)}`);
    }
    this.#setRole('alone');
  }
}
