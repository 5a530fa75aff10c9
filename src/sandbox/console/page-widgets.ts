/** Notices and dialogs, for the forms of a page. */
export interface Widgets {
  make(name: string, text: string, className?: string): HTMLElement;
  button(text: string, className: string, onClick: () => void): HTMLElement;
  /**
   * Shows a notice with the call that does the same and a link to the request that was sent. It goes after six seconds, unless it is
   * an error or somebody uses it.
   */
  notify(message: string, isError: boolean, code?: unknown, request?: unknown): void;
  /** Shows a secret until it is copied or dismissed. */
  showSecret(message: string, secret: string, code?: unknown): void;
  /** Asks before something is done that cannot be undone. */
  ask(question: string, consequence: string, answer: string): Promise<boolean>;
}

/**
 * Runs in each page of the console: notices, dialogs, Copy, clocks that run, steps through a list by keyboard. It is served as the text
 * of this function, so that it refers to nothing outside of it.
 */
export function pageWidgets(): Widgets {
  const find = <T extends Element = HTMLElement>(selector: string, root: ParentNode = document): T | null =>
    root.querySelector<T>(selector);
  const make: Widgets['make'] = (name, text, className = '') =>
    Object.assign(document.createElement(name), { textContent: text, className });
  const notices = make('div', '');
  notices.id = 'notices';
  notices.setAttribute('role', 'status');
  const said = make('p', '', 'sr');
  said.setAttribute('role', 'status');
  document.body.append(notices, said);
  const say = (text: string): void => {
    said.textContent = text;
  };

  const button: Widgets['button'] = (text, className, onClick) => {
    const created = make('button', text, className);
    created.addEventListener('click', onClick);
    return created;
  };

  /** Copies a string; the button says so for two seconds. */
  const copy = async (source: HTMLElement): Promise<boolean> => {
    const { text, copy: id } = source.dataset;
    const value = text ?? (id === undefined ? '' : (document.getElementById(id)?.textContent ?? ''));
    // Missing on a page that is not on loopback.
    const isCopied = await navigator.clipboard?.writeText(value.trim()).then(
      () => true,
      () => false,
    );
    const label = find('[data-label]', source) ?? source;
    label.dataset.before ??= label.textContent ?? '';
    label.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
    say(isCopied ? 'Copied.' : 'The browser has refused to copy.');
    setTimeout(() => {
      label.textContent = label.dataset.before ?? '';
    }, 2_000);
    return isCopied;
  };
  const copyButton = (text: string): HTMLElement => {
    const created = make('button', 'Copy', 'small');
    Object.assign(created.dataset, { text });
    return created;
  };

  const notify: Widgets['notify'] = (message, isError, code, request) => {
    // All that is outside of an open dialog lies below it, and cannot be clicked.
    (find('dialog[open]') ?? document.body).append(notices);
    const notice = make('div', '', `toast ${isError ? 'is-bad' : 'is-good'}`);
    notice.append(
      make('b', message),
      button('Close', 'quiet small', () => notice.remove()),
    );
    if (typeof code === 'string') notice.append(make('code', code), copyButton(code));
    if (typeof request === 'string')
      notice.append(Object.assign(make('a', 'Show the request'), { href: `/requests/${request}` }));
    if (isError) notice.setAttribute('role', 'alert');
    // Whoever has succeeded has seen what was wrong.
    else for (const error of notices.querySelectorAll('[role=alert]')) error.remove();
    notices.prepend(notice);
    if (notices.closest('dialog')) notice.scrollIntoView({ block: 'nearest' });
    for (const old of [...notices.children].slice(3)) old.remove();
    const hide = (): void => {
      if (notice.matches(':hover, :focus-within')) setTimeout(hide, 2_000);
      else notice.remove();
    };
    if (!isError) setTimeout(hide, 6_000);
  };

  /** Opens a dialog that is made for the occasion; the returned function closes it. */
  const open = (title: string, ...content: Node[]): HTMLDialogElement => {
    const dialog = document.createElement('dialog');
    const heading = make('h2', title);
    heading.id = 'made-title';
    dialog.setAttribute('aria-labelledby', heading.id);
    dialog.append(heading, ...content);
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  };
  const buttons = (...content: Node[]): HTMLElement => {
    const acts = make('div', '', 'acts');
    acts.append(...content);
    const form = make('form', '');
    form.addEventListener('submit', (event) => event.preventDefault());
    form.append(acts);
    return form;
  };

  const showSecret: Widgets['showSecret'] = (message, secret, code) => {
    const box = make('div', '', 'code one');
    const value = make('pre', secret, 'secret');
    box.append(value, copyButton(secret));
    const parts: Node[] = [make('p', 'Copy it now: it is shown once.'), box];
    if (typeof code === 'string') parts.push(make('p', 'The same in a program:', 'soft'), make('code', code));
    const dialog = open(message, ...parts, buttons(button('I have copied it', 'primary', () => dialog.close())));
    // Escape must not close what cannot be shown again, even if it is pressed twice.
    dialog.addEventListener('cancel', (event) => event.preventDefault());
    dialog.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') event.preventDefault();
    });
  };

  const ask: Widgets['ask'] = (question, consequence, answer) =>
    new Promise((resolve) => {
      const close = (value: boolean) => () => {
        resolve(value);
        dialog.close();
      };
      const dialog = open(
        question,
        make('p', consequence),
        buttons(button('Cancel', '', close(false)), button(answer, 'danger primary', close(true))),
      );
      dialog.addEventListener('close', () => resolve(false));
    });

  /** Opens a dialog of the page for a row: its hidden fields and its title are those of the button. */
  const openFor = (opener: HTMLElement): void => {
    const { open: id = '', about, values = '{}' } = opener.dataset;
    const dialog = find<HTMLDialogElement>(`#${CSS.escape(id)}`);
    if (!dialog) return;
    const place = find('[data-name]', dialog);
    if (place && about !== undefined) place.textContent = about;
    for (const [name, value] of Object.entries(JSON.parse(values))) {
      const field = find<HTMLInputElement | HTMLSelectElement>(`[name="${CSS.escape(name)}"]`, dialog);
      if (field) field.value = String(value);
    }
    dialog.showModal();
  };

  document.addEventListener('click', ({ target }) => {
    const pressed =
      target instanceof Element
        ? target.closest<HTMLElement>('[data-copy], [data-text], [data-open], [data-close]')
        : null;
    if (!pressed) return;
    if (pressed.dataset.copy !== undefined || pressed.dataset.text !== undefined) void copy(pressed);
    if (pressed.dataset.open !== undefined) openFor(pressed);
    if (pressed.dataset.close !== undefined) pressed.closest('dialog')?.close();
  });

  // What was typed into a dialog is gone when it closes.
  const forget = ({ target }: Event): void => {
    if (target instanceof HTMLDialogElement) for (const form of target.querySelectorAll('form')) form.reset();
  };
  document.addEventListener('close', forget, true);

  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !find('dialog[open]')) notices.firstElementChild?.remove();
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      const search = find<HTMLInputElement>('.find input');
      if (!search) return;
      event.preventDefault();
      if (search.getClientRects().length === 0) find('#nav')?.showPopover();
      search.focus();
    }
    // Only with the focus in a list: single keys elsewhere are the reader's own.
    const row = document.activeElement?.closest('tr');
    if (
      !row ||
      !(event.key === 'ArrowDown' || event.key === 'ArrowUp') ||
      document.activeElement?.matches('input, select')
    )
      return;
    const rows = [...(row.closest('table')?.querySelectorAll('tr:has(.row)') ?? [])];
    const next = rows[rows.indexOf(row) + (event.key === 'ArrowDown' ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    find('.row', next)?.focus();
  });

  // The same on every page, so that it is sent once.
  const menu = find('#clock-menu');
  if (menu) {
    const form = document.createElement('form');
    form.dataset.action = 'POST /api/clock/advance';
    form.className = 'acts';
    for (const [text, ms] of [
      ['+1 min', 60_000],
      ['+10 min', 600_000],
      ['+1 h', 3_600_000],
      ['+1 d', 86_400_000],
    ] as const) {
      const advance = Object.assign(document.createElement('button'), {
        name: 'ms',
        value: String(ms),
        textContent: text,
      });
      advance.className = 'small';
      advance.dataset.type = 'number';
      form.append(advance);
    }
    const next = document.createElement('form');
    next.dataset.action = 'POST /api/clock/next';
    next.append(make('button', 'To the next event', 'small'));
    menu.append(make('h3', 'Advance'), form, next);
  }

  // Clocks run on between two updates: from when they came into the page.
  const shownAt = new WeakMap<Element, number>();
  const tick = (): void => {
    for (const clock of document.querySelectorAll<HTMLElement>('time[data-now]')) {
      const at = shownAt.get(clock) ?? performance.now();
      shownAt.set(clock, at);
      const { now, speed, until } = clock.dataset;
      const time = Number(now) + (performance.now() - at) * Number(speed);
      const left = Math.max(0, Math.ceil((Number(until) - time) / 1_000));
      clock.textContent = until === undefined ? new Date(time).toISOString().slice(11, 19) : `${left} s`;
    }
  };
  tick();
  setInterval(tick, 1_000);

  // The chosen tab of snippets is kept for all pages.
  const chosen = sessionStorage.getItem('snippet');
  for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=as]'))
    radio.checked ||= radio.value === chosen;
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.name === 'as') sessionStorage.setItem('snippet', target.value);
  });
  return { make, button, notify, showSecret, ask };
}
