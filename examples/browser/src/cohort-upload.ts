import { type AudienceClient, UPLOAD_SIZES } from 'audience-activation';
import { formatBytes } from './bytes.ts';
import { fill, onSubmit, part, showName, textOf } from './dom.ts';
import type { JobCard } from './job-card.ts';
import type { JobWatcher } from './job-watcher.ts';
import { clearProblems, explain, markField, showProblem } from './problems.ts';

/** Fields of this form by other names that the service's errors use for them. */
const ALIASES = { size: 'data', upload_reference: 'data' } as const;

/** The form that uploads cohorts. */
export class CohortUpload {
  readonly #client: AudienceClient;
  readonly #jobs: JobWatcher;
  readonly #form: HTMLFormElement;
  readonly #drop: HTMLElement;
  /** Aborts when the session ends. */
  readonly #signal: AbortSignal;
  #file: File | undefined;

  constructor(root: HTMLElement, client: AudienceClient, jobs: JobWatcher, signal: AbortSignal) {
    this.#client = client;
    this.#jobs = jobs;
    this.#form = part(root, 'form', HTMLFormElement);
    this.#drop = part(root, 'drop', HTMLElement);
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
        this.#select(event.dataTransfer?.files[0]);
      },
      { signal },
    );
    this.#form.addEventListener(
      'change',
      ({ target }) => {
        if (target instanceof HTMLInputElement && target.files) this.#select(target.files[0]);
      },
      { signal },
    );
  }

  #select(file: File | undefined): void {
    if (!file) return;
    this.#file = file;
    clearProblems(this.#form);
    showName(part(this.#drop, 'file', HTMLElement), file.name);
    part(this.#drop, 'size', HTMLElement).textContent = formatBytes(file.size);
    if (textOf(this.#form, 'name').trim() === '') fill(this.#form, 'name', file.name.replace(/\.\w+$/, ''));
  }

  #clear(): void {
    this.#file = undefined;
    this.#form.reset();
    clearProblems(this.#form);
    showName(part(this.#drop, 'file', HTMLElement), 'Choose a file');
    part(this.#drop, 'size', HTMLElement).textContent = 'or drop it here: a header, then one row for each person';
  }

  async #import(): Promise<void> {
    clearProblems(this.#form);
    const file = this.#file;
    const tooLarge = file && file.size > UPLOAD_SIZES.cohort;
    if (!file || tooLarge) {
      const limit = formatBytes(UPLOAD_SIZES.cohort);
      const advice = `A file may hold ${limit} at most. Please split it into several.`;
      markField(this.#form, 'data', tooLarge ? advice : 'Please choose a file.');
      return this.#form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
    const name = textOf(this.#form, 'name').trim() || file.name;
    const stop = new AbortController();
    const card = this.#jobs.createCard(name);
    card.start('Cancel', () => stop.abort());
    card.reveal();
    let upload_reference: string | undefined;
    try {
      const signal = AbortSignal.any([stop.signal, this.#signal]);
      upload_reference = await this.#send(file, card, signal);
      const since = Date.now();
      const cohort = await this.#client.cohorts.create({ name, upload_reference }, { signal });
      this.#clear();
      void this.#jobs.watch({ kind: 'cohort', id: cohort.id, name, since }, card, cohort);
    } catch (error) {
      if (this.#signal.aborted) return;
      const stopped = upload_reference ? 'It may be imported anyway.' : 'Nothing was imported.';
      if (stop.signal.aborted) return card.end('left', `Cancelled. ${stopped}`);
      card.end('failed', explain(error));
      showProblem(this.#form, error, ALIASES);
    }
  }

  /** Sends a file to storage and shows the progress. The browser asks before the user leaves the page meanwhile. */
  async #send(file: File, card: JobCard, signal: AbortSignal): Promise<string> {
    const sending = new AbortController();
    addEventListener('beforeunload', (event) => event.preventDefault(), { signal: sending.signal });
    card.step('Uploading');
    card.showProgress({ loaded: 0, total: file.size });
    try {
      const onProgress = card.showProgress.bind(card);
      const { reference } = await this.#client.uploads.upload({ kind: 'cohort', data: file }, { signal, onProgress });
      return reference;
    } finally {
      sending.abort();
    }
  }
}
