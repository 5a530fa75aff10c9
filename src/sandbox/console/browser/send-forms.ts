import { parseDuration } from '../../../util/duration.ts';
import { showSecret } from './dialogs.ts';
import { closest, find, make } from './dom.ts';
import { refresh } from './live.ts';
import { notify } from './notices.ts';

/** Returns the fields of a form, with the types of their inputs. Omits empty and disabled fields. */
function readFields(form: HTMLFormElement, button: HTMLElement | null): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  // `checked` is used only for checkboxes and radio buttons: other fields do not have it.
  for (const element of form.elements as Iterable<HTMLInputElement>) {
    const { name, value, type, checked, dataset, disabled } = element;
    const isOther = type === 'file' || disabled || (element.matches('button') && element !== button);
    const isOff = (type === 'checkbox' || type === 'radio') && !checked;
    if (!name || value === '' || isOther || isOff) continue;
    if (type === 'checkbox') fields[name] = dataset.list === undefined || [...Object(fields[name] ?? []), value];
    else if (dataset.type === 'duration')
      fields[name] = parseDuration(value.replaceAll(/\s/g, '').replaceAll(/(ms|[dhms])[a-z]*/g, '$1'));
    else if (type === 'number' || dataset.type === 'number')
      fields[name] = dataset.factor ? Math.round(Number(value) * Number(dataset.factor)) : Number(value);
    else fields[name] = value;
  }
  return fields;
}

/** Groups the fields of limits: `read.limit` belongs to `read`. */
function nest(fields: Record<string, unknown>): Record<string, unknown> {
  const nested: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const [group = name, field] = name.split('.');
    nested[group] = field === undefined ? value : { ...Object(nested[group]), [field]: value };
  }
  return nested;
}

async function bodyOf(form: HTMLFormElement, button: HTMLElement | null): Promise<string> {
  const file = find<HTMLInputElement>('input[type=file]', form)?.files?.[0];
  return file ? file.text() : JSON.stringify(nest(readFields(form, button)));
}

function clearErrors(form: HTMLFormElement): void {
  for (const error of form.querySelectorAll('.error')) error.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
}

/** Shows an error at its field if the form has this field, otherwise in a notice. */
function showError(form: HTMLFormElement, message: string, name: unknown): void {
  const field = typeof name === 'string' ? find(`[name="${CSS.escape(name)}"]:not([type=hidden])`, form) : null;
  if (!field || field.getClientRects().length === 0) {
    notify(message, { isError: true });
    return;
  }
  const error = make('small', message, 'error bad');
  error.id = 'error';
  error.setAttribute('role', 'alert');
  field.after(error);
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', error.id);
  field.focus();
}

type Result = Readonly<Record<string, unknown>>;

function showResult(result: Result): void {
  const { typescript, notice = 'Done.', link, token, secret = token } = result;
  const line = `export AUDIENCE_BASE_URL=${find('.addr')?.dataset.text} AUDIENCE_TOKEN='${token}'`;
  if (typeof secret !== 'string') notify(String(notice), { code: typescript, link });
  else showSecret(String(notice), secret, typescript, token === undefined ? undefined : line);
}

/** Sends a form, and returns the result. After an error, shows the error and returns `undefined`. */
async function send(form: HTMLFormElement, action: string, button: HTMLElement | null): Promise<Result | undefined> {
  const [method = 'POST', path = ''] = action.split(' ');
  const body = await bodyOf(form, button);
  const headers = { 'content-type': 'application/json' };
  const init = method === 'DELETE' ? { method } : { method, headers, body };
  clearErrors(form);
  const response = await fetch(path, init).catch(() => undefined);
  const result: Result | undefined = await response?.json().catch(() => undefined);
  if (!response?.ok) {
    showError(form, String(result?.message ?? 'The sandbox does not respond.'), result?.field);
    return undefined;
  }
  // Do not reset the form if the user has typed meanwhile.
  if ((await bodyOf(form, button)) === body) form.reset();
  const then = form.closest<HTMLElement>('[data-then]')?.dataset.then;
  if (then !== undefined) history.replaceState(null, '', then);
  form.closest('dialog')?.close();
  form.closest<HTMLElement>('[popover]')?.hidePopover();
  return result ?? {};
}

/** Sends a form as JSON, after a confirmation if the form asks for one. Ignores a second submit. */
async function submit(form: HTMLFormElement, action: string, submitter: HTMLElement | null): Promise<void> {
  const { confirm: question } = form.dataset;
  if (form.classList.contains('sending')) return;
  form.classList.add('sending');
  let result: Result | undefined;
  try {
    if (question === undefined || confirm(question)) result = await send(form, action, submitter);
  } finally {
    form.classList.remove('sending');
    // Update the page first, so that it is current when the user reads the notice.
    await refresh();
  }
  if (result) showResult(result);
}

function applyFilter(form: HTMLFormElement): void {
  const query = new URLSearchParams(location.search);
  query.set('q', String(new FormData(form).get('q')));
  query.delete('from');
  history.replaceState(null, '', `${location.pathname}?${query}`);
  void refresh();
}

export function addForms(): void {
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement)) return;
    const { action } = form.dataset;
    if (form.classList.contains('filter')) applyFilter(form);
    else if (action !== undefined) void submit(form, action, event.submitter);
    else return;
    event.preventDefault();
  });
  document.addEventListener('reset', ({ target }) => {
    if (!(target instanceof HTMLFormElement)) return;
    target.classList.remove('changed');
    clearErrors(target);
  });
  let typing: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener('input', ({ target }) => {
    const form = closest(target, 'form');
    if (!(form instanceof HTMLFormElement)) return;
    if (!form.classList.contains('filter')) form.classList.add('changed');
    else {
      clearTimeout(typing);
      typing = setTimeout(applyFilter, 200, form);
    }
  });
}
