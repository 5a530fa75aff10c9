import { type AudienceClient, type AudienceCreate, AudienceError } from 'audience-activation';
import { fill, onSubmit, part, textOf } from './dom.ts';
import type { JobWatcher } from './job-watcher.ts';
import { clearProblems, markField, showProblem } from './problems.ts';

const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** A create request without a response. If the same body is submitted again, it is sent with the same key. */
interface PendingCreate {
  readonly body: string;
  readonly key: string;
}

/** The form that builds audiences. */
export class AudienceBuilder {
  readonly #client: AudienceClient;
  readonly #jobs: JobWatcher;
  readonly #form: HTMLFormElement;
  /** Aborts when the session ends. */
  readonly #signal: AbortSignal;
  #pending: PendingCreate | undefined;

  constructor(root: HTMLElement, client: AudienceClient, jobs: JobWatcher, signal: AbortSignal) {
    this.#client = client;
    this.#jobs = jobs;
    this.#form = part(root, 'form', HTMLFormElement);
    this.#signal = signal;
    this.#form.reset();
    clearProblems(this.#form);
    fill(this.#form, 'dataset.0.start_date', day(30));
    fill(this.#form, 'dataset.0.end_date', day(1));
    onSubmit(this.#form, signal, () => this.#build());
  }

  async #build(): Promise<void> {
    clearProblems(this.#form);
    const name = textOf(this.#form, 'name').trim();
    if (name === '') {
      markField(this.#form, 'name', 'Please enter a name.');
      return this.#form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
    const field = (of: string): string => textOf(this.#form, `dataset.0.${of}`);
    const dates = { start_date: field('start_date'), end_date: field('end_date') };
    await this.#create(name, { name, dataset: [{ analysis_type: field('analysis_type'), ...dates }] });
  }

  /** Creates an audience, then watches its job. */
  async #create(name: string, input: AudienceCreate): Promise<void> {
    const stop = new AbortController();
    const card = this.#jobs.createCard(name);
    card.start('Stop', () => stop.abort());
    card.step('Creating');
    const body = JSON.stringify(input);
    const { key } = this.#pending?.body === body ? this.#pending : { key: crypto.randomUUID() };
    this.#pending = { body, key };
    try {
      const signal = AbortSignal.any([stop.signal, this.#signal]);
      const since = Date.now();
      const audience = await this.#client.audiences.create(input, { idempotencyKey: key, signal });
      this.#pending = undefined;
      fill(this.#form, 'name', '');
      void this.#jobs.watch({ kind: 'audience', id: audience.id, name, since }, card, audience);
      card.reveal();
    } catch (error) {
      if (this.#signal.aborted) return;
      if (AudienceError.isInstance(error) && error.outcome === 'refused') this.#pending = undefined;
      card.remove();
      const stopped = new Error('Stopped. It may have been created anyway: see the list.');
      showProblem(this.#form, stop.signal.aborted ? stopped : error);
    }
  }
}
