import type { Widgets } from './page-widgets.ts';

/**
 * Runs in each page of the console: keeps its live parts up to date. It is served as the text of this function, so that it refers to
 * nothing outside of it but the widgets that it receives. Returns a function that shows what the reader has changed.
 */
export function pageLive({ make, button: makeButton }: Widgets): () => Promise<void> {
  const main = document.querySelector<HTMLElement>('main');

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

  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-pause]') : null;
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    void refresh();
  });

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
  if (document.querySelector('[data-live]')) {
    document.addEventListener('visibilitychange', listen);
    listen();
  }
  return () => refresh(true);
}
