import type { Audience, AudienceClient, Page } from 'audience-activation';
import { copyOf, onClick, part } from './dom.ts';
import { explain } from './problems.ts';

const PAGE_SIZE = 8;
const COMPLETED = 104;
const NEEDS_INFO = 107;

const numbers = new Intl.NumberFormat();
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short' });

/** The kind of a status, for its colour; its name says the rest. */
const toneOf = (status: number): string =>
  status === COMPLETED ? 'good' : status === NEEDS_INFO ? 'warn' : status >= 400 ? 'bad' : 'busy';

/** The list of audiences. */
export interface AudienceList {
  /** Shows an audience as it is now: in its row, or in a new first one. */
  show(audience: Audience): void;
}

/** Shows the first page, and more when asked. */
export function showAudiences(root: HTMLElement, client: AudienceClient, signal: AbortSignal): AudienceList {
  const body = part(root, 'rows', HTMLTableSectionElement);
  const note = part(root, 'note', HTMLElement);
  const problem = part(root, 'problem', HTMLElement);
  const more = part(root, 'more', HTMLButtonElement);
  const rows = new Map<number, HTMLTableRowElement>();
  let page: Page<Audience> | undefined;

  const place = (audience: Audience, first: boolean): HTMLTableRowElement => {
    const row = rows.get(audience.id) ?? copyOf('row', HTMLTableRowElement);
    if (!rows.has(audience.id)) body[first ? 'prepend' : 'append'](row);
    rows.set(audience.id, row);
    fillRow(row, audience, client.parseTimestamp(audience.created_at));
    return row;
  };
  const tell = (): void => {
    note.textContent =
      rows.size === 0 ? 'No audiences yet: build the first one.' : counted(rows.size, more.hidden !== false);
  };
  const load = async (following: Promise<Page<Audience>> | undefined): Promise<void> => {
    problem.textContent = '';
    try {
      page = (await following) ?? page;
      if (following) for (const audience of page?.items ?? []) place(audience, false);
      more.hidden = !following || !page || page.items.length < page.perPage;
      tell();
    } catch (error) {
      if (!signal.aborted) problem.textContent = explain(error);
    }
  };
  const reload = (): Promise<void> => {
    body.replaceChildren();
    rows.clear();
    note.textContent = 'Loading …';
    return load(client.audiences.list({ per_page: PAGE_SIZE }, { signal }));
  };

  onClick(more, signal, () => load(page?.nextPage()));
  onClick(part(root, 'refresh', HTMLButtonElement), signal, reload);
  signal.addEventListener('abort', () => body.replaceChildren());
  void reload();
  return {
    show(audience) {
      place(audience, true);
      tell();
    },
  };
}

const counted = (count: number, all: boolean): string =>
  all ? `All ${numbers.format(count)} are shown.` : `The latest ${numbers.format(count)} are shown.`;

function fillRow(row: HTMLTableRowElement, audience: Audience, created: Date | undefined): void {
  const { name, status, results_count } = audience;
  part(row, 'name', HTMLElement).textContent = name;
  const badge = part(row, 'status', HTMLElement);
  badge.textContent = status.name;
  badge.dataset.tone = toneOf(status.id);
  part(row, 'size', HTMLElement).textContent = status.id === COMPLETED ? numbers.format(results_count) : '–';
  const time = part(row, 'created', HTMLTimeElement);
  time.textContent = created ? dates.format(created) : '';
  if (created) {
    time.dateTime = created.toISOString();
    time.title = moments.format(created);
  }
}
