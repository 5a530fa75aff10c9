import { type Audience, type AudienceClient, type JobState, jobState, type Page } from 'audience-activation';
import { copyOf, onClick, part, showName } from './dom.ts';
import { explain } from './problems.ts';

const PAGE_SIZE = 8;

const numbers = new Intl.NumberFormat();
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** The tone of a state, which decides its color. */
const TONES: Readonly<Record<JobState, string>> = {
  running: 'busy',
  completed: 'good',
  'needs-info': 'warn',
  failed: 'bad',
  cancelled: 'bad',
};

/** The list of audiences: the first page, and further pages on request. */
export class AudienceList {
  readonly #client: AudienceClient;
  readonly #body: HTMLTableSectionElement;
  readonly #note: HTMLElement;
  readonly #problem: HTMLElement;
  readonly #more: HTMLButtonElement;
  /** Aborts when the session ends. */
  readonly #signal: AbortSignal;
  readonly #rows = new Map<number, HTMLTableRowElement>();
  #page: Page<Audience> | undefined;

  constructor(root: HTMLElement, client: AudienceClient, signal: AbortSignal) {
    this.#client = client;
    this.#body = part(root, 'rows', HTMLTableSectionElement);
    this.#note = part(root, 'note', HTMLElement);
    this.#problem = part(root, 'problem', HTMLElement);
    this.#more = part(root, 'more', HTMLButtonElement);
    this.#signal = signal;
    onClick(this.#more, signal, () => this.#load(() => this.#page?.nextPage()));
    onClick(part(root, 'refresh', HTMLButtonElement), signal, () => this.#refresh());
    signal.addEventListener('abort', () => this.#clear());
    this.#more.hidden = true;
    this.#note.textContent = 'Loading …';
    void this.#refresh();
  }

  /** Shows the current state of an audience, in its row or in a new first row. */
  show(audience: Audience): void {
    // The first page has not arrived yet.
    if (!this.#page) return;
    this.#place(audience, 'prepend');
    this.#summarize();
  }

  #refresh(): Promise<void> {
    return this.#load(() => this.#client.audiences.list({ per_page: PAGE_SIZE }, { signal: this.#signal }), true);
  }

  /** Requests a page; until it arrives, and if the request fails, the rows stay unchanged. */
  async #load(request: () => Promise<Page<Audience>> | undefined, fresh = false): Promise<void> {
    this.#problem.textContent = '';
    try {
      const page = await request();
      if (this.#signal.aborted) return;
      if (fresh) this.#clear();
      for (const audience of page?.items ?? []) this.#place(audience, 'append');
      this.#page = page ?? this.#page;
      this.#more.hidden = !page || page.items.length < page.perPage;
      this.#summarize();
    } catch (error) {
      if (this.#signal.aborted) return;
      if (!this.#page) this.#note.textContent = '';
      this.#problem.textContent = explain(error);
    }
  }

  #place(audience: Audience, where: 'prepend' | 'append'): void {
    const row = this.#rows.get(audience.id) ?? copyOf('row', HTMLTableRowElement);
    if (!this.#rows.has(audience.id)) this.#body[where](row);
    this.#rows.set(audience.id, row);
    fillRow(row, audience, this.#client.parseTimestamp(audience.created_at));
  }

  #summarize(): void {
    const { size } = this.#rows;
    const shown = `${this.#more.hidden ? 'All' : 'The latest'} ${numbers.format(size)} are shown.`;
    this.#note.textContent = size === 0 ? 'No audiences yet: build the first one.' : shown;
  }

  #clear(): void {
    this.#body.replaceChildren();
    this.#rows.clear();
  }
}

function fillRow(row: HTMLTableRowElement, audience: Audience, created: Date | undefined): void {
  const { name, status, results_count } = audience;
  showName(part(row, 'name', HTMLElement), name);
  const badge = part(row, 'status', HTMLElement);
  badge.textContent = status.name;
  const state = jobState('audience', audience);
  badge.dataset.tone = TONES[state];
  part(row, 'size', HTMLElement).textContent = state === 'completed' ? numbers.format(results_count) : '–';
  const time = part(row, 'created', HTMLTimeElement);
  time.textContent = created ? dates.format(created) : '';
  if (created) {
    time.dateTime = created.toISOString();
    time.title = moments.format(created);
  }
}
