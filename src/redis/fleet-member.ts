import { ApiError, AuthenticationError } from '../errors/api-errors.ts';
import { ResponseError } from '../errors/call-errors.ts';
import type { Fleet, FleetHost, FleetTarget, JobName, UpdateSource } from '../polling/index.ts';
import { type JobKind, progressOf } from '../spec/job-status.ts';
import { startTimer } from '../util/abort.ts';
import { isObject } from '../util/json.ts';
import { updatedAt } from '../util/timestamps.ts';
import type { SharedState, SharedWaitsNews, WaitStore } from './wait-store.ts';

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
/** A leader whose polls fail without a response, so often in a row and for so long, gives up the lead. */
const MAX_FAILED_POLLS = 3;
const MAX_FAILING_MS = 5_000;
/** Maximum jobs or states in one command. */
const MAX_BATCH = 1_000;
/** Maximum states that wait to be published. */
const MAX_OUTBOX = 10_000;

/** The value of a published state. */
interface SharedValue {
  readonly resource?: object;
  readonly source?: UpdateSource;
  /** True if the leader cannot read the job. */
  readonly isUnreadable?: boolean;
}

/** `leader`: polls for all processes. `follower`: receives states. `alone`: polls for itself, because Redis fails. */
type FleetRole = 'leader' | 'follower' | 'alone';

/** The part of one process in the waits that processes share: reports its jobs, leads or follows, passes states on. */
export class FleetMember implements Fleet {
  readonly #store: WaitStore;
  readonly #host: FleetHost;
  readonly #id = crypto.randomUUID();
  readonly #targets = new Map<string, FleetTarget>();
  /** How many of this process's clients await each job, and when it is reported again. */
  readonly #awaited = new Map<JobName, { count: number; reportAt: number }>();
  /** Jobs that this process polls for others. */
  readonly #followed = new Set<JobName>();
  readonly #refresh = new Set<JobName>();
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
  #isReporting = false;
  #isPublishing = false;
  #isClosed = false;
  #stopTimer: (() => void) | undefined;

  constructor(store: WaitStore, host: FleetHost) {
    this.#store = store;
    this.#host = host;
  }

  /** True if this process polls its shared jobs, and those of others if it leads. */
  get polls(): boolean {
    return this.#role === 'alone' || (this.#role === 'leader' && performance.now() < this.#leadsUntil);
  }

  /** Registers how the jobs of a kind are polled. The first registration counts. */
  register(kind: JobKind, target: FleetTarget): void {
    if (!this.#targets.has(kind)) this.#targets.set(kind, target);
  }

  /** Reports a job as awaited from now on. */
  await(kind: JobKind, id: number): void {
    const job = nameOf(kind, id);
    const awaited = this.#awaited.get(job);
    if (awaited) awaited.count++;
    else this.#awaited.set(job, { count: 1, reportAt: Number.NEGATIVE_INFINITY });
    this.#reportSoon();
  }

  /** Ends the reports of a job; the leader polls it until it expires. */
  forget(kind: JobKind, id: number): void {
    const job = nameOf(kind, id);
    const awaited = this.#awaited.get(job);
    if (awaited && --awaited.count === 0) this.#awaited.delete(job);
  }

  /** Has the leader poll a job as soon as possible. */
  requestRefresh(kind: JobKind, id: number): void {
    this.#refresh.add(nameOf(kind, id));
    this.#reportSoon();
  }

  /** Counts a poll that was sent for all processes. */
  countPoll(): void {
    if (this.#role === 'leader') this.#polls++;
  }

  /** Publishes a state. */
  publish(kind: JobKind, id: number, resource: object, source: UpdateSource, isFinal: boolean): void {
    const value: SharedValue = { resource, source };
    this.#send({
      job: nameOf(kind, id),
      updatedAt: Math.max(0, updatedAt(resource) || 0),
      isFinal,
      value: JSON.stringify(value),
    });
    if (isFinal) this.#followed.delete(nameOf(kind, id));
  }

  /** Passes the data of an event on to the processes that wait for its job. */
  notify(kinds: readonly JobKind[], id: number, data: unknown): void {
    for (const kind of kinds) {
      const resource = this.#targets.get(kind)?.decode(data);
      if (resource) this.publish(kind, id, resource, 'webhook', progressOf(kind, resource) !== 'running');
      else if (!this.polls || !this.#followed.has(nameOf(kind, id))) this.requestRefresh(kind, id);
    }
  }

  /** Handles the failure of a job that is polled for others. */
  onFailure(kind: JobKind, id: number, error: unknown): void {
    const job = nameOf(kind, id);
    this.#followed.delete(job);
    const isOfJob =
      (ApiError.isInstance(error) && !AuthenticationError.isInstance(error)) || ResponseError.isInstance(error);
    const value: SharedValue = { isUnreadable: true };
    if (isOfJob) this.#send({ job, updatedAt: 0, isFinal: true, value: JSON.stringify(value) });
    else this.#giveUp(error);
  }

  /** Counts failed polls: a leader that does not reach the service lets another process lead. */
  onPollError(error: unknown): void {
    if (this.#role !== 'leader' || ApiError.isInstance(error)) return;
    const now = performance.now();
    this.#failingSince ??= now;
    if (++this.#failedPolls >= MAX_FAILED_POLLS && now - this.#failingSince > MAX_FAILING_MS) this.#giveUp(error);
  }

  onPollSuccess(): void {
    this.#failedPolls = 0;
    this.#failingSince = undefined;
  }

  #giveUp(error: unknown): void {
    const message = error instanceof Error ? error.message : typeof error;
    this.#host.warn(`This process cannot poll for the others, and lets another one do it for a minute: ${message}`);
    this.onPollSuccess();
    this.#resign(UNABLE_MS);
  }

  /** Ends the reports, and the lead. */
  async close(): Promise<void> {
    const published = this.#flush();
    this.#isClosed = true;
    this.#stopTimer?.();
    this.#awaited.clear();
    const isLeader = this.#role === 'leader';
    this.#setRole('follower');
    await published;
    if (isLeader) await this.#store.resign(this.#id).catch(() => {});
  }

  /** Gives up the lead for `ms`. */
  #resign(ms: number): void {
    this.#unableUntil = performance.now() + ms;
    this.#setRole('follower');
    this.#store.resign(this.#id).catch(() => {});
  }

  #send(state: SharedState): void {
    // While Redis fails, the oldest are dropped: the jobs are polled when it responds again.
    const [oldest] = this.#outbox.keys();
    if (oldest !== undefined && this.#outbox.size >= MAX_OUTBOX) this.#outbox.delete(oldest);
    this.#outbox.set(state.job, state);
    queueMicrotask(() => void this.#flush());
  }

  /** Publishes what is in the outbox; what could not be published is sent with the next report. */
  async #flush(): Promise<void> {
    if (this.#isPublishing || this.#outbox.size === 0 || this.#isClosed) return;
    this.#isPublishing = true;
    const states = [...this.#outbox.values()].slice(0, MAX_BATCH);
    try {
      await this.#store.publish(states);
      for (const state of states) if (this.#outbox.get(state.job) === state) this.#outbox.delete(state.job);
      this.#isPublishing = false;
      await this.#flush();
    } catch {
      this.#isPublishing = false;
      this.#reportAfter(REPORT_PERIOD_MS);
    }
  }

  get #isNeeded(): boolean {
    return this.#awaited.size + this.#followed.size + this.#outbox.size > 0;
  }

  /** Reports in a microtask, so that several jobs are reported together. */
  #reportSoon(): void {
    if (this.#isReporting || this.#isClosed) return;
    this.#isReporting = true;
    this.#stopTimer?.();
    queueMicrotask(() => void this.#report());
  }

  #reportAfter(ms: number): void {
    if (this.#isReporting || this.#isClosed) return;
    this.#stopTimer?.();
    this.#stopTimer = startTimer(ms, () => this.#reportSoon());
  }

  async #report(): Promise<void> {
    const now = performance.now();
    const awaited = this.#toReport(now);
    const refresh = [...this.#refresh].slice(0, MAX_BATCH);
    const polls = this.#polls;
    let next = REPORT_PERIOD_MS;
    try {
      const news = await this.#store.report({
        process: this.#id,
        canLead: now >= this.#unableUntil && this.#isNeeded,
        awaited,
        refresh,
        polls,
        changesAfter: this.#changesAfter,
        jobsAfter: this.#jobsAfter,
      });
      if (this.#isClosed) {
        if (news.role === 'leader') await this.#store.resign(this.#id);
        return;
      }
      this.#polls -= polls;
      for (const job of refresh) this.#refresh.delete(job);
      this.#renew(awaited, now);
      await this.#apply(news, awaited, now);
      if (this.#toReport(performance.now()).length > 0) next = 0;
      this.#onSuccess();
    } catch (error) {
      if (this.#isClosed) return;
      this.#onFailedReport(error);
      next = FAILED_PERIOD_MS;
    }
    this.#isReporting = false;
    void this.#flush();
    if (this.#isNeeded || this.#refresh.size > 0) this.#reportAfter(next);
    else if (this.#role === 'leader') this.#resign(0);
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
    const now = performance.now();
    if (role !== 'none' || this.#leaderSeenAt === undefined) this.#leaderSeenAt = now;
    if (role !== 'leader') {
      this.#setRole(role === 'none' && now - this.#leaderSeenAt > MAX_LEADERLESS_MS ? 'alone' : 'follower');
      return;
    }
    this.#leadsUntil = sentAt + LEAD_MS;
    this.#jobsAfter = position;
    if (this.#role !== 'leader') this.#host.onLead(pollAges);
    this.#setRole('leader');
    for (const job of follow) {
      const [target, id] = this.#find(job);
      this.#followed.add(job);
      target?.follow(id);
    }
    for (const job of unfollow) {
      this.#followed.delete(job);
      const [target, id] = this.#find(job);
      target?.unfollow(id);
    }
    this.#host.onChange();
  }

  #setRole(role: FleetRole): void {
    if (role !== 'leader') {
      this.#jobsAfter = 0;
      for (const job of this.#followed) {
        const [target, id] = this.#find(job);
        target?.unfollow(id);
      }
      this.#followed.clear();
    }
    if (role === this.#role) return;
    this.#role = role;
    this.#host.onChange();
  }

  #receive(job: JobName, state: string | undefined): void {
    if (state === undefined) return;
    const [kind = '', id] = job.split(':');
    const value: unknown = JSON.parse(state);
    if (!isObject(value)) return;
    if (value.isUnreadable === true) this.#host.onUnreadable(kind, Number(id));
    else this.#host.receive(kind, Number(id), value.resource, value.source === 'webhook' ? 'webhook' : 'list');
  }

  #find(job: JobName): readonly [FleetTarget | undefined, number] {
    const [kind = '', id = ''] = job.split(':');
    return [this.#targets.get(kind), Number(id)];
  }

  #onSuccess(): void {
    if (this.#failures >= MAX_FAILURES) this.#host.warn('Redis responds again: waits are shared with other processes.');
    this.#failures = 0;
  }

  #onFailedReport(error: unknown): void {
    this.#failures++;
    if (this.#failures < MAX_FAILURES) return;
    if (this.#failures === MAX_FAILURES) {
      const reason = error instanceof Error ? error.message : typeof error;
      this.#host.warn(`Redis failed, so this process polls for its own waits until it responds: ${reason}`);
    }
    this.#setRole('alone');
  }
}

const nameOf = (kind: JobKind, id: number): JobName => `${kind}:${id}`;
