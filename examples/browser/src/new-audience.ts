import {
  type Audience,
  type AudienceClient,
  type AudienceCreate,
  AudienceError,
  explainActivation,
  JobError,
  type WaitOptions,
} from 'audience-activation';
import type { AudienceList } from './audience-list.ts';
import { fill, onSubmit, part, textOf } from './dom.ts';
import { JobCard } from './job-card.ts';
import { clearProblems, explain, markField, showProblem } from './problems.ts';

const numbers = new Intl.NumberFormat();
const day = (ago: number): string => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** A create whose answer has not come: sent again unchanged, it goes under the same key. */
interface Pending {
  readonly text: string;
  readonly key: string;
}

/** The form that builds audiences, and a card for each build. */
export class AudienceBuilder {
  readonly #client: AudienceClient;
  readonly #list: AudienceList;
  readonly #form: HTMLFormElement;
  readonly #jobs: HTMLElement;
  /** Ends with the session. */
  readonly #signal: AbortSignal;
  #pending: Pending | undefined;

  constructor(root: HTMLElement, client: AudienceClient, list: AudienceList, signal: AbortSignal) {
    this.#client = client;
    this.#list = list;
    this.#form = part(root, 'form', HTMLFormElement);
    this.#jobs = part(root, 'jobs', HTMLElement);
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
      markField(this.#form, 'name', 'Please give it a name.');
      return this.#form.querySelector<HTMLElement>('[aria-invalid]')?.focus();
    }
    const [analysis_type, start_date, end_date] = ['analysis_type', 'start_date', 'end_date'].map((field) =>
      textOf(this.#form, `dataset.0.${field}`),
    );
    const created = Promise.withResolvers<void>();
    const body = { name, dataset: [{ analysis_type, start_date, end_date }] };
    void this.#follow(body, name, created.resolve).finally(created.resolve);
    await created.promise;
  }

  /** Creates one and shows how it gets on; `free` is called when the form can be used again. */
  async #follow(body: AudienceCreate, name: string, free: () => void): Promise<void> {
    const text = JSON.stringify(body);
    const { key } = this.#pending?.text === text ? this.#pending : { key: crypto.randomUUID() };
    this.#pending = { text, key };
    const stop = new AbortController();
    const card = this.#cardOf(name, stop);
    let created: Audience | undefined;
    const onCreated = (audience: Audience): void => {
      created = audience;
      this.#pending = undefined;
      fill(this.#form, 'name', '');
      free();
      this.#seen(card, audience);
    };
    const signal = AbortSignal.any([stop.signal, this.#signal]);
    try {
      const wait = this.#waitOptions(card);
      const built = await this.#client.audiences.createAndWait(body, { idempotencyKey: key, signal, onCreated, wait });
      this.#done(card, built);
    } catch (error) {
      if (this.#signal.aborted) return;
      if (created) return this.#ended(card, created, error, stop.signal);
      if (AudienceError.isInstance(error) && error.outcome === 'refused') this.#pending = undefined;
      card.remove();
      if (!stop.signal.aborted) return showProblem(this.#form, error);
      showProblem(this.#form, new Error('Stopped. It may have been created all the same: see the list.'));
    }
  }

  #cardOf(name: string, stop: AbortController): JobCard {
    const card = new JobCard(this.#jobs, {
      name,
      stop: 'Stop watching',
      onStop: () => stop.abort(),
      signal: this.#signal,
    });
    card.step('Creating');
    return card;
  }

  #waitOptions(card: JobCard): WaitOptions<Audience> {
    return {
      onUpdate: (audience, { elapsed }) => {
        card.elapsed(elapsed);
        this.#seen(card, audience);
      },
    };
  }

  #seen(card: JobCard, audience: Audience): void {
    card.step(audience.status.name);
    this.#list.show(audience);
  }

  #done(card: JobCard, audience: Audience): void {
    const { allowed, blockers } = explainActivation(audience);
    const verdict = allowed ? 'It can be activated.' : blockers.map(({ message }) => message).join(' ');
    card.end('done', `${numbers.format(audience.results_count)} devices. ${verdict}`);
  }

  /** The wait is over, by its job, by the button, or by trouble; the build itself goes on unless its job has ended. */
  #ended(card: JobCard, audience: Audience, error: unknown, stopped: AbortSignal): void {
    const text = stopped.aborted ? 'Not watched any more. The build goes on at the service.' : explain(error);
    if (JobError.isInstance(error)) card.end(error.code === 'job-needs-info' ? 'asks' : 'failed', text);
    else card.end('left', text, () => void this.#watchAgain(card, audience));
  }

  async #watchAgain(card: JobCard, audience: Audience): Promise<void> {
    const stop = new AbortController();
    card.resume(() => stop.abort());
    const signal = AbortSignal.any([stop.signal, this.#signal]);
    try {
      this.#done(card, await this.#client.audiences.wait(audience, { ...this.#waitOptions(card), signal }));
    } catch (error) {
      if (!this.#signal.aborted) this.#ended(card, audience, error, stop.signal);
    }
  }
}
