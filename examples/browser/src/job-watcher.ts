import { type AudienceClient, explainActivation, JobError, type JobResources } from 'audience-activation';
import type { AudienceList } from './audience-list.ts';
import { JobCard } from './job-card.ts';
import { explain } from './problems.ts';
import type { Kind, RunningJob, RunningJobs } from './running-jobs.ts';

const numbers = new Intl.NumberFormat();

/** How the page shows the resource of a job. */
interface View<T> {
  /** Called for each state of the resource. */
  update(resource: T): void;
  /** Describes a completed resource. */
  summarize(resource: T): string;
}

/** Dependencies of the watcher. */
export interface JobWatcherParts {
  readonly client: AudienceClient;
  readonly list: AudienceList;
  readonly running: RunningJobs;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
}

/** Shows jobs in cards until they end, across reloads of the page. */
export class JobWatcher {
  readonly #place: HTMLElement;
  readonly #client: AudienceClient;
  readonly #running: RunningJobs;
  readonly #signal: AbortSignal;
  readonly #views: { readonly [K in Kind]: View<JobResources[K]> };

  constructor(place: HTMLElement, { client, list, running, signal }: JobWatcherParts) {
    this.#place = place;
    this.#client = client;
    this.#running = running;
    this.#signal = signal;
    this.#views = {
      audience: {
        update: (audience) => list.show(audience),
        summarize(audience) {
          const { allowed, blockers } = explainActivation(audience);
          const verdict = allowed ? 'It can be activated.' : blockers.map(({ message }) => message).join(' ');
          return `${numbers.format(audience.results_count)} devices. ${verdict}`;
        },
      },
      cohort: {
        update() {},
        summarize: ({ total_eids }) => `${numbers.format(total_eids)} people were recognized.`,
      },
    };
  }

  /** Watches the jobs that were running when the user left the page. */
  resume(): void {
    for (const job of this.#running.list()) void this.watch(job, this.createCard(job.name));
  }

  createCard(name: string): JobCard {
    return new JobCard(this.#place, name, this.#signal);
  }

  /** Waits for a job. Stores the job meanwhile, so that `resume` finds it after a reload. */
  async watch<K extends Kind>(job: RunningJob<K>, card: JobCard, created?: JobResources[K]): Promise<void> {
    const { update, summarize } = this.#views[job.kind];
    const show = (resource: JobResources[K]): void => {
      card.showDuration(Date.now() - job.since);
      card.step(resource.status.name);
      update(resource);
    };
    const stop = new AbortController();
    card.start('Stop watching', () => stop.abort());
    if (created) show(created);
    this.#running.add(job);
    try {
      const signal = AbortSignal.any([stop.signal, this.#signal]);
      const resource = await this.#client.waits.wait(job, { signal, onUpdate: show });
      card.end('done', summarize(resource));
    } catch (error) {
      // If the session ended before the job, show nothing: the next session resumes the job.
      if (this.#signal.aborted) return;
      const text = stop.signal.aborted ? 'Not watched any more. It continues at the service.' : explain(error);
      if (JobError.isInstance(error)) card.end(error.code === 'job-needs-info' ? 'asks' : 'failed', text);
      else card.end('left', text, () => void this.watch(job, card));
    }
    this.#running.remove(job);
  }
}
