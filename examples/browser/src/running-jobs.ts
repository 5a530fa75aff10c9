/** The kinds of job that this page starts. */
export type Kind = 'audience' | 'cohort';

/** A running job as plain data: its kind and id are enough to wait for it after a reload. */
export interface RunningJob<K extends Kind = Kind> {
  readonly kind: K;
  readonly id: number;
  readonly name: string;
  /** Time of the start, in milliseconds since 1970 by the browser's clock. */
  readonly since: number;
}

/** The running jobs of a user in this tab; they survive a reload. */
export class RunningJobs {
  readonly #key: string;

  constructor(email: string) {
    this.#key = `jobs of ${email}`;
  }

  list(): readonly RunningJob[] {
    return JSON.parse(sessionStorage.getItem(this.#key) ?? '[]');
  }

  add(job: RunningJob): void {
    this.#save([...this.#without(job), job]);
  }

  remove(job: RunningJob): void {
    this.#save(this.#without(job));
  }

  clear(): void {
    sessionStorage.removeItem(this.#key);
  }

  #without({ kind, id }: RunningJob): readonly RunningJob[] {
    return this.list().filter((job) => job.kind !== kind || job.id !== id);
  }

  #save(jobs: readonly RunningJob[]): void {
    if (jobs.length === 0) this.clear();
    else sessionStorage.setItem(this.#key, JSON.stringify(jobs));
  }
}
