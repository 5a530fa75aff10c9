import { type AudienceClient, type Cohort, JobError } from 'audience-activation';
import { fill, onSubmit, part, textOf } from './dom.ts';
import { JobCard } from './job-card.ts';
import { clearProblems, explain, markField, showProblem } from './problems.ts';

const numbers = new Intl.NumberFormat();
const megabytes = new Intl.NumberFormat(undefined, {
  style: 'unit',
  unit: 'megabyte',
  maximumFractionDigits: 1,
  minimumFractionDigits: 1,
});

/** The service's names of what is wrong with a file, in this form. */
const ALIASES = { size: 'data', upload_reference: 'data' } as const;

/** The form that uploads cohorts, and a card for each import. */
export class CohortUpload {
  readonly #client: AudienceClient;
  readonly #form: HTMLFormElement;
  readonly #drop: HTMLElement;
  readonly #jobs: HTMLElement;
  /** Ends with the session. */
  readonly #signal: AbortSignal;
  #file: File | undefined;

  constructor(root: HTMLElement, client: AudienceClient, signal: AbortSignal) {
    this.#client = client;
    this.#form = part(root, 'form', HTMLFormElement);
    this.#drop = part(root, 'drop', HTMLElement);
    this.#jobs = part(root, 'jobs', HTMLElement);
    this.#signal = signal;
    this.#clear();
    this.#listen();
    onSubmit(this.#form, signal, () => this.#import());
  }

  #listen(): void {
    const signal = this.#signal;
    const over = (inside: boolean) => (event: DragEvent) => {
      event.preventDefault();
      this.#drop.toggleAttribute('data-over', inside);
    };
    this.#drop.addEventListener('dragover', over(true), { signal });
    this.#drop.addEventListener('dragleave', over(false), { signal });
    this.#drop.addEventListener(
      'drop',
      (event) => {
        over(false)(event);
        this.#take(event.dataTransfer?.files[0]);
      },
      { signal },
    );
    this.#form.addEventListener(
      'change',
      ({ target }) => {
        if (target instanceof HTMLInputElement && target.files) this.#take(target.files[0]);
      },
      { signal },
    );
  }

  #take(file: File | undefined): void {
    if (!file) return;
    this.#file = file;
    clearProblems(this.#form);
    part(this.#drop, 'file', HTMLElement).textContent = file.name;
    part(this.#drop, 'size', HTMLElement).textContent = megabytes.format(file.size / 1e6);
    if (textOf(this.#form, 'name').trim() === '') fill(this.#form, 'name', file.name.replace(/\.\w+$/, ''));
  }

  #clear(): void {
    this.#file = undefined;
    this.#form.reset();
    clearProblems(this.#form);
    part(this.#drop, 'file', HTMLElement).textContent = 'Choose a file';
    part(this.#drop, 'size', HTMLElement).textContent = 'or drop it here: a header, then one row for each person';
  }

  async #import(): Promise<void> {
    clearProblems(this.#form);
    if (!this.#file) {
      markField(this.#form, 'data', 'Please choose a file.');
      return this.#form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
    const name = textOf(this.#form, 'name').trim() || this.#file.name;
    const created = Promise.withResolvers<void>();
    void this.#follow(this.#file, name, created.resolve).finally(created.resolve);
    await created.promise;
  }

  /** Uploads and shows how far it is, then how its import gets on; `free` is called when the form can be used again. */
  async #follow(file: File, name: string, free: () => void): Promise<void> {
    const stop = new AbortController();
    const options = { name, stop: 'Cancel', onStop: () => stop.abort(), signal: this.#signal };
    const card = new JobCard(this.#jobs, options);
    card.step('Uploading');
    card.filled({ loaded: 0, total: file.size });
    let created: Cohort | undefined;
    try {
      const cohort = await this.#client.cohorts.import(
        file,
        { name },
        {
          signal: AbortSignal.any([stop.signal, this.#signal]),
          onProgress: (progress) => card.filled(progress),
          onCreated: (reserved) => {
            created = reserved;
            card.stopText('Stop watching');
            this.#clear();
            free();
          },
          wait: { onUpdate: ({ status }) => card.step(status.name) },
        },
      );
      card.end('done', `${numbers.format(cohort.total_eids)} people were recognized.`);
    } catch (error) {
      if (!this.#signal.aborted) this.#ended(card, error, { stopped: stop.signal.aborted, created });
    }
  }

  #ended(card: JobCard, error: unknown, { stopped, created }: { stopped: boolean; created: Cohort | undefined }): void {
    if (stopped && created) {
      card.end('left', 'Not watched any more. The import goes on at the service.');
    } else if (stopped) {
      card.end('left', 'Cancelled. Nothing was imported.');
    } else {
      card.end('failed', JobError.isInstance(error) ? 'The service could not import this file.' : explain(error));
      if (!created) showProblem(this.#form, error, ALIASES);
    }
  }
}
