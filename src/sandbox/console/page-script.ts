import type { Widgets } from './page-widgets.ts';

/**
 * Runs in each page of the console: sends its forms as JSON, filters its lists, and keeps its live parts up to date. It is served as
 * the text of this function, so that it refers to nothing outside of it but the widgets that it receives.
 */
export function pageScript({ make, button: makeButton, notify, showSecret, ask }: Widgets): void {
  const main = document.querySelector<HTMLElement>('main');

  /** Returns the fields of a form with the types of their inputs; empty ones are left out. */
  const readFields = (form: HTMLFormElement, button: HTMLElement | null = null): Record<string, unknown> => {
    const fields: Record<string, unknown> = {};
    // Fields of every kind have these properties.
    for (const element of form.elements as Iterable<HTMLInputElement>) {
      const { name, value, type, checked, dataset } = element;
      const isOther = type === 'file' || (element.matches('button') && element !== button);
      if (!name || value === '' || isOther || (type === 'checkbox' && !checked)) continue;
      if (type === 'checkbox') fields[name] = dataset.list === undefined || [...Object(fields[name] ?? []), value];
      else if (type === 'number' || dataset.type === 'number')
        fields[name] = Number(value) * Number(dataset.factor ?? 1);
      else fields[name] = value;
    }
    return fields;
  };

  /** Groups the fields of limits: `read.limit` belongs to `read`. */
  const nest = (fields: Record<string, unknown>): Record<string, unknown> => {
    const nested: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(fields)) {
      const [group = name, field] = name.split('.');
      nested[group] = field === undefined ? value : { ...Object(nested[group]), [field]: value };
    }
    return nested;
  };

  /** Returns the body of a form's request: the content of its file, or its fields. */
  const bodyOf = async (form: HTMLFormElement, button: HTMLElement | null): Promise<string> => {
    const file = form.querySelector<HTMLInputElement>('input[type=file]')?.files?.[0];
    return file ? file.text() : JSON.stringify(nest(readFields(form, button)));
  };

  /** Returns whether somebody is typing, clicking or selecting in a part. */
  const isBusy = (part: Element): boolean => {
    const { activeElement } = document;
    const isTyping = activeElement?.matches('input, select, textarea') && part.contains(activeElement);
    const selection = document.getSelection();
    const isSelected = selection?.isCollapsed === false && part.contains(selection.anchorNode);
    const isUsed = part.querySelector('form.changed, form.sending, :active, dialog[open], td :checked');
    return Boolean(isTyping || isSelected || isUsed);
  };

  const labelOf = (element: Element): string | null =>
    element.getAttribute('href') ?? element.getAttribute('aria-label') ?? element.textContent;

  /** Puts the content of another part in place of the present one: focus, scroll position and what is open stay. */
  const replace = (part: HTMLElement, other: HTMLElement): void => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    for (const details of part.querySelectorAll('details[id]')) {
      other.querySelector(`#${CSS.escape(details.id)}`)?.toggleAttribute('open', details.hasAttribute('open'));
    }
    for (const radio of part.querySelectorAll<HTMLInputElement>('input[type=radio]:checked')) {
      const same = other.querySelector<HTMLInputElement>(`input[name="${radio.name}"][value="${radio.value}"]`);
      if (same) same.checked = true;
    }
    const scrolled = [...part.querySelectorAll('.tall, .panel > .card')].map(({ scrollTop }) => scrollTop);
    part.replaceChildren(...other.childNodes);
    Object.assign(part.dataset, other.dataset);
    [...part.querySelectorAll('.tall, .panel > .card')].forEach((element, index) => {
      element.scrollTop = scrolled[index] ?? 0;
    });
    if (!focused) return;
    const candidates = [...part.querySelectorAll<HTMLElement>('a, button, summary')];
    candidates.find((candidate) => labelOf(candidate) === labelOf(focused))?.focus();
  };

  /** Shows a message above the page, once. */
  const banner = (id: string, tone: string, title: string, text: string, link?: string): void => {
    if (document.getElementById(id)) return;
    const note = make('div', '', `note ${tone}`);
    note.id = id;
    note.setAttribute('role', 'alert');
    note.append(make('p', title, tone), make('p', text));
    if (link !== undefined) note.append(Object.assign(make('a', 'Log in'), { href: link }));
    main?.prepend(note);
  };

  let events: EventSource | undefined;
  let hasEnded = false;
  /** The page shows what was, and will not be updated: its session has ended. */
  const end = (why = 'Your session has ended.'): void => {
    hasEnded = true;
    events?.close();
    const link = `/login?next=${encodeURIComponent(location.pathname)}`;
    banner('ended', 'busy', why, 'What you see is from before.', link);
  };

  let isPaused = false;

  /** Offers the rows that have come to a list while it stands still. */
  const offer = (list: HTMLElement, other: HTMLElement, isHeld: boolean): void => {
    document.querySelector('#fresh')?.remove();
    const state = document.querySelector('.live');
    state?.classList.toggle('paused', isHeld);
    if (state) state.textContent = isHeld ? 'Paused' : 'Live';
    const number = Number(other.dataset.total) - Number(list.dataset.total);
    if (!isHeld || number <= 0) return;
    const show = makeButton(`${number} new: show ${number === 1 ? 'it' : 'them'}`, 'small', () => {
      const query = new URLSearchParams(location.search);
      if (query.has('before')) {
        query.delete('before');
        location.search = String(query);
      } else {
        replace(list, other);
        show.remove();
      }
    });
    show.id = 'fresh';
    list.before(show);
  };

  /**
   * Replaces the live parts that have changed, except those that somebody uses. The list of a page stands still while it is paused,
   * does not begin with the newest row, or a row has the focus; not for what the reader has done.
   */
  const refresh = async (isOwn = false): Promise<void> => {
    const response = await fetch(main?.dataset.source ?? location.href).catch(() => undefined);
    if (!response) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    // The page that asks to log in says why.
    if (response.status === 401 || response.redirected)
      return end(fresh.querySelector('.note p')?.textContent ?? undefined);
    if (!response.ok) return;
    const isStill = !isOwn && (isPaused || /[?&]before=./.test(location.search));
    for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
      const other = fresh.getElementById(part.id);
      if (!other) continue;
      const isList = part.dataset.total !== undefined;
      const isHeld = isBusy(part) || (isList && (isStill || part.querySelector('.row:focus') !== null));
      if (isList) offer(part, other, isHeld);
      if (!isHeld && other.innerHTML !== part.innerHTML) replace(part, other);
    }
  };

  const send = async (form: HTMLFormElement, action: string, button: HTMLElement | null): Promise<void> => {
    const [method = 'POST', path = ''] = action.split(' ');
    const body = await bodyOf(form, button);
    const headers = { 'content-type': 'application/json' };
    const init = method === 'DELETE' ? { method } : { method, headers, body };
    const response = await fetch(path, init).catch(() => undefined);
    const result: Record<string, unknown> | undefined = await response?.json().catch(() => undefined);
    if (!response?.ok) {
      notify(String(result?.message ?? 'The sandbox does not respond.'), true);
      return;
    }
    // Not if somebody has typed in the meantime.
    if ((await bodyOf(form, button)) === body) {
      form.reset();
    }
    form.closest('dialog')?.close();
    const { typescript, notice = 'Done.', status, id } = result ?? {};
    const secret = result?.token ?? result?.secret;
    if (typeof secret === 'string') showSecret(String(notice), secret, typescript);
    // Only a request that was sent has a status of a response, and an id of the log.
    else notify(String(notice), false, typescript, status !== undefined && id);
    if (form.dataset.leave !== undefined) location.assign(form.dataset.leave);
  };

  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.action === undefined) return;
    event.preventDefault();
    const { action, confirm: question, consequence = '' } = form.dataset;
    const { submitter } = event;
    if (form.classList.contains('sending')) return;
    form.classList.add('sending');
    void (async () => {
      const answer = submitter?.textContent?.replace('…', '') ?? 'Continue';
      if (question === undefined || (await ask(question, consequence, answer))) await send(form, action, submitter);
    })().finally(() => {
      form.classList.remove('sending');
      void refresh(true);
    });
  });

  document.addEventListener('reset', ({ target }) => {
    if (target instanceof Element) target.classList.remove('changed');
  });

  // Filters apply while somebody types; the address of the page is the filter.
  let typing: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest('form') : null;
    if (!form?.classList.contains('filter')) {
      form?.classList.add('changed');
      return;
    }
    clearTimeout(typing);
    typing = setTimeout(() => {
      const fields = [...new FormData(form)].flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));
      history.replaceState(null, '', `${location.pathname}?${new URLSearchParams(fields)}`);
      void refresh(true);
    }, 200);
  });

  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-pause]') : null;
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    void refresh();
  });

  if (!document.querySelector('[data-live]')) return;
  let isStale = false;
  let isRefreshing = false;
  const update = async (): Promise<void> => {
    isStale = true;
    if (isRefreshing) return;
    isRefreshing = true;
    while (isStale) {
      isStale = false;
      await refresh();
    }
    isRefreshing = false;
  };
  // Browsers open six connections to an origin: only visible pages have a stream.
  const listen = (): void => {
    events?.close();
    events = undefined;
    if (document.hidden || hasEnded) return;
    events = new EventSource('/events');
    events.addEventListener('change', () => void update());
    events.addEventListener('ended', () => {
      events?.close();
      void refresh();
    });
    events.addEventListener('error', () => {
      const text =
        'It reconnects automatically. A sandbox that was started again has a new address: open the one that it has printed.';
      banner(
        'lost',
        'bad',
        'The sandbox does not respond.',
        `What you see is from ${new Date().toLocaleTimeString()}. ${text}`,
      );
    });
    events.addEventListener('open', () => document.querySelector('#lost')?.remove());
    void update();
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}
