/**
 * Runs in each page of the console: sends its forms as JSON, and keeps its live parts up to date. It is served as the text of
 * this function, so that it refers to nothing outside of it.
 */
export function pageScript(): void {
  const notice = document.querySelector('#notice');

  /** Shows a message, the TypeScript of an action, and a secret that is shown once. */
  const show = (message: string, isError: boolean, code?: unknown, secret?: unknown): void => {
    if (!notice) return;
    const element = (name: string, text: string): HTMLElement => {
      const created = document.createElement(name);
      created.textContent = text;
      return created;
    };
    const parts = [element('p', message)];
    if (typeof secret === 'string') {
      const copy = element('button', 'Copy');
      copy.addEventListener('click', () => void navigator.clipboard.writeText(secret));
      parts.push(element('code', secret), copy);
    }
    if (typeof code === 'string') parts.push(element('code', code));
    const close = element('button', 'Close');
    close.addEventListener('click', () => notice.replaceChildren());
    notice.className = isError ? 'bad' : 'good';
    notice.replaceChildren(...parts, close);
  };

  /** Returns the fields of a form with the types of their inputs; empty ones are left out. */
  const readFields = (form: HTMLFormElement, button: HTMLElement | null = null): Record<string, unknown> => {
    const fields: Record<string, unknown> = {};
    for (const element of form.elements) {
      const isButton = element instanceof HTMLButtonElement && element === button;
      if (!(element instanceof HTMLInputElement || element instanceof HTMLSelectElement || isButton)) continue;
      const { name, value, type } = element;
      if (name === '' || value === '') continue;
      if (element instanceof HTMLInputElement && type === 'checkbox') {
        if (!element.checked) continue;
        fields[name] = element.dataset.list === undefined ? true : [...Object(fields[name] ?? []), value];
      } else {
        const isNumber = type === 'number' || element.dataset.type === 'number';
        fields[name] = isNumber ? Number(value) * Number(element.dataset.factor ?? 1) : value;
      }
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

  /** Returns whether somebody is typing, clicking or selecting in a part. */
  const isBusy = (part: Element): boolean => {
    const { activeElement } = document;
    const isTyping = activeElement?.matches('input, select, textarea') && part.contains(activeElement);
    const selection = document.getSelection();
    const isSelected = selection?.isCollapsed === false && part.contains(selection.anchorNode);
    return Boolean(isTyping || isSelected) || part.querySelector('form.changed, form.sending, :active') !== null;
  };

  const labelOf = (element: Element): string | null => element.getAttribute('aria-label') ?? element.textContent;

  /** Replaces the live parts that have changed, except those that somebody uses. */
  const refresh = async (): Promise<void> => {
    const response = await fetch(location.href).catch(() => undefined);
    if (!response?.ok || response.redirected) return;
    const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-live]')) {
      const other = fresh.getElementById(part.id);
      if (!other || other.innerHTML === part.innerHTML || isBusy(part)) continue;
      const focused = part.contains(document.activeElement) ? document.activeElement : null;
      for (const details of part.querySelectorAll('details[open][id]')) {
        other.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute('open', '');
      }
      const scrolled = part.querySelector('.scroll')?.scrollLeft ?? 0;
      part.replaceChildren(...other.childNodes);
      part.querySelector('.scroll')?.scrollTo({ left: scrolled });
      if (!focused) continue;
      const candidates = [...part.querySelectorAll<HTMLElement>('a, button, summary')];
      candidates.find((candidate) => labelOf(candidate) === labelOf(focused))?.focus();
    }
  };

  const send = async (form: HTMLFormElement, action: string, button: HTMLElement | null): Promise<void> => {
    const [method = 'POST', path = ''] = action.split(' ');
    const sent = JSON.stringify(nest(readFields(form, button)));
    const headers = { 'content-type': 'application/json' };
    const init = method === 'DELETE' ? { method } : { method, headers, body: sent };
    const response = await fetch(path, init).catch(() => undefined);
    const result: Record<string, unknown> | undefined = await response?.json().catch(() => undefined);
    if (!response?.ok) {
      show(String(result?.message ?? 'The sandbox does not respond.'), true);
      return;
    }
    // Not if somebody has typed in the meantime.
    if (JSON.stringify(nest(readFields(form, button))) === sent) {
      form.classList.remove('changed');
      form.reset();
    }
    const secret = result?.token ?? result?.secret;
    show(secret === undefined ? 'Done.' : 'Done. Copy it now, it is shown once:', false, result?.typescript, secret);
    if (form.dataset.leave !== undefined) location.assign(form.dataset.leave);
  };

  document.addEventListener('input', ({ target }) => {
    if (target instanceof Element) target.closest('form')?.classList.add('changed');
  });
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset.action === undefined) return;
    event.preventDefault();
    const { action, confirm: question } = form.dataset;
    if (form.classList.contains('sending') || !(question === undefined || confirm(question))) return;
    form.classList.add('sending');
    void send(form, action, event.submitter).finally(() => {
      form.classList.remove('sending');
      void refresh();
    });
  });
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-copy]') : null;
    const source = button && document.querySelector(`#${button.dataset.copy}`);
    if (source) void navigator.clipboard.writeText(source.textContent).then(() => show('Copied.', false));
  });

  if (!document.querySelector('main [data-live]')) return;
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
  let events: EventSource | undefined;
  const listen = (): void => {
    events?.close();
    events = undefined;
    if (document.hidden) return;
    events = new EventSource('/events');
    events.addEventListener('change', () => void update());
    events.addEventListener('error', () => {
      // Not in place of a secret, which is shown once.
      if (!notice?.querySelector('code'))
        show('Connection lost. If the sandbox was started again, open the address that it has printed.', true);
    });
    events.addEventListener('open', () => {
      if (notice?.textContent?.startsWith('Connection lost')) notice.replaceChildren();
    });
    void update();
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}
