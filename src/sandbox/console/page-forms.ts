import type { Widgets } from './page-widgets.ts';

/**
 * Runs in each page of the console: sends its forms as JSON, and applies its filters. It is served as the text of this function, so
 * that it refers to nothing outside of it but its parameters; `refresh` shows what has changed.
 */
export function pageForms({ notify, showSecret, ask }: Widgets, refresh: () => Promise<void>): void {
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
    if ((await bodyOf(form, button)) === body) form.reset();
    form.closest('dialog')?.close();
    const { typescript, notice = 'Done.', id } = result ?? {};
    const secret = result?.token ?? result?.secret;
    if (typeof secret === 'string') showSecret(String(notice), secret, typescript);
    // Of all ids, only those of requests are strings.
    else notify(String(notice), false, typescript, id);
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
      void refresh();
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
      void refresh();
    }, 200);
  });
}
